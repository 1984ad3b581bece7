/**
 * Labels as a key of reports, as one suite over both stores: exact sums, at most 200 labels of an account and
 * day and all others as `other`, also where several batches take the last places. The audit derives all sums.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { formatUsd, picos } from '../../src/base/money.ts'
import { Secret } from '../../src/base/secret.ts'
import { removeOldExchanges } from '../../src/ledger/exchange-retention.ts'
import { labelsPerDay, otherLabel } from '../../src/ledger/label-day.ts'
import type { Ledger } from '../../src/ledger/ledger.ts'
import { readReportLines } from '../../src/ledger/report-store.ts'
import { noCheck } from '../../src/operations/channels/run-check.ts'
import { refundRequest } from '../support/operations.ts'
import {
  findDifferences,
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'

const dayMs = 86_400_000
/** What a name in a row, an array or a statement could be taken for. */
const oddLabels = [
  'a b',
  '"quoted"',
  'back\\slash',
  "it's",
  '{a,b}',
  '(x)',
  'NULL',
  '$1',
  '%',
  ';--',
]

export function describeLabels(
  name: string,
  open: () => Promise<LedgerHarness>,
  openNode?: () => Promise<Ledger>,
): void {
  describe(name, () => {
    let harness: LedgerHarness
    let accountId: string
    beforeEach(async () => {
      harness = await open()
      accountId = await makeAccount(harness, { balancePicos: 1_000_000n })
    })
    afterEach(async () => {
      await harness.close()
    })

    const charge = async (
      label: string,
      { ledger = harness.ledger, account = accountId, model = 'large-1' } = {},
    ): Promise<string> => {
      const hold = await mustPlace(ledger, holdRequest(harness, account, 7n))
      const endedAtMs = harness.clock.now()
      await ledger.settle(hold, recordOf(hold, 7n, { endedAtMs, label, model }))
      return hold.exchangeId
    }
    const chargeAll = (labels: readonly string[], ledgers: readonly Ledger[] = [harness.ledger]) =>
      Promise.all(
        labels.map((label, index) =>
          charge(label, { ledger: ledgers[index % ledgers.length] ?? harness.ledger }),
        ),
      )
    /** Revenue by label; of one day without it. */
    const revenue = async (day?: string): Promise<Readonly<Record<string, bigint>>> => {
      const lines = await readReportLines(harness.database, {
        by: ['label'],
        fromDay: day ?? '2000-01-01',
        toDay: day === undefined ? '2100-01-01' : `${day}~`,
        only: { account: accountId },
      })
      return Object.fromEntries(lines.map(({ key, sums }) => [key[0] ?? '', sums.revenue_picos]))
    }
    const named = (count: number, from = 0): readonly string[] =>
      Array.from({ length: count }, (_, index) => `label-${index + from}`)
    const isClean = async (): Promise<void> =>
      assert.deepEqual(await findDifferences(harness.database), [])

    it('adds up by label, whatever a label is, and by other keys as before', async () => {
      for (const label of ['', 'team-a', '', 'team-a', 'team-b', ...oddLabels]) await charge(label)
      await charge('team-a', { model: 'small-1' })
      const odd = Object.fromEntries(oddLabels.map((label) => [label, 7n]))
      assert.deepEqual(await revenue(), { '': 14n, 'team-a': 21n, 'team-b': 7n, ...odd })
      const models = await readReportLines(harness.database, {
        by: ['model'],
        fromDay: '2000-01-01',
        toDay: '2100-01-01',
        only: { label: 'team-a' },
      })
      assert.deepEqual(
        models.map(({ key, sums }) => [...key, sums.requests]),
        [
          ['large-1', 2],
          ['small-1', 1],
        ],
      )
      await isClean()
    })

    it('keeps 200 labels of an account and day under 10,000 invented ones', async () => {
      const places = labelsPerDay
      await chargeAll(named(places - 1))
      for (let from = 0; from < 10_000; from += 500) await chargeAll(named(500, 1_000 + from))
      await charge('label-0')
      await charge(otherLabel)
      const sums = await revenue()
      assert.equal(Object.keys(sums).length, places + 1)
      assert.equal(sums['label-0'], 14n)
      assert.equal(sums[otherLabel], 7n * 10_000n)
      const [row] = await harness.database.query('SELECT COUNT(*) AS count FROM label_day')
      assert.equal(Number(row?.['count']), places)
      // Another account and another day have places of their own.
      const neighbour = await makeAccount(harness, { balancePicos: 1_000n })
      await charge('late', { account: neighbour })
      harness.clock.jumpWallTime(dayMs)
      await charge('late')
      assert.equal((await revenue())['late'], 7n)
      await isClean()
    })

    it('gives the last places once to batches at the same time', async () => {
      const second = await openNode?.()
      const ledgers = second === undefined ? [harness.ledger] : [harness.ledger, second]
      await chargeAll(named(labelsPerDay - 5))
      // Each node gets each label, so both want the same places.
      const wanted = named(40, 500).flatMap((label) => [label, label])
      await chargeAll(wanted, ledgers)
      const sums = await revenue()
      assert.equal(Object.keys(sums).length, labelsPerDay + 1)
      const late = Object.entries(sums).filter(([label]) => wanted.includes(label))
      assert.equal(late.length, 5)
      assert.ok(late.every(([, amount]) => amount === 14n))
      assert.equal(sums[otherLabel], 14n * 35n)
      await isClean()
    })

    it('refunds under the label that was counted', async () => {
      await chargeAll(named(labelsPerDay))
      const requests = [await charge('label-3'), await charge('too-many')]
      const context = {
        database: harness.database,
        clock: harness.clock,
        actor: 'test',
        masterKey: () => new Secret('5'.repeat(64)),
        environment: () => undefined,
        runCheck: noCheck,
      }
      for (const request of requests)
        await refundRequest(context, { request, amount_usd: formatUsd(picos(2n)) })
      const lines = await readReportLines(harness.database, {
        by: ['label'],
        fromDay: '2000-01-01',
        toDay: '2100-01-01',
        only: {},
      })
      const refunded = lines.filter(({ sums }) => sums.refunded_picos > 0n)
      assert.deepEqual(
        refunded.map(({ key, sums }) => [...key, sums.refunded_picos]),
        [
          ['label-3', 2n],
          [otherLabel, 2n],
        ],
      )
      await isClean()
    })

    it('has sums that an audit checks by label', async () => {
      await chargeAll(['one', 'two', ''])
      await harness.database.query(
        `UPDATE report_day SET label = CASE label WHEN 'one' THEN 'zwei' ELSE label END`,
      )
      const moved = await findDifferences(harness.database)
      assert.ok(
        moved.some((text) => /^report_day: .*, one/.test(text)),
        moved.join('\n'),
      )
      assert.ok(
        moved.some((text) => /^report_day: .*, zwei/.test(text)),
        moved.join('\n'),
      )
      await harness.database.query(`UPDATE report_day SET label = 'one' WHERE label = 'zwei'`)
      await isClean()
      await harness.database.query(
        `UPDATE report_day SET input_tokens = input_tokens + 1 WHERE label = 'two'`,
      )
      const changed = await findDifferences(harness.database)
      assert.ok(
        changed.some((text) => /^report_day: .*, two/.test(text)),
        changed.join('\n'),
      )
    })

    it('keeps its sums when exchanges and places go', async () => {
      await chargeAll([...named(3), ''])
      harness.clock.jumpWallTime(40 * dayMs)
      const pause = (): Promise<void> => Promise.resolve()
      const order = { nowMs: harness.clock.now(), keepMs: 30 * dayMs, pause }
      assert.equal((await removeOldExchanges(harness.database, order)).removed, 4)
      assert.deepEqual(await harness.database.query('SELECT * FROM label_day'), [])
      assert.equal(Object.keys(await revenue()).length, 4)
      await isClean()
    })
  })
}
