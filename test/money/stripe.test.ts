/**
 * Events of Stripe at a running gateway, with real signatures. Goal: only signed and fresh events count; each
 * is booked once; while the store is away Stripe gets an error and sends the event again.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { Secret } from '../../src/base/secret.ts'
import { valueOf, type OperationContext } from '../../src/operations/operation.ts'
import { beginCheckout } from '../../src/operations/payments/checkout.ts'
import { openStripe } from '../../src/operations/payments/stripe.ts'
import { send, type WireAnswer } from '../support/http-client.ts'
import { assertClean } from '../support/money.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import {
  disputedEvent,
  paidEvent as paid,
  postEvent,
  refundedEvent,
  signEvent,
  stripeEvent,
  stripeSettings as settings,
} from '../support/stripe-events.ts'

let server: PostgresServer
let gateways: readonly [Scenario, Scenario]
before(async () => {
  server = await startPostgres()
  const storeUrl = await server.createDatabase()
  const first = await scenario({ storeUrl, settings })
  gateways = [
    first,
    await scenario({ storeUrl, settings, fill: () => Promise.resolve(first.account) }),
  ]
})
after(async () => {
  for (const gateway of gateways) await gateway.close()
  await server.close()
})

function post(payload: string, signature?: string, at = gateways[0]): Promise<WireAnswer> {
  return postEvent(at.url, payload, signature)
}

async function balance(): Promise<number> {
  const { account, context } = gateways[0]
  const sql = 'SELECT balance_picos FROM account WHERE id = $1'
  const [row] = await context.database.query(sql, [account.id])
  return Number(row?.['balance_picos']) / 1e10
}

test('an event is booked once, however often two gateways get it', async () => {
  const before = await balance()
  const payload = paid('pi_1', gateways[0].account.id)
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      post(payload, undefined, gateways[index % 2 === 0 ? 0 : 1]),
    ),
  )
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
  assert.equal(await balance(), before + 2_500)
  const refund = refundedEvent('pi_1', 700)
  for (const gateway of gateways) assert.equal((await post(refund, undefined, gateway)).status, 200)
  assert.equal(await balance(), before + 1_800)
  await assertClean(gateways[0])
})

test('only a fresh signature over these bytes counts, and only by POST', async () => {
  const before = await balance()
  const payload = paid('pi_2', gateways[0].account.id)
  const forged = signEvent(payload, { secret: 'whsec_of_another' })
  for (const [text, signature] of [
    [payload, ''],
    [payload, 'v1=nonsense'],
    [payload, forged],
    [payload, signEvent(payload, { ageSeconds: 301 })],
    [payload.replace('2500', '9500'), signEvent(payload)],
  ] as const) {
    const answer = await post(text, signature)
    assert.equal(answer.status, 400)
    assert.match(answer.body.toString(), /payments\.signature_invalid/)
  }
  const large = ' '.repeat(300_000)
  assert.equal((await post(large)).status, 413)
  const url = `${gateways[0].url}/account/v1/stripe/webhook`
  assert.equal((await send(url, { method: 'GET' })).status, 405)
  assert.equal(await balance(), before)
})

test('events that move no money are accepted, and book nothing', async () => {
  const before = await balance()
  const { id } = gateways[0].account
  for (const payload of [
    stripeEvent('customer.created', {}),
    paid('pi_3', id, { payment_status: 'unpaid' }),
    paid('pi_3', id, { payment_intent: null }),
    disputedEvent('pi_1', 'dp_1', 'warning_needs_response'),
  ])
    assert.equal((await post(payload)).status, 200)
  assert.equal(await balance(), before)
  const later = paid('pi_3', id).replace('completed', 'async_payment_succeeded')
  assert.equal((await post(later)).status, 200)
  assert.equal(await balance(), before + 2_500)
})

test('while the store is away Stripe gets an error, and its next try is booked', async () => {
  const before = await balance()
  const payload = paid('pi_4', gateways[0].account.id)
  await server.stop('immediate')
  const during = await post(payload)
  assert.ok(during.status >= 500, String(during.status))
  await server.start()
  let answer = await post(payload)
  while (answer.status >= 500) answer = await post(payload)
  assert.equal(answer.status, 200)
  assert.equal(await balance(), before + 2_500)
})

test('a payment begins at a page of Stripe, within bounds, and books nothing', async () => {
  const asked: string[] = []
  let isBroken = false
  const answerOf = (): object =>
    isBroken
      ? { error: { type: 'invalid_request_error', message: 'no' } }
      : { id: 'cs_1', object: 'checkout.session', url: 'https://pay.example/cs_1' }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    asked.push(`${request.method} ${request.url} ${decodeURIComponent(await text(request))}`)
    response.writeHead(isBroken ? 400 : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(answerOf()))
  }
  const standIn = createServer((request, response) => void answer(request, response))
  standIn.listen(0, '127.0.0.1')
  await once(standIn, 'listening')
  const { port } = standIn.address() as AddressInfo
  const { createCheckout } = openStripe({
    secretKey: new Secret(settings.stripe_secret_key),
    webhookSecret: new Secret(settings.stripe_webhook_secret),
    url: `http://127.0.0.1:${port}`,
  })
  const errors: unknown[] = []
  const { context, account } = gateways[0]
  const paying: OperationContext = {
    ...context,
    checkout: {
      create: createCheckout,
      returnUrl: 'https://gateway.example/account/',
      leastUsd: 5,
      mostUsd: 100,
      onError: (error) => errors.push(error),
    },
  }
  const begin = (amount_usd: string) => beginCheckout(paying, { accountId: account.id, amount_usd })
  try {
    const before = await balance()
    assert.equal(valueOf(await begin('12.34')).url, 'https://pay.example/cs_1')
    const [sent = ''] = asked
    assert.match(sent, /^POST \/v1\/checkout\/sessions /)
    for (const part of [
      'unit_amount]=1234',
      'currency]=usd',
      `metadata[account]=${account.id}`,
      `payment_intent_data[metadata][account]=${account.id}`,
      'success_url=https://gateway.example/account/?paid=1',
    ])
      assert.ok(sent.includes(part), part)
    for (const amount of ['4.99', '100.01', '7.001']) {
      const refused = await begin(amount)
      assert.match(refused.kind === 'refusal' ? refused.message : '', /whole cents from 5 to 100/)
    }
    const off = await beginCheckout(context, { accountId: account.id, amount_usd: '7' })
    assert.equal(off.kind === 'refusal' && off.code, 'operations.conflict')
    isBroken = true
    const failed = await begin('7')
    assert.equal(failed.kind === 'refusal' && failed.code, 'payments.unavailable')
    assert.equal(errors.length, 1)
    assert.equal(await balance(), before)
  } finally {
    standIn.close()
  }
})
