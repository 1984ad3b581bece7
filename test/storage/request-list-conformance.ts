/** The list of requests over both stores: its counts by time and outcome, and all of it as CSV. */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { parse } from 'csv-parse/sync'
import { newId } from '../../src/base/id.ts'
import { saveFreeExchanges, type FreeExchangeRow } from '../../src/ledger/free-exchange-store.ts'
import { allEndpoints } from '../../src/operations/all-endpoints.ts'
import { contextOn } from '../../src/operations/context.ts'
import { valueOf, type OperationContext } from '../../src/operations/operation.ts'
import { requestEndpoints } from '../../src/operations/requests/endpoints.ts'
import { bookExchanges } from '../support/console/books.ts'
import { countRequests, createClientKey, listRequests } from '../support/operations.ts'
import {
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'

const hourMs = 3_600_000
const from = '2026-03-01T00:00:00Z'
const fromMs = Date.parse(from)
const to = new Date(fromMs + 24 * hourMs).toISOString()

export function describeRequestList(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    let context: OperationContext
    let accountId: string
    beforeEach(async () => {
      harness = await open()
      context = contextOn(harness.database, { actor: 'test', clock: harness.clock })
      accountId = await makeAccount(harness, { balancePicos: 1_000n })
    })
    afterEach(() => harness.close())

    const at = (startedAtMs: number) => ({
      accountId,
      exchangeId: newId('ex', startedAtMs),
      startedAtMs,
      endedAtMs: startedAtMs,
    })
    const free = (
      startedAtMs: number,
      differs: Partial<FreeExchangeRow> = {},
    ): FreeExchangeRow => ({
      ...at(startedAtMs),
      keyId: 'key_1',
      vendor: 'alpha',
      model: 'a-1',
      askedModel: undefined,
      operation: 'chat.completions.create',
      channel: undefined,
      ending: 'not_admitted',
      status: 429,
      code: 'ledger.daily_limit_reached',
      vendorRequestId: undefined,
      attempts: [],
      client: 'curl',
      address: '',
      label: '',
      standsFor: 1,
      ...differs,
    })
    const print = async (input: object): Promise<readonly Record<string, string>[]> => {
      const pieces: string[] = []
      const { csv } = requestEndpoints.list
      assert.ok(csv !== undefined)
      valueOf(
        await csv.stream(context, { ...input, format: 'csv' }, (text) => void pieces.push(text)),
      )
      return parse(pieces.join(''), { columns: true })
    }

    it('counts by step and outcome, and a line for all that it stands for', async () => {
      const hold = await mustPlace(harness.ledger, holdRequest(harness, accountId, 10n))
      await bookExchanges(harness.database, [
        recordOf(hold, 5n, at(fromMs + hourMs)),
        recordOf(hold, 5n, { ...at(fromMs + 2 * hourMs), ending: 'upstream_cut' }),
      ])
      await saveFreeExchanges(harness.database, [
        free(fromMs + hourMs, { standsFor: 7 }),
        free(fromMs + 24 * hourMs),
      ])
      const counted = await countRequests(context, { from, to, buckets: 25 })
      assert.deepEqual(
        [counted.step_ms, counted.buckets.length, counted.requests, counted.is_complete],
        [hourMs, 24, 9, true],
      )
      assert.deepEqual(counted.buckets[1]?.by_outcome, {
        completed: 1,
        client_left: 0,
        upstream_cut: 0,
        gateway_cut: 0,
        refused: 0,
        failed: 0,
        not_admitted: 7,
      })
      assert.equal(counted.buckets[2]?.by_outcome.upstream_cut, 1)
    })

    it('counts what the list shows for each filter', async () => {
      const { key } = await createClientKey(context, { account: accountId })
      await saveFreeExchanges(harness.database, [
        free(fromMs + 1, { keyId: key.id, model: 'b-1' }),
        free(fromMs + 2, { channel: 'main', status: 502, ending: 'failed', code: undefined }),
        free(fromMs + 3),
      ])
      const filters = [
        {},
        { account: accountId },
        { key: key.id },
        { model: 'b-1' },
        { channel: 'main' },
        { status: '4xx' },
        { code: 'ledger.daily_limit_reached' },
      ]
      for (const filter of filters) {
        const { items } = await listRequests(context, { from, to, ...filter })
        const { requests } = await countRequests(context, { from, to, ...filter })
        assert.equal(requests, items.length, JSON.stringify(filter))
      }
    })

    it('says that a step has more rows than it counts', async () => {
      const rows = Array.from({ length: 20_001 }, (_, index) => free(fromMs + index))
      await saveFreeExchanges(harness.database, rows)
      const counted = await countRequests(context, { from, to, model: 'other' })
      assert.deepEqual([counted.is_complete, counted.requests], [false, 0])
    })

    it('refuses a period that is too long, or ends before it begins', async () => {
      await assert.rejects(
        countRequests(context, { from: '2025-01-01', to: '2026-01-01' }),
        /from: must be at most 92 days before to/,
      )
      await assert.rejects(countRequests(context, { from: to, to: from }), /to: must be after from/)
    })

    it('is complete as CSV, however many rows it has, and no cell is a formula', async () => {
      const rows = Array.from({ length: 2_500 }, (_, index) => free(fromMs + index))
      await saveFreeExchanges(harness.database, [...rows, free(fromMs - 1, { model: '=1+1' })])
      const written = await print({ account: accountId })
      const { items } = await listRequests(context, { limit: 1_000 })
      assert.equal(written.length, 2_501)
      assert.equal(new Set(written.map(({ id }) => id)).size, 2_501)
      assert.deepEqual(
        written.slice(0, 1_000).map(({ id }) => id),
        items.map(({ id }) => id),
      )
      assert.equal(written.at(-1)?.['model'], "'=1+1")
      assert.equal((await print({ account: accountId, model: 'a-1' })).length, 2_500)
    })

    it('has the names of its fields as heads, those of an object behind its name', async () => {
      await saveFreeExchanges(harness.database, [free(fromMs)])
      const [line = {}] = await print({})
      const { items } = await listRequests(context, {})
      const names = Object.keys(items[0] ?? {}).filter((field) => field !== 'vendor_error')
      const ofError = ['type', 'code', 'param', 'meaning'].map((word) => `vendor_error_${word}`)
      assert.deepEqual(new Set(Object.keys(line)), new Set([...names, ...ofError]))
    })

    it('refuses pages of CSV, and another format, before it writes anything', async () => {
      await assert.rejects(print({ limit: 5 }), /limit: belongs to JSON/)
      await assert.rejects(print({ account: 'none' }), /There is no account none/)
      const list = requestEndpoints.list.operation
      await assert.rejects(
        async () => valueOf(await list(context, { format: 'xml' })),
        /format: must be json or csv/,
      )
    })

    it('is one of several lists that are written whole', async () => {
      for (const id of ['accounts.list', 'keys.list-all', 'actions.list']) {
        const csv = allEndpoints.find((endpoint) => endpoint.id === id)?.csv
        assert.ok(csv !== undefined, id)
        let text = ''
        const write = (piece: string): void => void (text += piece)
        valueOf(await csv.stream(context, { format: 'csv' }, write))
        assert.match(text, /^[a-z_]+(,[a-z_]+)+\r\n/, id)
      }
    })
  })
}
