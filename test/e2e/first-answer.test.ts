/** The smallest end-to-end test; docs/testing.md explains it line by line. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { hasEnd } from '../support/answers.ts'
import { usage } from '../support/http-client.ts'
import { assertClean, chargesOf, vendorPrice } from '../support/money.ts'
import { scenario } from '../support/scenario.ts'

const gateway = await scenario({ account: { balance_usd: '10' } })
after(() => gateway.close())

test('charges an answer of either format by the time the client has its end', async () => {
  const whole = { format: 'messages', isStream: false, marker: 'whole' } as const
  const stream = { format: 'chat', isStream: true, marker: 'stream' } as const
  for (const ask of [whole, stream]) {
    const answer = await gateway.ask(ask)
    assert.ok(hasEnd(answer, ask), answer.text)
  }
  const figures = await usage(gateway.url, gateway.account.token)
  assert.equal((figures['usage'] as { requests: number }).requests, 2)
  const prices = await Promise.all([
    gateway.served('whole', 'alpha-main').then(vendorPrice),
    gateway.served('stream', 'beta-main').then(vendorPrice),
  ])
  const charges = await chargesOf(gateway.context.database, gateway.account.id)
  assert.deepEqual(new Set(charges.values()), new Set(prices))
  await assertClean(gateway)
})
