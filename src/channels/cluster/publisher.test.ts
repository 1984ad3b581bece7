/** The queue between what happens and the store: order, repeats, and what is lost when it is too long. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ChannelChange } from './channel-history.ts'
import { createChannelJournal } from './publisher.ts'

function change(number: number): ChannelChange {
  const place = { node: 'node_1', channel: 'main', model: 'm' }
  const states = { from: 'on', to: 'off', why: 'failures_in_a_row' }
  return { id: `evt_${number}`, atMs: number, ...place, ...states, actor: undefined, detail: {} }
}

test('lines wait until they are written, oldest first', () => {
  const journal = createChannelJournal(() => assert.fail('nothing is lost'))
  for (let number = 0; number < 3; number++) journal.addChange(change(number))
  const batch = journal.nextBatch()
  assert.deepEqual(
    batch.changes.map(({ id }) => id),
    ['evt_0', 'evt_1', 'evt_2'],
  )
  journal.addChange(change(3))
  assert.deepEqual(journal.nextBatch().changes.length, 4)
  journal.written(batch)
  assert.deepEqual(
    journal.nextBatch().changes.map(({ id }) => id),
    ['evt_3'],
  )
  assert.equal(journal.waitingCount, 1)
})

test('drops and reports the oldest lines above ten thousand; a late write removes no others', () => {
  const lost: string[] = []
  const journal = createChannelJournal((kind) => lost.push(kind))
  for (let number = 0; number < 10_000; number++) journal.addChange(change(number))
  assert.deepEqual(lost, [])
  const batch = journal.nextBatch()
  for (let number = 10_000; number < 10_007; number++) journal.addChange(change(number))
  assert.deepEqual(
    lost,
    Array.from({ length: 7 }, () => 'change'),
  )
  assert.equal(journal.nextBatch().changes[0]?.id, 'evt_7')
  journal.written(batch)
  assert.equal(journal.nextBatch().changes[0]?.id, `evt_${batch.changes.length}`)
  assert.equal(journal.waitingCount, 10_007 - batch.changes.length)
})
