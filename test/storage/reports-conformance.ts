/**
 * Reports over both stores: what the ledger booked, added up by any key, to the pico-dollar. Amounts are
 * bare pico-dollars, so that each figure can be checked in the head.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { parse } from 'csv-parse/sync'
import * as fc from 'fast-check'
import { newId } from '../../src/base/id.ts'
import { formatUsd, parseUsd, picos } from '../../src/base/money.ts'
import { Secret } from '../../src/base/secret.ts'
import { appendCosts } from '../../src/channels/cluster/operator-cost-store.ts'
import { removeOldExchanges } from '../../src/ledger/exchange-retention.ts'
import type { ExchangeRecord } from '../../src/ledger/ledger.ts'
import { reportAmountColumns, reportCountColumns } from '../../src/ledger/report-day.ts'
import { valueOf, type OperationContext } from '../../src/operations/operation.ts'
import { showOverview } from '../../src/operations/reports/overview.ts'
import { printReport } from '../../src/operations/reports/report-text.ts'
import { readReport, type ReportRow } from '../../src/operations/reports/report.ts'
import { noCheck } from '../../src/operations/run-check.ts'
import {
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'

const dayMs = 86_400_000

export function describeReports(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    let context: OperationContext
    let accountId: string
    beforeEach(async () => {
      harness = await open()
      context = {
        database: harness.database,
        clock: harness.clock,
        actor: 'test',
        masterKey: () => new Secret('5'.repeat(64)),
        environment: () => undefined,
        runCheck: noCheck,
      }
      accountId = await makeAccount(harness, { balancePicos: 1_000_000n })
    })
    afterEach(() => harness.close())

    const settle = async (
      amountPicos: bigint,
      changes: Partial<ExchangeRecord> & { readonly of?: string } = {},
    ): Promise<void> => {
      const { of = accountId, ...others } = changes
      const request = holdRequest(harness, of, 10n, { keyId: others.keyId ?? 'key_one' })
      const hold = await mustPlace(harness.ledger, request)
      const endedAtMs = harness.clock.now()
      await harness.ledger.settle(hold, recordOf(hold, amountPicos, { endedAtMs, ...others }))
    }
    const report = async (input: object): Promise<readonly ReportRow[]> => {
      const rows: ReportRow[] = []
      let cursor: string | null = null
      do {
        const page: Awaited<ReturnType<typeof readReport>> = await readReport(context, {
          ...input,
          ...(cursor !== null && { cursor }),
        })
        const { items, next_cursor } = valueOf(page)
        rows.push(...items)
        cursor = next_cursor
      } while (cursor !== null)
      return rows
    }
    const one = async (input: object = {}): Promise<ReportRow> => {
      const [row, ...others] = await report({ by: 'total', ...input })
      assert.ok(row !== undefined && others.length === 0)
      return row
    }
    const addCheck = (amountPicos: bigint, isOwnCostKnown: boolean) =>
      harness.database.transact((transaction) =>
        appendCosts(transaction, [
          {
            id: newId('evt', harness.clock.now()),
            atMs: harness.clock.now(),
            node: undefined,
            channel: 'alpha-main',
            model: 'large-1',
            kind: 'check',
            usage: {},
            amountPicos: picos(amountPicos),
            isOwnCostKnown,
          },
        ]),
      )

    it('shows every figure of a request and of the checks', async () => {
      const known = { ownCostPicos: picos(12n), isOwnCostKnown: true }
      await settle(30n, { ...known, attemptCount: 3, operatorCostPicos: picos(4n) })
      await settle(0n, { ...known, ownCostPicos: picos(1n), ending: 'failed' })
      await addCheck(5n, true)
      await addCheck(2n, false)
      const day = new Date(harness.clock.now()).toISOString().slice(0, 10)
      assert.deepEqual(await report({ by: 'day' }), [
        {
          day,
          account_id: null,
          account: null,
          key_id: null,
          key: null,
          model: null,
          channel: null,
          requests: 2,
          charged_requests: 1,
          errors: 1,
          failovers: 2,
          checks: 2,
          input_tokens: 20,
          output_tokens: 40,
          cache_read_tokens: 10,
          cache_write_tokens: 0,
          revenue_usd: '0.00000000003',
          refunded_usd: '0',
          own_cost_usd: formatUsd(picos(12n + 1n + 5n)),
          estimated_cost_usd: formatUsd(picos(4n + 2n)),
          unknown_cost_requests: 0,
          margin_usd: formatUsd(picos(30n - 18n - 6n)),
          first_event_p50_ms: 250,
          first_event_p95_ms: 295,
        },
      ])
    })

    it('shows no margin where an own cost is not known', async () => {
      await settle(30n, { isOwnCostKnown: true, ownCostPicos: picos(10n) })
      await settle(20n)
      const { margin_usd, unknown_cost_requests, own_cost_usd } = await one()
      assert.deepEqual(
        [margin_usd, unknown_cost_requests, own_cost_usd],
        [null, 1, '0.00000000001'],
      )
    })

    it('groups by any keys, in their order, page by page', async () => {
      // Ids are in the order of their time.
      harness.clock.advance(10)
      const other = await makeAccount(harness, { balancePicos: 1_000n })
      await settle(1n, { model: 'a-1' })
      await settle(2n, { model: 'b-1', channel: undefined })
      await settle(3n, { model: 'a-1', of: other })
      harness.clock.advance(dayMs)
      await settle(4n, { model: 'a-1', keyId: 'key_two' })
      const rows = await report({ by: 'model,account', limit: 1 })
      assert.deepEqual(
        rows.map((row) => [row.model, row.account_id, parseUsd(row.revenue_usd)]),
        [
          ['a-1', accountId, 5n],
          ['a-1', other, 3n],
          ['b-1', accountId, 2n],
        ],
      )
      assert.match(rows[0]?.account ?? '', /^account \d+$/)
      const channels = await report({ by: 'channel' })
      assert.deepEqual(
        channels.map(({ channel, requests }) => [channel, requests]),
        [
          ['', 1],
          ['alpha-main', 3],
        ],
      )
      assert.equal((await report({ by: 'day,key' })).length, 2)
    })

    it('is complete as CSV, however many rows it has', async () => {
      await settle(2n, { model: 'a-1', attemptCount: 2 })
      const columns = [...reportCountColumns, ...reportAmountColumns].join(', ')
      await harness.database.query(
        `INSERT INTO report_day (day, account_id, key_id, model, channel, ${columns})
         WITH RECURSIVE place (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM place WHERE n < 10001)
         SELECT day, account_id, key_id, 'b-' || n, channel, ${columns} FROM report_day, place`,
      )
      let text = ''
      valueOf(
        await printReport(context, { by: 'model', format: 'csv' }, (piece) => {
          text += piece
        }),
      )
      const rows: readonly Record<string, string>[] = parse(text, { columns: true })
      assert.equal(rows.length, 10_002)
      assert.equal(new Set(rows.map(({ model }) => model)).size, 10_002)
      assert.ok(
        rows.every((row) => row['failovers'] === '1' && parseUsd(row['revenue_usd'] ?? '') === 2n),
      )
    })

    it('shows checks as lines of no account and no key', async () => {
      await settle(1n)
      await addCheck(7n, true)
      const rows = await report({ by: 'account,channel', limit: 1 })
      assert.deepEqual(
        rows.map((row) => [
          row.account_id,
          row.channel,
          row.requests,
          row.checks,
          row.own_cost_usd,
        ]),
        [
          ['', 'alpha-main', 0, 1, '0.000000000007'],
          [accountId, 'alpha-main', 1, 0, '0'],
        ],
      )
      assert.equal((await one({ account: accountId })).checks, 0)
      assert.equal((await one({ channel: 'alpha-reserve' })).checks, 0)
    })

    it('counts whole days only, and filters by any key', async () => {
      await settle(1n)
      harness.clock.advance(dayMs)
      await settle(2n, { model: 'b-1' })
      const today = new Date(harness.clock.now()).toISOString().slice(0, 10)
      assert.equal((await one({ from: today, to: today })).revenue_usd, '0.000000000002')
      assert.equal((await one({ model: 'b-1' })).requests, 1)
      assert.equal((await one({ key: 'key_none' })).requests, 0)
    })

    it('adds up to the ledger, whatever was booked and whatever is no longer kept', async () => {
      const accounts = [accountId, await makeAccount(harness, { balancePicos: 1_000_000n })]
      const booking = fc.record({
        account: fc.nat(1),
        key: fc.constantFrom('key_one', 'key_two'),
        model: fc.constantFrom('a-1', 'b-1'),
        channel: fc.constantFrom('alpha-main', 'alpha-reserve', undefined),
        amount: fc.nat(999),
        waitMs: fc.nat(dayMs),
      })
      const [bookings = []] = fc.sample(fc.array(booking, { minLength: 40, maxLength: 40 }), {
        numRuns: 1,
        seed: 15,
      })
      for (const { account, key, model, channel, amount, waitMs } of bookings) {
        harness.clock.advance(waitMs)
        const of = accounts[account] ?? accountId
        await settle(BigInt(amount), { of, keyId: key, model, channel })
      }
      await harness.database.query(
        'UPDATE report_day SET refunded_picos = 3 WHERE account_id = $1 AND revenue_picos > 3',
        [accountId],
      )
      const [charged] = await harness.database.query(
        "SELECT CAST(-SUM(amount_picos) AS BIGINT) AS sum FROM entry WHERE kind = 'charge'",
      )
      const sumsOf = async (by: string): Promise<readonly [bigint, bigint]> => {
        const rows = await report({ by, from: '2026-11-01', to: '2027-03-01', limit: 7 })
        const sum = (read: (row: ReportRow) => string): bigint =>
          rows.reduce((total, row) => total + (parseUsd(read(row)) ?? 0n), 0n)
        return [sum((row) => row.revenue_usd), sum((row) => row.refunded_usd)]
      }
      const whole = await sumsOf('total')
      assert.equal(whole[0], BigInt(String(charged?.['sum'])))
      assert.ok(whole[1] > 0n && whole[1] % 3n === 0n)
      const lists = ['day', 'account', 'key', 'model', 'channel', 'day,account,key,model,channel']
      for (const by of lists) assert.deepEqual(await sumsOf(by), whole, by)
      await removeOldExchanges(harness.database, {
        nowMs: harness.clock.now(),
        keepMs: 0,
        pause: () => Promise.resolve(),
      })
      for (const by of lists) assert.deepEqual(await sumsOf(by), whole, by)
    })

    it('has an overview of today, yesterday and the accounts that run out', async () => {
      const poor = await makeAccount(harness, { balancePicos: 13n })
      const broke = await makeAccount(harness)
      await settle(10n, { of: poor, isOwnCostKnown: true })
      harness.clock.advance(dayMs)
      await settle(7n, { isOwnCostKnown: true, ownCostPicos: picos(2n) })
      const { today, yesterday, attention } = valueOf(await showOverview(context, {}))
      assert.deepEqual(
        [today, yesterday].map(({ requests, tokens, revenue_usd, margin_usd }) => [
          requests,
          tokens,
          parseUsd(revenue_usd),
          margin_usd,
        ]),
        [
          [1, 35, 7n, '0.000000000005'],
          [1, 35, 10n, '0.00000000001'],
        ],
      )
      const short = attention.accounts.map(({ account_id, state, balance_usd, spent_usd }) => [
        account_id,
        [state, balance_usd, spent_usd].join(' '),
      ])
      assert.deepEqual(Object.fromEntries(short), {
        [poor]: 'low 0.000000000003 0.00000000001',
        [broke]: 'exhausted 0 0',
      })
      assert.deepEqual([attention.channels, attention.alerts], [[], []])
    })

    for (const [input, message] of [
      [{ by: 'week' }, /^by: must be total, or a list of day, account, key, model, channel/],
      [{ by: 'day,,key' }, /^by: must be total/],
      [{ from: '2026-11-02T12:00:00Z' }, /^from: must be a whole day/],
      [{ from: '2026-11-03', to: '2026-11-02' }, /^to: must not be before from/],
      [{ from: '1999-01-01' }, /^from: must be at most 3660 days/],
      [{ cursor: 'bm9uc2Vuc2U' }, /^cursor: must be the next_cursor of a page/],
      [{ by: 'total', cursor: 'W10' }, /^cursor: must be the next_cursor of a page/],
      [{ account: 'nobody' }, /nobody/],
    ] as const)
      it(`refuses ${JSON.stringify(input)}`, async () => {
        const outcome = await readReport(context, input)
        assert.match(outcome.kind === 'refusal' ? outcome.message : '', message)
      })
  })
}
