/**
 * Which of two mistakes in a request the answer reports. Every check has a way to fail that
 * leaves the others as they are; each pair of them is put into one request, and the earlier check
 * has to answer.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { demoCatalogue } from '../../sandbox/demo.ts'
import { messagesPath, messagesRequest } from '../support/requests.ts'
import type { AccountOptions } from '../support/accounts.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { post, send, type WireAnswer } from '../support/http-client.ts'
import { createClientKey, creditAccount } from '../support/operations.ts'

let gateway: Scenario
before(async () => {
  gateway = await scenario({
    settings: { body_max_bytes: '4096' },
    catalogue: catalogueText,
  })
})
after(() => gateway.close())

/** The demo's, with a model that has a price and no channel. */
function catalogueText(url: string): string {
  const catalogue = demoCatalogue(url)
  const { 'large-1': large } = catalogue.models
  return JSON.stringify({ ...catalogue, models: { ...catalogue.models, 'orphan-1': large } })
}

interface Plan {
  path: string
  method: string
  contentType: string
  key: string | undefined
  fields: Record<string, unknown>
  wish: AccountOptions
  /** A request that was refused for its body has used up the account's requests per minute. */
  isRateUsed: boolean
}

interface Check {
  readonly name: string
  /** Makes the request fail this check and no earlier one. */
  readonly spoil: (plan: Plan) => void
  readonly status: number
  readonly sign: RegExp
}

/** In the order in which the contract has them answer. */
const checks: readonly Check[] = [
  {
    name: 'credential',
    spoil: (plan) => (plan.key = 'cr_unknown'),
    status: 401,
    sign: /authentication_error/,
  },
  {
    name: 'path',
    spoil: (plan) => (plan.path = '/alpha/v1/nothing'),
    status: 404,
    sign: /not served here/,
  },
  { name: 'method', spoil: (plan) => (plan.method = 'PUT'), status: 405, sign: /Use POST/ },
  {
    name: 'requests per minute',
    spoil(plan) {
      plan.wish = { ...plan.wish, rpm: 1 }
      plan.isRateUsed = true
    },
    status: 429,
    sign: /requests per minute/,
  },
  {
    name: 'balance',
    spoil: (plan) => (plan.wish = { ...plan.wish, balance_usd: '0' }),
    status: 402,
    sign: /balance 0 USD/,
  },
  {
    name: 'size',
    spoil: (plan) => (plan.fields['padding'] = 'x'.repeat(5_000)),
    status: 413,
    sign: /request_too_large/,
  },
  {
    name: 'content type',
    spoil: (plan) => (plan.contentType = 'text/plain'),
    status: 415,
    sign: /application\/json/,
  },
  {
    name: 'fields',
    spoil: (plan) => (plan.fields['max_tokens'] = -1),
    status: 400,
    sign: /max_tokens/,
  },
  {
    name: 'model',
    spoil: (plan) => (plan.fields['model'] = 'unheard-of'),
    status: 404,
    sign: /There is no model/,
  },
  {
    name: 'cost',
    spoil: (plan) => (plan.wish = { ...plan.wish, balance_usd: '0.0000001' }),
    status: 402,
    sign: /could cost up to/,
  },
  {
    name: 'daily limit',
    spoil: (plan) => (plan.wish = { ...plan.wish, daily_usd: '0.0000001' }),
    status: 429,
    sign: /daily limit/,
  },
  {
    name: 'a channel',
    spoil: (plan) => (plan.fields['model'] = 'orphan-1'),
    status: 503,
    sign: /No channel/,
  },
]

async function run(spoilers: readonly Check[]): Promise<WireAnswer> {
  const plan: Plan = {
    path: messagesPath,
    method: 'POST',
    contentType: 'application/json',
    key: undefined,
    fields: {},
    wish: {},
    isRateUsed: false,
  }
  // The later check first: where two spoil one thing, the earlier one's way of it stays.
  for (const check of spoilers.toReversed()) check.spoil(plan)
  const { balance_usd, ...limits } = plan.wish
  const account = await gateway.createAccount(plan.isRateUsed ? limits : plan.wish)
  if (plan.isRateUsed) {
    const refused = await post(gateway.url + messagesPath, account.key, { model: '' })
    assert.equal(refused.status, 400)
    if (balance_usd === '0') await takeBalance(account.name)
  }
  return send(gateway.url + plan.path, {
    method: plan.method,
    headers: { 'x-api-key': plan.key ?? account.key, 'content-type': plan.contentType },
    body: JSON.stringify(messagesRequest(plan.fields)),
  })
}

async function takeBalance(account: string): Promise<void> {
  const taken = { account, amount_usd: '-10', reference: 'taken' }
  await creditAccount(gateway.context, taken)
  await gateway.app.refresh()
}

function assertTold(check: Check, answer: WireAnswer): void {
  const text = answer.body.toString()
  assert.equal(answer.status, check.status, text)
  assert.match(text, check.sign)
  assert.equal((JSON.parse(text) as { type: string }).type, 'error')
}

for (const [index, check] of checks.entries()) {
  test(`${check.name} alone gets ${check.status}`, async () => {
    assertTold(check, await run([check]))
  })
  for (const later of checks.slice(index + 1))
    test(`${check.name} is reported before ${later.name}`, async () => {
      assertTold(check, await run([check, later]))
    })
}

test('a key that may not use a model gets that error before any about the cost of a request', async () => {
  const account = await gateway.createAccount({ balance_usd: '0.0000001' })
  const { secret } = await createClientKey(gateway.context, {
    account: account.name,
    name: 'small',
    models: ['small-1'],
  })
  const answer = await post(gateway.url + messagesPath, secret, messagesRequest())
  assert.equal(answer.status, 400)
})

test('a credential of the wrong kind is reported before an unknown path', async () => {
  const account = await gateway.createAccount()
  const answer = await send(`${gateway.url}/alpha/v1/nothing`, {
    headers: { 'x-api-key': account.token },
  })
  assert.equal(answer.status, 403)
})
