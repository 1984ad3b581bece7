// Every transcript is read whole, cut in two at every byte, byte by byte and with each kind of line end. The
// client's bytes and the reading must be the same each time.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  expectedReplay,
  plainFacts,
  readTranscripts,
  replay,
} from './replay.ts'
import { chatCompletions } from '../../src/formats/chat/index.ts'
import { messagesCreate } from '../../src/formats/messages/index.ts'
import { responsesCreate } from '../../src/formats/responses/index.ts'

const lineEnds = { LF: '\n', CRLF: '\r\n', CR: '\r' }

const operations = {
  messages: messagesCreate,
  chat: chatCompletions,
  responses: responsesCreate,
}

for (const name of ['messages', 'chat', 'responses'] as const) {
  const operation = operations[name]
  const transcripts = readTranscripts(name)

  test(`there are transcripts of ${name}`, () => {
    assert.ok(transcripts.length >= 15)
  })

  for (const transcript of transcripts) {
    describe(`${name}/${transcript.name}`, () => {
      const facts = { ...plainFacts, ...transcript.expected.facts }
      for (const [name, lineEnd] of Object.entries(lineEnds)) {
        const bytes = Buffer.from(transcript.text.replaceAll('\n', lineEnd))
        const expected = expectedReplay(transcript, lineEnd)

        test(`reads the same whole and byte by byte, with ${name}`, () => {
          assert.deepEqual(replay(operation, facts, [bytes]), expected)
          const single = Array.from(bytes, (byte) => Buffer.from([byte]))
          assert.deepEqual(replay(operation, facts, single), expected)
        })

        test(`reads the same cut in two anywhere, with ${name}`, () => {
          for (let cut = 1; cut < bytes.length; cut++) {
            const halves = [bytes.subarray(0, cut), bytes.subarray(cut)]
            assert.deepEqual(replay(operation, facts, halves), expected, `cut at byte ${cut}`)
          }
        })
      }
    })
  }
}
