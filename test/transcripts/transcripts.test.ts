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
import { chatFormat } from '../../src/formats/chat/index.ts'
import { messagesFormat } from '../../src/formats/messages/index.ts'

const lineEnds = { LF: '\n', CRLF: '\r\n', CR: '\r' }

for (const format of [messagesFormat, chatFormat]) {
  const { operation } = format.probe
  const transcripts = readTranscripts(format.name)

  test(`there are transcripts of the ${format.name} format`, () => {
    assert.ok(transcripts.length >= 15)
  })

  for (const transcript of transcripts) {
    describe(`${format.name}/${transcript.name}`, () => {
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
