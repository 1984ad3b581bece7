/** Audits of a gateway's schedule reach the store also where it does not answer when they end. */
import assert from 'node:assert/strict'
import { once, EventEmitter } from 'node:events'
import { test } from 'node:test'
import { GatewayError } from '../../src/base/errors.ts'
import { withDatabase } from '../../src/operations/context.ts'
import { storeEndpoints } from '../../src/operations/store/endpoints.ts'
import { AuditJournal } from '../../src/operations/store/audit-journal.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { withScenario } from '../support/scenario.ts'

test('an audit that cannot be written waits in memory, and is written once when the store answers', () =>
  withScenario({}, async ({ context }) => {
    const clock = new ManualClock()
    const journal = new EventEmitter()
    let isOut = true
    const { database } = context
    const { database: store } = withDatabase(context, {
      transact: (work) =>
        isOut
          ? Promise.reject(new GatewayError('ledger.unavailable', 'the store does not answer'))
          : database.transact(work),
      close: () => Promise.resolve(),
    })
    const parts = {
      clock,
      database: store,
      onRecorded: () => void journal.emit('recorded'),
      onError: () => void journal.emit('failed'),
    }
    const audits = new AuditJournal(parts)
    const failed = once(journal, 'failed')
    for (const actor of ['gateway:a', 'gateway:b'])
      audits.add({
        scope: 'recent',
        actor,
        startedAtMs: clock.now(),
        durationMs: 1,
        error: new Error('no disk'),
      })
    await failed
    const listed = async (): Promise<readonly string[]> =>
      valueOf(await storeEndpoints.audits.operation(context, {})).items.map(({ actor }) => actor)
    assert.deepEqual(await listed(), [])

    isOut = false
    const recorded = once(journal, 'recorded')
    clock.advance(5_000)
    await recorded
    await audits.close()
    clock.advance(60_000)
    assert.deepEqual(await listed(), ['gateway:b', 'gateway:a'])
  }))
