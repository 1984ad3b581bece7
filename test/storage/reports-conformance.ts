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
import { startMoments } from '../../src/operations/reports/moments.ts'
import { showOverview } from '../../src/operations/reports/overview.ts'
import { printReport } from '../../src/operations/reports/report-text.ts'
import { readReport, type ReportRow } from '../../src/operations/reports/report.ts'
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

const minuteMs = 60_000
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

    /** Books an exchange and returns its id. */
    const settle = async (
      amountPicos: bigint,
      changes: Partial<ExchangeRecord> & { readonly of?: string } = {},
    ): Promise<string> => {
      const { of = accountId, ...others } = changes
      const request = holdRequest(harness, of, 10n, { keyId: others.keyId ?? 'key_one' })
      const hold = await mustPlace(harness.ledger, request)
      const endedAtMs = harness.clock.now()
      await harness.ledger.settle(hold, recordOf(hold, amountPicos, { endedAtMs, ...others }))
      return hold.exchangeId
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
          label: null,
          requests: 2,
          charged_requests: 1,
          errors: 1,
          failovers: 2,
          checks: 2,
          input_tokens: 20,
          output_tokens: 40,
          cache_read_tokens: 10,
          cache_write_tokens: 0,
          total_tokens: 70,
          cache_hit_rate: 0.333,
          revenue_usd: '0.00000000003',
          refunded_usd: '0',
          own_cost_usd: formatUsd(picos(12n + 1n + 5n)),
          estimated_cost_usd: formatUsd(picos(4n + 2n)),
          unknown_cost_requests: 0,
          unknown_cost_revenue_usd: '0',
          margin_usd: formatUsd(picos(30n - 18n - 6n)),
          known_margin_usd: formatUsd(picos(30n - 18n - 6n)),
          margin_rate: 0.2,
          first_event_p50_ms: 250,
          first_event_p95_ms: 295,
        },
      ])
    })

    it('shows the margin of the known part, and how much revenue lacks an own cost', async () => {
      await settle(30n, { isOwnCostKnown: true, ownCostPicos: picos(10n) })
      const unknown = await settle(20n)
      await refundRequest(context, { request: unknown, amount_usd: formatUsd(picos(5n)) })
      const row = await one()
      assert.deepEqual(
        [
          row.margin_usd,
          row.unknown_cost_requests,
          row.own_cost_usd,
          parseUsd(row.unknown_cost_revenue_usd),
          parseUsd(row.known_margin_usd),
        ],
        [null, 1, '0.00000000001', 15n, 20n],
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
        `INSERT INTO report_day (day, account_id, key_id, model, channel, label, ${columns})
         WITH RECURSIVE place (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM place WHERE n < 10001)
         SELECT day, account_id, key_id, 'b-' || n, channel, label, ${columns} FROM report_day, place`,
      )
      let text = ''
      const write = (piece: string): void => void (text += piece)
      valueOf(await printReport(context, { by: 'model', format: 'csv' }, write))
      const rows: readonly Record<string, string>[] = parse(text, { columns: true })
      assert.deepEqual(
        [rows.length, new Set(rows.map(({ model }) => model)).size],
        [10_002, 10_002],
      )
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

    it('shows the largest values of the last key, and all others as one', async () => {
      const yesterday = new Date(harness.clock.now()).toISOString().slice(0, 10)
      for (const [model, amount] of [
        ['a-1', 5n],
        ['b-1', 1n],
        ['c-1', 9n],
        ['c-1', 1n],
      ] as const)
        await settle(amount, { model })
      await settle(2n, { model: 'b-1', channel: undefined })
      await addCheck(3n, true)
      harness.clock.advance(dayMs)
      const today = new Date(harness.clock.now()).toISOString().slice(0, 10)
      await settle(4n, { model: 'b-1' })
      await settle(1n, { model: 'd-1' })
      const shown = async (input: object) =>
        (await report(input)).map(({ day, model, revenue_usd: revenue, own_cost_usd: own }) => [
          day,
          model,
          parseUsd(revenue),
          parseUsd(own),
        ])
      assert.deepEqual(await shown({ by: 'day,model', largest: 2, limit: 2 }), [
        [yesterday, '', 5n, 3n],
        [yesterday, 'b-1', 3n, 0n],
        [yesterday, 'c-1', 10n, 0n],
        [today, '', 1n, 0n],
        [today, 'b-1', 4n, 0n],
      ])
      assert.deepEqual(await shown({ by: 'model', largest: 1, largest_by: 'requests' }), [
        [null, '', 16n, 3n],
        [null, 'b-1', 7n, 0n],
      ])
      const before = { from: '2020-01-01', to: '2020-01-02' }
      assert.deepEqual(await shown({ by: 'model', ...before, largest: 1 }), [])
      assert.notEqual((await readReport(context, { by: 'total', largest: 1 })).kind, 'done')
    })

    it('sorts the whole report by a figure or a key, page by page, with checks among its rows', async () => {
      harness.clock.advance(10)
      const other = await makeAccount(harness, { balancePicos: 1_000n })
      const known = { isOwnCostKnown: true }
      await settle(30n, { ...known, model: 'a-1', ownCostPicos: picos(10n) })
      await settle(20n, { ...known, model: 'b-1', ownCostPicos: picos(2n), of: other })
      await settle(10n, { model: 'c-1' })
      await settle(20n, { ...known, model: 'd-1', ownCostPicos: picos(30n) })
      await addCheck(5n, true)
      const models = async (sort: string, order?: string) =>
        (await report({ by: 'model', sort, limit: 2, ...(order !== undefined && { order }) })).map(
          ({ model }) => model,
        )
      assert.deepEqual(await models('revenue_usd'), ['a-1', 'b-1', 'd-1', 'c-1', 'large-1'])
      assert.deepEqual(await models('known_margin_usd', 'asc'), [
        'd-1',
        'large-1',
        'c-1',
        'b-1',
        'a-1',
      ])
      // Without revenue of known cost there is no rate, whatever the order.
      assert.deepEqual(await models('margin_rate'), ['b-1', 'a-1', 'd-1', 'c-1', 'large-1'])
      assert.deepEqual(await models('margin_rate', 'asc'), ['d-1', 'a-1', 'b-1', 'c-1', 'large-1'])
      assert.deepEqual(await models('checks'), ['large-1', 'a-1', 'b-1', 'c-1', 'd-1'])
      assert.deepEqual(await models('first_event_p50_ms'), ['a-1', 'b-1', 'c-1', 'd-1', 'large-1'])
      assert.deepEqual(await models('model', 'desc'), ['large-1', 'd-1', 'c-1', 'b-1', 'a-1'])
      const pairs = { by: 'account,model', sort: 'revenue_usd', limit: 1 }
      assert.deepEqual(
        (await report(pairs))
          .slice(0, 3)
          .map((row) => [row.account_id, row.model, parseUsd(row.own_cost_usd)]),
        [
          [accountId, 'a-1', 10n],
          [accountId, 'd-1', 30n],
          [other, 'b-1', 2n],
        ],
      )
      const names = (await report({ ...pairs, sort: 'account', order: 'desc' })).map(
        ({ account }) => account ?? '',
      )
      assert.equal(names.length, 5)
      assert.deepEqual(
        names,
        names.toSorted((one, next) => (one < next ? 1 : one === next ? 0 : -1)),
      )
    })

    it('has the same figures in whatever order its rows are', async () => {
      for (const [model, amount] of [
        ['a-1', 3n],
        ['b-1', 9n],
      ] as const)
        await settle(amount, { model, isOwnCostKnown: true, attemptCount: 2 })
      await addCheck(2n, false)
      const byKey = await report({ by: 'day,model' })
      for (const name of Object.keys(byKey[0] ?? {})) {
        if (/^(account|key|channel|label)(_id)?$/.test(name)) continue
        const sorted = await report({ by: 'day,model', sort: name, limit: 1 })
        assert.deepEqual(
          sorted.toSorted((one, next) => ((one.model ?? '') < (next.model ?? '') ? -1 : 1)),
          byKey,
          name,
        )
      }
      const page = valueOf(await readReport(context, { by: 'model', sort: 'requests', limit: 1 }))
      for (const wrong of [
        { sort: 'errors' },
        { order: 'asc' },
        { by: 'model,day' },
        { by: 'model', sort: undefined },
      ]) {
        const asked = { by: 'model', sort: 'requests', cursor: page.next_cursor, ...wrong }
        assert.notEqual((await readReport(context, asked)).kind, 'done', JSON.stringify(wrong))
      }
      assert.notEqual((await readReport(context, { by: 'day', sort: 'model' })).kind, 'done')
    })

    it('compares each row with as many days before', async () => {
      await settle(10n, { model: 'a-1', isOwnCostKnown: true })
      await addCheck(1n, true)
      harness.clock.advance(2 * dayMs)
      const today = new Date(harness.clock.now()).toISOString().slice(0, 10)
      const yesterday = new Date(harness.clock.now() - dayMs).toISOString().slice(0, 10)
      await settle(4n, { model: 'a-1', isOwnCostKnown: true })
      await settle(5n, { model: 'b-1' })
      const days = { from: yesterday, to: today, compare: 'before' }
      const shown = async (input: object) =>
        (await report({ ...days, ...input })).map(({ model, day, revenue_usd: now, before }) => [
          model ?? day,
          parseUsd(now),
          before && parseUsd(before.revenue_usd),
          before && parseUsd(before.own_cost_usd),
        ])
      assert.deepEqual(await shown({ by: 'model', limit: 1 }), [
        ['a-1', 4n, 10n, 0n],
        ['b-1', 5n, null, null],
      ])
      assert.deepEqual(await shown({ by: 'model', sort: 'revenue_usd' }), [
        ['b-1', 5n, null, null],
        ['a-1', 4n, 10n, 0n],
      ])
      assert.deepEqual(await shown({ by: 'day' }), [[today, 9n, 10n, 1n]])
      assert.deepEqual(await shown({ by: 'total' }), [[null, 9n, 10n, 1n]])
      assert.equal((await one(days)).before?.requests, 1)
      assert.equal('before' in (await one()), false)
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
        own: fc.option(fc.nat(999)),
        lost: fc.nat(9),
        refund: fc.option(fc.nat(999)),
        waitMs: fc.nat(dayMs),
      })
      const [bookings = []] = fc.sample(fc.array(booking, { minLength: 60, maxLength: 60 }), {
        numRuns: 1,
        seed: 15,
      })
      const unknown = { charged: 0n, refunded: 0n }
      const costs = { own: 0n, lost: 0n }
      for (const { account, key, model, channel, amount, own, lost, refund, waitMs } of bookings) {
        harness.clock.advance(waitMs)
        const id = await settle(BigInt(amount), {
          of: accounts[account] ?? accountId,
          keyId: key,
          model,
          channel,
          isOwnCostKnown: own !== null,
          ownCostPicos: picos(BigInt(own ?? 0)),
          operatorCostPicos: picos(BigInt(lost)),
        })
        const given = Math.min(refund ?? 0, amount)
        if (given > 0)
          await refundRequest(context, { request: id, amount_usd: formatUsd(picos(BigInt(given))) })
        costs.own += BigInt(own ?? 0)
        costs.lost += BigInt(lost)
        if (own !== null) continue
        unknown.charged += BigInt(amount)
        unknown.refunded += BigInt(given)
      }
      const entries = await harness.database.query(
        'SELECT kind, CAST(SUM(amount_picos) AS BIGINT) AS sum FROM entry GROUP BY kind',
      )
      const booked = new Map(entries.map(({ kind, sum }) => [kind, BigInt(String(sum))]))
      const unknownRevenue = unknown.charged - unknown.refunded
      const revenue = -(booked.get('charge') ?? 0n)
      const refunded = booked.get('refund') ?? 0n
      assert.ok(refunded > 0n && unknown.refunded > 0n && unknownRevenue > 0n)
      const expected = {
        revenue_usd: revenue,
        refunded_usd: refunded,
        own_cost_usd: costs.own,
        estimated_cost_usd: costs.lost,
        unknown_cost_revenue_usd: unknownRevenue,
        known_margin_usd: revenue - refunded - unknownRevenue - costs.own - costs.lost,
      }
      const sumsOf = async (by: string): Promise<Record<string, bigint>> => {
        const rows = await report({ by, from: '2026-11-01', to: '2027-03-01', limit: 7 })
        const sum = (column: keyof typeof expected): bigint =>
          rows.reduce((total, row) => total + (parseUsd(row[column]) ?? 0n), 0n)
        return Object.fromEntries(
          Object.keys(expected).map((column) => [column, sum(column as keyof typeof expected)]),
        )
      }
      const each = ['day', 'account', 'key', 'model', 'channel']
      const lists = ['total', ...each, each.join(',')]
      for (const by of lists) assert.deepEqual(await sumsOf(by), expected, by)
      const found = await findDifferences(harness.database)
      assert.ok(!found.some((difference) => /^(report_day|usage_|balance)/.test(difference)))
      await removeOldExchanges(harness.database, {
        nowMs: harness.clock.now(),
        keepMs: 0,
        pause: () => Promise.resolve(),
      })
      for (const by of lists) assert.deepEqual(await sumsOf(by), expected, by)
    })

    it('compares today with yesterday up to the same time', async () => {
      const onError = (error: unknown): void => assert.fail(String(error))
      const { clock, database } = harness
      const overview = async () => valueOf(await showOverview(context, {}))
      assert.equal((await overview()).yesterday_so_far, null)
      const moments = [1, 2].map(() => startMoments({ clock, database, onError }))
      clock.advance(5 * minuteMs)
      await settle(10n, { isOwnCostKnown: true })
      await addCheck(2n, true)
      // A quarter past.
      clock.advance(11 * minuteMs)
      for (const one of moments) await one.close()
      await settle(20n)
      const begunMs = clock.now()
      clock.advance(dayMs)
      const { yesterday, yesterday_so_far: soFar } = await overview()
      assert.equal(parseUsd(yesterday.revenue_usd), 30n)
      assert.ok(soFar !== null)
      const { until, requests, tokens, first_event_p50_ms: p50, revenue_usd, margin_usd } = soFar
      assert.deepEqual(
        [until, requests, tokens, p50, parseUsd(revenue_usd), parseUsd(margin_usd ?? '')],
        [new Date(begunMs - minuteMs).toISOString(), 1, 35, 250, 10n, 8n],
      )
      // Nothing was recorded for longer than half an hour.
      clock.advance(45 * minuteMs)
      assert.equal((await overview()).yesterday_so_far, null)
    })

    it('has an overview of today, yesterday and the accounts that run out', async () => {
      const poor = await makeAccount(harness, { balancePicos: 13n })
      const broke = await makeAccount(harness)
      await settle(10n, { of: poor, isOwnCostKnown: true })
      harness.clock.advance(dayMs)
      await settle(7n, { isOwnCostKnown: true, ownCostPicos: picos(2n) })
      const { today, yesterday, attention } = valueOf(await showOverview(context, {}))
      assert.deepEqual(
        [today, yesterday].map(({ requests, tokens, cache_hit_rate, revenue_usd, margin_usd }) => [
          requests,
          tokens,
          cache_hit_rate,
          parseUsd(revenue_usd),
          margin_usd,
        ]),
        [
          [1, 35, 0.333, 7n, '0.000000000005'],
          [1, 35, 0.333, 10n, '0.00000000001'],
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
      const next = attention.next.map(({ account_id }) => account_id)
      assert.deepEqual(next, [broke, poor])
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
