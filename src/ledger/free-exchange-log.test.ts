/** Refused requests leave bounded rows that count all of them. */
import assert from 'node:assert/strict'
import { beforeEach, describe, test } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { FreeExchangeLog, groupsMax, rowsMax, rowsPerGroup } from './free-exchange-log.ts'
import type { FreeExchange, FreeExchangeRow } from './free-exchange-store.ts'

describe('the log of free exchanges', () => {
  let clock: ManualClock
  let saved: Map<string, FreeExchangeRow>
  let batches: number[]
  let isAway: boolean
  let errors: unknown[]
  let log: FreeExchangeLog
  let count: number
  beforeEach(() => {
    clock = new ManualClock()
    saved = new Map()
    batches = []
    isAway = false
    errors = []
    count = 0
    log = new FreeExchangeLog({
      clock,
      save(rows) {
        if (isAway) return Promise.reject(new Error('away'))
        batches.push(rows.length)
        for (const row of rows) saved.set(row.exchangeId, row)
        return Promise.resolve()
      },
      onError: (error) => void errors.push(error),
    })
  })

  const record = (fields: Partial<FreeExchange> = {}): void =>
    log.record({
      exchangeId: `ex_${String(count++).padStart(8, '0')}`,
      accountId: 'acc_1',
      keyId: 'key_1',
      vendor: 'alpha',
      askedModel: undefined,
      model: 'large-1',
      operation: 'messages.create',
      channel: undefined,
      startedAtMs: clock.now(),
      endedAtMs: clock.now(),
      ending: 'not_admitted',
      status: 402,
      code: 'ledger.insufficient_balance',
      vendorRequestId: undefined,
      attempts: [],
      client: 'curl',
      address: 'ipv4',
      label: '',
      ...fields,
    })
  const counted = (): number => saved.values().reduce((sum, row) => sum + row.standsFor, 0)

  test('writes each request about a second later, in one batch', async () => {
    for (let i = 0; i < 5; i++) record()
    assert.equal(saved.size, 0)
    clock.advance(1_000)
    await log.flush()
    assert.deepEqual(batches, [5])
    assert.equal(counted(), 5)
  })

  test('writes the rest of a flood as one row per key, code and minute, whose count grows', async () => {
    const seconds = 180
    for (let second = 0; second < seconds; second++) {
      for (let i = 0; i < 2_000; i++) record()
      clock.advance(1_000)
      await log.flush()
    }
    assert.equal(saved.size, (seconds / 60) * (rowsPerGroup + 1))
    assert.equal(counted(), seconds * 2_000)
    const sum = saved.values().find(({ standsFor }) => standsFor > 1)
    assert.equal(sum?.standsFor, 60 * 2_000 - rowsPerGroup)
    assert.ok(sum.endedAtMs - sum.startedAtMs > 55_000)
    assert.equal(log.droppedCount, 0)
  })

  test('keeps the requests of another key or with another code beside a flood', async () => {
    for (let i = 0; i < 10_000; i++) record()
    record({ keyId: 'key_2' })
    record({ code: 'access.rate_limited', status: 429 })
    await log.flush()
    assert.equal(saved.size, rowsPerGroup + 1 + 2)
  })

  test('writes bounded rows in a flood of many keys, and counts what it drops', async () => {
    const keys = groupsMax + 500
    for (let times = 0; times < 3; times++)
      for (let key = 0; key < keys; key++) record({ keyId: `key_${key}` })
    await log.flush()
    assert.ok(saved.size <= rowsMax + groupsMax, `${saved.size} rows`)
    assert.equal(counted() + log.droppedCount, 3 * keys)
    assert.ok(batches.every((size) => size <= 200))
  })

  test('keeps bounded rows while the store is away, reports it once, and writes them later', async () => {
    isAway = true
    for (let minute = 0; minute < 10; minute++) {
      for (let key = 0; key < groupsMax; key++) record({ keyId: `key_${key}` })
      clock.advance(60_000)
      await log.flush()
    }
    assert.equal(errors.length, 1)
    isAway = false
    clock.advance(1_000)
    await log.flush()
    assert.equal(counted() + log.droppedCount, 10 * groupsMax)
    assert.ok(saved.size <= 2 * (rowsMax + groupsMax))
    assert.ok(log.droppedCount > 0)
  })

  test('counts what comes while a batch is written', async () => {
    for (let i = 0; i < rowsPerGroup + 2; i++) record()
    const writing = log.flush()
    record()
    await writing
    await log.close()
    assert.equal(counted(), rowsPerGroup + 3)
  })
})
