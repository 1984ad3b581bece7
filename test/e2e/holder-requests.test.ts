/**
 * What account holders read of their money and of single requests: balance with holds, a search through the
 * log of requests, the cost of one request line by line. Runs on either store.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../src/base/id.ts'
import { parseUsd } from '../../src/base/money.ts'
import { saveFreeExchanges } from '../../src/ledger/free-exchange-store.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import { formats, places } from '../support/requests.ts'
import { failoverDefaults, scenario, type Scenario } from '../support/scenario.ts'

let gateway: Scenario

type Fields = Readonly<Record<string, string | number | null>>

async function read<Shape = Fields>(path: string, token = gateway.account.token): Promise<Shape> {
  const headers = { authorization: `Bearer ${token}` }
  const answer = await send(`${gateway.url}/v1/usage${path}`, { headers })
  assert.equal(answer.status, 200, answer.text)
  return JSON.parse(answer.text) as Shape
}

interface Requests {
  readonly items: readonly Fields[]
  readonly next_cursor: string | null
}

const idsOf = (items: readonly Fields[]): readonly unknown[] => items.map(({ id }) => id)

interface Money {
  readonly name: string
  readonly status: string
  readonly balance: string
  readonly held: string
  readonly available: string
  readonly rpm: number
  readonly used: Fields
  readonly limits: readonly Fields[]
}

/** Picos of decimal text. */
function exact(usd: string): bigint {
  const amount = parseUsd(usd)
  assert.ok(amount !== undefined, usd)
  return amount
}

