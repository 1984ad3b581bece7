/** A reader that does not read is cut; a socket would take megabytes of these short events before. */
import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import type { Listener } from '../../operations/events/feed.ts'
import { openEventStream } from './event-streams.ts'

test('cuts a reader that does not read, and frees its place', async () => {
  const outgoing = new ServerResponse(new IncomingMessage(new Socket()))
  let listener: Listener | undefined
  let isListening = true
  const begun = await openEventStream(
    {
      listen(one) {
        listener = one
        return Promise.resolve({ stop: () => void (isListening = false) })
      },
    },
    { tokenId: 'ad_1', outgoing, isAllowed: () => Promise.resolve(true) },
  )
  assert.equal(begun.kind, 'begun')
  let count = 0
  while (!outgoing.destroyed && count++ < 10_000) listener?.onChanged(['requests'])
  assert.ok(outgoing.destroyed)
  assert.equal(isListening, false)
  assert.ok(count > 1_000, `${count} events wait for it before`)
})
