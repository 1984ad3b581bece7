/** Large answers are read where they lie, part by part, while everything else has its turn. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { plainFacts } from '../../test/transcripts/replay.ts'
import { Secret } from '../base/secret.ts'
import { chatCompletions, chatFormat } from '../formats/chat/index.ts'
import { ReceivedHead } from '../http/client/round-trip.ts'
import { fieldsOf } from '../http/wire/fields.ts'
import { readAnswer, type ReadAnswer } from './answer-reader.ts'
import type { AnswerContext } from './attempt-outcome.ts'

const partBytes = 65_536
const secret = 'sesame-0123456789'

function contextOf(status: number): AnswerContext {
  return {
    head: new ReceivedHead({ status, fields: fieldsOf([]), isEndAnnounced: true }),
    format: chatFormat,
    operation: chatCompletions,
    facts: plainFacts,
    secrets: [new Secret(secret)],
  }
}

function piecesOf(text: string, pieceBytes: number): readonly Buffer[] {
  const bytes = Buffer.from(text)
  const count = Math.ceil(bytes.length / pieceBytes)
  return Array.from({ length: count }, (_, at) =>
    bytes.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  )
}

const answer = JSON.stringify({
  choices: [{ message: { content: 'word '.repeat(200_000) }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 7, completion_tokens: 3 },
})

/** Reads at once what is given, and counts the turns of the event loop until all are read. */
async function readAll(
  all: readonly (readonly Buffer[])[],
  status: number,
): Promise<{ readonly read: readonly ReadAnswer[]; readonly turns: number }> {
  let turns = 0
  let counting: NodeJS.Immediate
  const count = (): void => {
    turns++
    counting = setImmediate(count)
  }
  counting = setImmediate(count)
  const read = await Promise.all(all.map(async (pieces) => readAnswer(pieces, contextOf(status))))
  clearImmediate(counting)
  return { read, turns }
}

test('a large answer is read in its own pieces, one part in a turn', async () => {
  for (const pieceBytes of [1_000, partBytes, answer.length]) {
    const pieces = piecesOf(answer, pieceBytes)
    const { read, turns } = await readAll([pieces], 200)
    assert.equal(read[0]?.body, pieces)
    const { reading } = read[0]
    assert.equal(reading.kind === 'answer' && reading.reading.usage?.reported.inputTokens, 7)
    assert.ok(turns >= Math.floor(answer.length / partBytes), `${turns} turns`)
  }
})

test('of several at once one part is read in a turn', async () => {
  const pieces = piecesOf(answer, partBytes)
  const { turns } = await readAll([pieces, pieces, pieces], 200)
  assert.ok(turns >= 3 * Math.floor(answer.length / partBytes), `${turns} turns`)
})

test('a large error shows nothing that a part or an escape hides', async () => {
  for (const [mark, facts] of [
    ['org-abcdefgh1234', { namesAccount: true, showsSecret: false }],
    [secret, { namesAccount: false, showsSecret: true }],
    ['nothing', { namesAccount: false, showsSecret: false }],
  ] as const)
    for (const before of [0, 2 * partBytes - 20, 3 * partBytes - 30]) {
      const text = `{"error":{"code":"${'x'.repeat(3 * partBytes)}"},"input":"${' '.repeat(before)} ${mark}"}`
      const { read } = await readAll([piecesOf(text, 50_000)], 400)
      const reading = read[0]?.reading
      assert.ok(reading?.kind === 'vendor_error')
      const { namesAccount, showsSecret } = reading
      assert.deepEqual({ namesAccount, showsSecret }, facts, `${mark} behind ${before}`)
      assert.ok(reading.body?.bytes.equals(Buffer.from(text)))
    }
  const escaped = JSON.stringify({ error: { message: `org-abcdefgh1234 ${' '.repeat(200_000)}` } })
  const { read } = await readAll(
    [[Buffer.from(escaped.replace('org-', String.raw`org\u002d`))]],
    400,
  )
  assert.ok(read[0]?.reading.kind === 'vendor_error' && read[0].reading.namesAccount)
})
