/**
 * The account holder's figures below `/v1/usage`: they add up to `/v1/usage`, and they show one account and
 * nothing of the operator's side. Runs on either store.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { formatUsd, parseUsd, picos } from '../../src/base/money.ts'
import type { OperationContext } from '../../src/operations/operation.ts'
import type { TestAccount } from '../support/accounts.ts'
import { send, usage, type WireAnswer } from '../support/http-client.ts'
import { chargesOf } from '../support/money.ts'
import {
  changeAccount,
  creditAccount,
  limitAccount,
  refundRequest,
  setAccountStatus,
} from '../support/operations.ts'
import { formats, places } from '../support/requests.ts'
import { failoverDefaults, scenario, type Scenario } from '../support/scenario.ts'

let gateway: Scenario
let account: TestAccount
let context: OperationContext
const paths = [
  '/account',
  '/days',
  '/keys',
  '/requests',
  '/prices',
  '/receipts',
  '/statement',
  '/statement/figures',
]

function ask(path: string, token = account.token, method = 'GET'): Promise<WireAnswer> {
  const headers = { authorization: `Bearer ${token}` }
  return send(`${gateway.url}/v1/usage${path}`, { method, headers })
}

type Fields = Readonly<Record<string, unknown>>

async function read<Shape = Fields>(path: string, token = account.token): Promise<Shape> {
  const answer = await ask(path, token)
  assert.equal(answer.status, 200, answer.text)
  return JSON.parse(answer.text) as Shape
}

interface Days {
  readonly days: readonly {
    readonly day: string
    readonly requests: number
    readonly input_tokens: number
    readonly cost_usd: number
    readonly key?: string
    readonly model?: string
  }[]
}

interface Usage {
  readonly balance_usd: number
  readonly usage: {
    readonly requests: number
    readonly input_tokens: number
    readonly cost_usd: number
  }
  readonly by_model: readonly { readonly model: string; readonly cost_usd: number }[]
}

async function useBoth(): Promise<void> {
  for (const format of formats)
    for (const isStream of [true, false])
      assert.equal((await gateway.ask({ format, isStream })).status, 200)
}

describe('figures of account holders', () => {
  before(async () => {
    gateway = await scenario({ ...failoverDefaults, settings: { tax_percent: '19' } })
    account = gateway.account
    context = gateway.context
  })
  after(() => gateway.close())

  test('days, by key and by model, add up to the usage', async () => {
    await useBoth()
    const total = (await usage(gateway.url, account.token, 'month')) as unknown as Usage
    for (const by of ['', '?by=key', '?by=model']) {
      const { days } = await read<Days>(`/days${by}`)
      const sum = (of: (day: Days['days'][number]) => number): number =>
        days.reduce((before, day) => before + of(day), 0)
      assert.equal(
        sum(({ requests }) => requests),
        total.usage.requests,
      )
      assert.equal(
        sum(({ input_tokens: tokens }) => tokens),
        total.usage.input_tokens,
      )
      assert.ok(Math.abs(sum(({ cost_usd: cost }) => cost) - total.usage.cost_usd) < 1e-12)
    }
    const { days: byModel } = await read<Days>('/days?by=model')
    assert.deepEqual(
      new Map(byModel.map(({ model, cost_usd: cost }) => [model, cost])),
      new Map(total.by_model.map(({ model, cost_usd: cost }) => [model, cost])),
    )
    assert.equal((await read<Days>('/days?by=key')).days[0]?.key, 'test')
    assert.deepEqual((await read<Days>('/days?from=2020-01-01&to=2020-02-01')).days, [])
  })

  test('keys show what they have used and what is left', async () => {
    await useBoth()
    const { items } = await read<{ items: readonly Fields[] }>('/keys')
    const total = (await usage(gateway.url, account.token, 'total')) as unknown as Usage
    assert.equal(items.length, 1)
    const cost = total.usage.cost_usd
    const { name, state, used, limits } = items[0] ?? {}
    assert.deepEqual([name, state, limits], ['test', 'active', []])
    assert.deepEqual(used, { day_usd: cost, month_usd: cost, total_usd: cost })
    const { id } = items[0] ?? {}
    await context.database.query(
      `UPDATE key SET daily_limit_picos = 1000000000000, monthly_limit_picos = 2000000000000,
        total_limit_picos = 1, rpm = 7 WHERE id = $1`,
      [String(id)],
    )
    const { items: limited } = await read<{ items: readonly Fields[] }>('/keys')
    await context.database.query(
      `UPDATE key SET daily_limit_picos = 0, monthly_limit_picos = 0, total_limit_picos = 0, rpm = 0
        WHERE id = $1`,
      [String(id)],
    )
    assert.equal(limited[0]?.['rpm'], 7)
    const budgets = limited[0]?.['limits'] as readonly Fields[]
    assert.deepEqual(
      budgets.map(({ period, limit_usd: limit, left_usd: left }) => [period, limit, left]),
      [
        ['day', 1, Number((1 - cost).toFixed(12))],
        ['month', 2, Number((2 - cost).toFixed(12))],
        ['total', 1e-12, 0],
      ],
    )
    for (const { period, resets_at: resetsAt } of budgets)
      assert.equal(period === 'total', resetsAt === null)
  })

  test('receipts show each credit once, newest first, with the tax that is in it', async () => {
    for (const [amount_usd, reference] of [
      ['119', 'paid-1'],
      ['0.10', 'paid-2'],
      ['-1', 'correction'],
    ] as const)
      await creditAccount(context, { account: account.id, amount_usd, reference })
    interface Receipts {
      readonly items: readonly Readonly<
        Record<'number' | 'amount' | 'net' | 'tax' | 'reference', string>
      >[]
      readonly next_cursor: string | null
    }
    const first = await read<Receipts>('/receipts?limit=2')
    assert.deepEqual(
      first.items.map(({ amount, net, tax, reference }) => [amount, net, tax, reference]),
      [
        ['0.1', '0.08', '0.02', 'paid-2'],
        ['119', '100', '19', 'paid-1'],
      ],
    )
    const rest = await read<Receipts>(`/receipts?cursor=${first.next_cursor}`)
    const numbers = [...first.items, ...rest.items].map(({ number }) => number)
    assert.equal(new Set(numbers).size, numbers.length)
    assert.ok(rest.items.every(({ reference }) => !/^paid|correction/.test(reference)))
    const operator = await send(`${gateway.url}/account/operator.json`)
    assert.deepEqual((JSON.parse(operator.text) as Fields)['tax'], { percent: 19, note: null })
  })

  test('a receipt keeps the tax and the lines of its payment, and a credit note takes both back', async () => {
    const paying = await gateway.createAccount({ balance_usd: '0' })
    const account = paying.name
    const book = (taxThousandths: number, entry: { amount_usd: string; reference: string }) =>
      creditAccount({ ...context, taxThousandths }, { account, confirm: true, ...entry })
    const papers = async (): Promise<readonly unknown[][]> => {
      const { items } = await read<{ items: readonly Fields[] }>('/receipts', paying.token)
      return items.map((paper) => [
        String(paper['number'])[0],
        ...['amount', 'net', 'tax', 'tax_percent'].map((field) => paper[field]),
        (paper['account'] as Fields)['bill_to'],
        items.find(({ number }) => number === paper['reverses'])?.['reference'] ?? null,
      ])
    }
    await book(10_000, { amount_usd: '11', reference: 'stripe:pi_1' })
    await changeAccount(context, { account, bill_to: 'Ann Ltd' })
    const first = ['R', '11', '10', '1', 10, 'Ann Ltd', null]
    assert.deepEqual(await papers(), [first], 'where the payment had no lines, those of now')
    await book(19_000, { amount_usd: '25', reference: 'stripe:pi_2' })
    await changeAccount(context, { account, bill_to: 'Ben Ltd' })
    for (const [reference, amount_usd] of [
      ['stripe-refund:pi_2:700', '-7'],
      ['stripe-dispute:pi_2:dp_1', '-18'],
      ['stripe-dispute-won:pi_2:dp_1', '18'],
      ['stripe-refund:pi_unknown:700', '-1'],
    ] as const)
      await book(50_000, { amount_usd, reference })
    const second = ['25', '21.01', '3.99', 19, 'Ann Ltd']
    assert.deepEqual(await papers(), [
      ['C', '-1', '-0.84', '-0.16', 19, 'Ben Ltd', null],
      ['R', '18', '15.13', '2.87', 19, 'Ann Ltd', null],
      ['C', '-18', '-15.13', '-2.87', 19, 'Ann Ltd', 'stripe:pi_2'],
      ['C', '-7', '-5.88', '-1.12', 19, 'Ann Ltd', 'stripe:pi_2'],
      ['R', ...second, null],
      ['R', '11', '10', '1', 10, 'Ben Ltd', null],
    ])
    const { bill_to: lines } = await read('/account', paying.token)
    assert.equal(lines, 'Ben Ltd')
  })

  test('prices come with the factor of the account', async () => {
    const other = await gateway.createAccount()
    await limitAccount(context, { account: other.name, price_multiplier: '0.85' })
    const mine = await read<{ multiplier: string; prices: readonly Fields[] }>('/prices')
    const theirs = await read<{ multiplier: string }>('/prices', other.token)
    assert.deepEqual([mine.multiplier, theirs.multiplier], ['1', '0.85'])
    const large = mine.prices.find(({ model }) => model === 'large-1')
    assert.deepEqual([large?.['vendor'], large?.['format']], ['alpha', 'messages'])
    assert.equal(Number((large?.['price'] as Fields | undefined)?.['input']), 3)
  })

  test('a statement adds up to the balance, as JSON and as CSV', async () => {
    await useBoth()
    const { balance_usd: balance } = (await usage(gateway.url, account.token)) as unknown as Usage
    const statement = await read<{
      closing_balance: string
      entries: readonly { amount: string; exchange: Fields | null }[]
    }>('/statement')
    assert.equal(Number(statement.closing_balance), balance)
    const charged = statement.entries.filter(({ exchange }) => exchange !== null)
    assert.ok(charged.length >= 4)
    for (const { exchange } of charged) assert.match(String(exchange?.['calculation']), / × /)
    const csv = await ask('/statement?format=csv')
    assert.equal(csv.headers['content-type'], 'text/csv; charset=utf-8')
    const [head = '', ...rows] = csv.text.trim().split('\r\n')
    assert.equal(head.split(',').includes('channel'), false)
    assert.equal(rows.length, statement.entries.length + 2)
  })

  test('the figures of a statement are those of its lines, and its end is read alone', async () => {
    await useBoth()
    interface Statement {
      readonly opening_balance: string
      readonly closing_balance: string
      readonly entries: readonly { sequence: number; kind: string; amount: string }[]
    }
    const whole = await read<Statement>('/statement')
    const figures = await read('/statement/figures')
    const sumOf = (kind: string): string => {
      const amounts = whole.entries.filter((entry) => entry.kind === kind)
      const sum = amounts.reduce((total, { amount }) => total + (parseUsd(amount) ?? 0n), 0n)
      return formatUsd(picos(kind === 'charge' ? -sum : sum))
    }
    assert.deepEqual(figures, {
      opening_balance: whole.opening_balance,
      requests: whole.entries.filter(({ kind }) => kind === 'charge').length,
      charged: sumOf('charge'),
      refunds: sumOf('refund'),
      credits: sumOf('credit'),
      adjustments: sumOf('adjustment'),
      closing_balance: whole.closing_balance,
    })
    const { entries, closing_balance: closing } = await read<Statement>('/statement?last=2')
    assert.equal(closing, whole.closing_balance)
    assert.equal(entries.filter(({ kind }) => kind === 'charge').length, 2)
    assert.deepEqual(entries, whole.entries.slice(-entries.length))
    assert.equal((await ask('/statement?last=0')).status, 400)
  })

  test('the cost of a stream is there when its last event is', async () => {
    for (const format of formats)
      for (let index = 0; index < 10; index++) {
        const answer = await gateway.ask({ format, isStream: true })
        const id = String(answer.headers['x-turnpike-request-id'])
        const request = await read(`/requests/${id}`)
        const charges = await chargesOf(context.database, account.id)
        assert.equal(request['cost'], formatUsd(picos(charges.get(id) ?? 0n)))
        assert.deepEqual([request['outcome'], request['status']], ['completed', 200])
        assert.match(String(request['calculation']), / × /)
        const vendorId = String(request['vendor_request_id'])
        assert.deepEqual(await read(`/requests/${encodeURIComponent(vendorId)}`), request)
      }
  })

  test('requests come in pages, the newest first', async () => {
    await useBoth()
    const ids: unknown[] = []
    let cursor = ''
    do {
      const page = await read<{ items: readonly Fields[]; next_cursor: string | null }>(
        `/requests?limit=7${cursor}`,
      )
      ids.push(...page.items.map(({ id }) => id))
      cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`
    } while (cursor !== '')
    assert.deepEqual(ids, ids.map(String).sort().reverse())
    assert.equal(new Set(ids).size, ids.length)
    assert.ok(ids.length >= 8)
    assert.equal((await ask('/requests?cursor=*')).status, 400)
    assert.equal((await ask('/requests/ex_unknown')).status, 404)
    assert.equal((await ask('/requests/')).status, 404)
  })

  test('a refund shows beside the cost', async () => {
    const answer = await gateway.ask({ format: 'messages', isStream: false })
    const id = String(answer.headers['x-turnpike-request-id'])
    await refundRequest(context, { request: id, reason: 'a secret of the operator' })
    const request = await read(`/requests/${id}`)
    assert.equal(request['paid'], '0')
    assert.equal((request['refund'] as Fields)['amount'], request['cost'])
    const total = (await usage(gateway.url, account.token, 'total')) as unknown as Usage
    const { days } = await read<Days>('/days')
    const sum = days.reduce((before, { cost_usd: cost }) => before + cost, 0)
    assert.ok(Math.abs(sum - total.usage.cost_usd) < 1e-12)
  })

  test('a suspended account reads its figures', async () => {
    const other = await gateway.createAccount()
    await setAccountStatus(context, { account: other.name, status: 'suspended' })
    await gateway.app.refresh()
    for (const path of paths)
      await ask(path, other.token).then(({ status }) => assert.equal(status, 200))
  })

  test('no other credential reads them, and nothing is cached', async () => {
    for (const path of paths) {
      const answers = await Promise.all([
        ask(path),
        ask(path, account.token, 'HEAD'),
        ask(path, 'ro_wrong'),
        ask(path, account.key),
        ask(path, account.token, 'POST'),
      ])
      assert.deepEqual(
        answers.map(({ status }) => status),
        [200, 200, 401, 403, 405],
      )
      for (const { headers } of answers) {
        assert.equal(headers['cache-control'], 'no-store')
        assert.ok(headers['x-turnpike-request-id'] !== undefined)
      }
      assert.equal(answers[0].headers['vary'], 'authorization, x-api-key, api-key')
      assert.equal(answers[4].headers['allow'], 'GET, HEAD')
    }
    assert.equal((await ask('/nothing')).status, 404)
  })

  test('a parameter of another endpoint is refused with its place, an unknown one is ignored', async () => {
    const refused: readonly [path: string, place: string][] = [
      [
        '?from=2026-01-01',
        '/v1/usage/days, /v1/usage/statement, /v1/usage/statement/figures and /v1/usage/requests',
      ],
      ['?period=day&by=key', '/v1/usage/days'],
      ['?cursor=abc', '/v1/usage/requests and /v1/usage/keys'],
      ['/days?period=day', '/v1/usage'],
      [
        '/keys?from=2026-01-01',
        '/v1/usage/days, /v1/usage/statement, /v1/usage/statement/figures and /v1/usage/requests',
      ],
      ['/statement?by=key', '/v1/usage/days'],
      ['/prices?format=csv', '/v1/usage/statement'],
      ['/account?model=large-1', '/v1/usage/requests'],
    ]
    for (const [path, place] of refused) {
      const answer = await ask(path)
      const { error } = JSON.parse(answer.text) as { error: { type: string; message: string } }
      assert.deepEqual([answer.status, error.type], [400, 'api.request_invalid'], path)
      assert.ok(error.message.endsWith(`belongs to ${place}.`), error.message)
    }
    for (const path of ['?_=1', '/days?_=1&utm_source=x', '/prices?pretty']) {
      assert.equal((await ask(path)).status, 200)
    }
    for (const path of [
      '/days?by=key&by=model',
      '/days?from=2026-02-30',
      '/days?from=x',
      '/days?by=day',
    ])
      assert.equal((await ask(path)).status, 400, path)
    assert.equal((await ask('/days?from=2026-02-01&to=2026-01-01')).status, 400)
    assert.equal((await ask('/days?from=2020-01-01&to=2026-01-01')).status, 400)
  })

  test('of many questions at once about one account, some are answered and the rest refused for a moment', async () => {
    const many = Array.from({ length: 50 }, () => ask('/statement'))
    const answers = await Promise.all(many)
    const refused = answers.filter(({ status }) => status === 429)
    assert.ok(refused.every(({ headers }) => headers['retry-after'] === '1'))
    assert.ok(answers.every(({ status }) => status === 200 || status === 429))
    assert.equal((await ask('/statement')).status, 200)
  })

  test('a text that no store can hold is wrong input, not a fault', async () => {
    assert.equal((await ask('/requests/ex_%00')).status, 404)
    const cursor = Buffer.from('ex_\0').toString('base64url')
    for (const path of ['/keys', '/requests'])
      assert.equal((await ask(`${path}?cursor=${cursor}`)).status, 400, path)
  })

  test('nothing of other accounts or of the operator shows', async () => {
    const other = await gateway.createAccount()
    await creditAccount(context, {
      account: account.name,
      amount_usd: '5',
      reference: 'invoice-7',
      note: 'a secret of the operator',
    })
    gateway.sandbox.faults.set(places.messages.main, 'error=502')
    await useBoth()
    const own = await gateway.ask({ format: 'messages', isStream: true })
    const ownId = String(own.headers['x-turnpike-request-id'])
    const others = await Promise.all(
      formats.map((format) => gateway.ask({ format, isStream: false, key: other.key })),
    )
    gateway.sandbox.faults.clear()
    for (const { headers } of others) {
      const id = String(headers['x-turnpike-request-id'])
      const theirs = await read(`/requests/${id}`, other.token)
      for (const foreign of [id, encodeURIComponent(String(theirs['vendor_request_id']))])
        assert.equal((await ask(`/requests/${foreign}`)).status, 404)
    }
    const shown = await Promise.all(
      [
        ...paths,
        `/requests/${ownId}`,
        '/days?by=key',
        '/days?by=model',
        '/statement?format=csv',
      ].map(async (path) => (await ask(path)).text),
    )
    const secrets = [
      other.id,
      other.name,
      ...others.map(({ headers }) => String(headers['x-turnpike-request-id'])),
      ...formats.flatMap((format) => [places[format].main, places[format].reserve]),
      'channel',
      'attempt',
      'own_cost',
      'a secret of the operator',
      new URL(gateway.sandbox.url).host,
    ]
    for (const secret of secrets)
      for (const text of shown) assert.ok(!text.includes(secret), `${secret} shows in ${text}`)
    assert.ok(shown.some((text) => text.includes('invoice-7')))
  })
})
