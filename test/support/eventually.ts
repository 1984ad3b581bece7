/**
 * Waiting for another process to have done something, by asking it again and again. The bound only
 * keeps a failing test from running for ever.
 */
import assert from 'node:assert/strict'

type Eventually = <Answer>(
  what: string,
  ask: () => Promise<Answer>,
  fits: (answer: Answer) => boolean,
) => Promise<Answer>

/** Asks until the answer fits; each question is a real one, so nothing is waited for in vain. */
export function eventuallyWithin(atMostMs: number): Eventually {
  return async (what, ask, fits) => {
    const startedMs = performance.now()
    for (;;) {
      const answer = await ask()
      if (fits(answer)) return answer
      assert.ok(performance.now() - startedMs < atMostMs, `${what}: ${JSON.stringify(answer)}`)
    }
  }
}
