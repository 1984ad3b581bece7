/**
 * Waiting for another process to have done something, by asking it again and again. The bound only
 * keeps a failing test from running for ever: a busy machine may take long for what takes a moment here.
 */
import assert from 'node:assert/strict'

/** Asks until the answer fits; each question is a real one, so nothing is waited for in vain. */
export async function eventually<Answer>(
  what: string,
  ask: () => Promise<Answer>,
  fits: (answer: Answer) => boolean,
  atMostMs = 180_000,
): Promise<Answer> {
  const startedMs = performance.now()
  for (;;) {
    const answer = await ask()
    if (fits(answer)) return answer
    assert.ok(performance.now() - startedMs < atMostMs, `${what}: ${JSON.stringify(answer)}`)
  }
}