describe('an account holder', () => {
  before(async () => {
    gateway = await scenario(failoverDefaults)
  })
  after(() => gateway.close())

  test('sees the money, the part that running requests hold, and the rest of the limit', async () => {
    const other = await gateway.createAccount({ balance_usd: '2.5', daily_usd: '0.5' })
    gateway.sandbox.faults.set(places.messages.main, 'hold=money@before_head')
    const running = gateway.ask({ format: 'messages', isStream: false, key: other.key })
    const readMoney = (): Promise<Money> => read<Money>('/account', other.token)
    await gateway.sandbox.faults.reached('money')
    const during = await readMoney()
    assert.notEqual(during.held, '0')
    gateway.sandbox.faults.clear()
    gateway.sandbox.faults.release('money')
    const { headers } = await running
    assert.equal(during.balance, '2.5')
    assert.equal(exact(during.available) + exact(during.held), exact(during.balance))
    const now = await readMoney()
    const cost = String(headers['x-turnpike-cost-usd'])
    assert.deepEqual(
      [exact(now.balance), now.held, now.available],
      [exact('2.5') - exact(cost), '0', now.balance],
    )
    assert.deepEqual([now.name, now.status, now.rpm], [other.name, 'active', 0])
    assert.deepEqual(now.used, { day_usd: Number(cost), month_usd: Number(cost) })
    assert.equal(now.limits.length, 1)
    const { resets_at: resetsAt, ...limit } = now.limits[0] ?? {}
    assert.deepEqual(limit, {
      period: 'day',
      limit_usd: 0.5,
      used_usd: Number(cost),
      left_usd: Number((0.5 - Number(cost)).toFixed(12)),
    })
    assert.equal(Date.parse(String(resetsAt)) % 86_400_000, 0)
  })

  test('finds requests by key, model, outcome and time', async () => {
    for (const format of formats)
      for (const isStream of [true, false])
        assert.equal((await gateway.ask({ format, isStream })).status, 200)
    const refused = await gateway.ask({ format: 'chat', isStream: false, model: 'none' })
    assert.equal(refused.status, 404)
    // A question about the store, because those of an account holder are counted.
    await eventually(
      'the refused request',
      () => gateway.context.database.query('SELECT exchange_id FROM free_exchange', []),
      ({ length }) => length > 0,
    )
    const { items: all } = await read<Requests>('/requests')
    assert.ok(all.some(({ outcome }) => outcome === 'not_admitted'))
    const find = async (query: string): Promise<readonly unknown[]> => {
      const found = await read<Requests>(`/requests?${query}`)
      assert.equal(found.next_cursor, null)
      return idsOf(found.items)
    }
    for (const [name, field] of [
      ['model', 'model'],
      ['outcome', 'outcome'],
      ['key', 'key_id'],
    ] as const) {
      const values = new Set(all.map((item) => item[field]).filter((value) => value !== null))
      assert.ok(values.size > 0)
      for (const value of values)
        assert.deepEqual(
          await find(`${name}=${String(value)}`),
          idsOf(all.filter((item) => item[field] === value)),
        )
    }
    const middle = String(all[Math.floor(all.length / 2)]?.['started_at'])
    const [later, earlier] = [await find(`from=${middle}`), await find(`to=${middle}`)]
    assert.deepEqual([...later, ...earlier], idsOf(all))
    assert.ok(later.length > 0 && earlier.length > 0)
    assert.deepEqual(await find('model=none-such'), [])
    for (const query of ['outcome=odd', 'key=', `from=${middle}&to=${middle}`]) {
      const headers = { authorization: `Bearer ${gateway.account.token}` }
      const answer = await send(`${gateway.url}/v1/usage/requests?${query}`, { headers })
      assert.equal(answer.status, 400, query)
    }
  })

  test('searches a long log in bounded steps, and finds everything', async () => {
    const other = await gateway.createAccount()
    const { items: keys } = await read<Requests>('/keys', other.token)
    const startMs = Date.UTC(2027, 0, 1)
    const rows = Array.from({ length: 20_500 }, (_, index) => ({
      exchangeId: newId('ex', startMs + index),
      accountId: other.id,
      keyId: String(keys[0]?.['key_id']),
      vendor: 'beta',
      model: index % 10_000 === 0 ? 'chat-1' : 'chat-mini-1',
      operation: undefined,
      channel: undefined,
      startedAtMs: startMs + index,
      endedAtMs: startMs + index,
      ending: 'not_admitted' as const,
      status: 429,
      code: undefined,
      askedModel: undefined,
      vendorRequestId: undefined,
      attempts: [],
      client: '',
      address: '',
      label: '',
      standsFor: 1,
    }))
    await saveFreeExchanges(gateway.context.database, rows)
    const expected = rows.filter(({ model }) => model === 'chat-1').map((row) => row.exchangeId)
    const found: unknown[] = []
    const counts: number[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: Requests = await read<Requests>(
        `/requests?model=chat-1${cursor === '' ? '' : `&cursor=${cursor}`}`,
        other.token,
      )
      found.push(...idsOf(page.items))
      counts.push(page.items.length)
      cursor = page.next_cursor
    }
    assert.deepEqual(found, expected.toReversed())
    assert.deepEqual(counts, [1, 1, 1])
    const none = '/requests?model=none&from=2027-01-01T00:00:15Z'
    assert.deepEqual(await read(none, other.token), { items: [], next_cursor: null })
  })

  test('reads the requests that cost most first, page by page', async () => {
    const { items: newest } = await read<Requests>('/requests')
    assert.ok(new Set(newest.map(({ cost }) => cost)).size > 2)
    assert.ok(newest.some(({ cost }) => cost === '0'))
    const costOf = ({ cost }: Fields): bigint => exact(String(cost))
    const expected = newest.toSorted((one, other) => Number(costOf(other) - costOf(one)))
    const found: unknown[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const page: Requests = await read<Requests>(
        `/requests?sort=cost&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      found.push(...idsOf(page.items))
      cursor = page.next_cursor
    }
    assert.deepEqual(found, idsOf(expected))
    const dearest = await read<Requests>('/requests?sort=cost&outcome=completed&model=chat-1')
    assert.deepEqual(
      idsOf(dearest.items),
      idsOf(
        expected.filter((item) => item['outcome'] === 'completed' && item['model'] === 'chat-1'),
      ),
    )
  })

  test('cannot have more than 100,000 requests put in the order of their costs', async () => {
    const { database } = gateway.context
    const other = await gateway.createAccount()
    const first = newId('ex', Date.UTC(2027, 0, 1))
    await database.query(
      `WITH RECURSIVE number(value) AS (
         SELECT 1 UNION ALL SELECT value + 1 FROM number WHERE value < 100001)
       INSERT INTO free_exchange
         (account_id, exchange_id, key_id, vendor, started_at_ms, ended_at_ms, ending, status)
       SELECT $1, $2 || CAST(1000000 + value AS TEXT), 'key_1', 'beta', 1, 1, 'not_admitted', 429
         FROM number`,
      [other.id, first],
    )
    const ask = (query: string): ReturnType<typeof send> =>
      send(`${gateway.url}/v1/usage/requests?sort=cost${query}`, {
        headers: { authorization: `Bearer ${other.token}` },
      })
    const refusal = await ask('')
    assert.equal(refusal.status, 400)
    assert.match(refusal.text, /at most 100000 requests; ask for fewer days/)
    assert.equal((await ask('&from=2027-01-02')).status, 200)
    const { items } = await read<Requests>('/requests?limit=2', other.token)
    assert.equal(items.length, 2)
  })

  test('sees the cost of a request explained line by line', async () => {
    const answer = await gateway.ask({ format: 'messages', isStream: true })
    const request = await read<{
      readonly key: string
      readonly explanation: string
      readonly finish_reason: string
      readonly cost: string
      readonly tokens: Readonly<Record<string, number>>
      readonly bill: {
        readonly fee_usd: string
        readonly multiplier: string
        readonly parts: readonly {
          readonly lines: readonly {
            readonly class: string
            readonly count: number
            readonly price_usd: string
            readonly amount_usd: string
          }[]
        }[]
      }
    }>(`/requests/${String(answer.headers['x-turnpike-request-id'])}`)
    assert.deepEqual([request.key, request.explanation], ['test', 'You got the whole answer.'])
    assert.equal(request.finish_reason, 'end_turn')
    const lines = request.bill.parts.flatMap((part) => part.lines)
    assert.deepEqual(
      Object.fromEntries(lines.map((line) => [line.class, line.count])),
      request.tokens,
    )
    for (const { count, price_usd: price, amount_usd: amount } of lines)
      assert.equal(BigInt(count) * exact(price), exact(amount))
    const sum = lines.reduce((before, line) => before + exact(line.amount_usd), 0n)
    assert.deepEqual([request.bill.fee_usd, request.bill.multiplier], ['0', '1'])
    assert.equal(sum, exact(request.cost))
  })
})
