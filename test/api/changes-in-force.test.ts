/**
 * A change over the admin API acts on the very next request to the gateway that has answered it. The clock
 * stands still, so the gateway never looks for changes by itself.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { send } from '../support/http-client.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { createAdminToken } from '../support/operations.ts'
import { sendAsk } from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

describe('a change over the admin API', () => {
  let gateway: Scenario
  let token: string

  before(async () => {
    gateway = await scenario({ clock: new ManualClock() })
    token = (await createAdminToken(gateway.context, { name: 'test' })).secret
  })

  after(() => gateway.close())

  async function change(method: string, path: string, body: object): Promise<void> {
    const answer = await send(`${gateway.adminUrl}/admin/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(method !== 'DELETE' && { body: JSON.stringify(body) }),
    })
    assert.ok(answer.status < 300, answer.text)
  }

  async function statusOf(key: string): Promise<number> {
    return (await sendAsk(gateway.url, key, { format: 'messages', isStream: false })).status
  }

  test('money that an operator takes away buys nothing more', async () => {
    const { key, name } = await gateway.createAccount({ balance_usd: '5' })
    assert.equal(await statusOf(key), 200)
    for (const round of [1, 2, 3]) {
      const taken = { amount_usd: '-5', reference: `taken-${round}`, confirm: true }
      await change('POST', `/accounts/${name}/credits`, taken)
      assert.equal(await statusOf(key), 402)
      await change('POST', `/accounts/${name}/credits`, {
        amount_usd: '5',
        reference: `given-${round}`,
      })
      assert.equal(await statusOf(key), 200)
    }
  })

  test('a limit, a suspension and a revocation act on the next request', async () => {
    const { key, name } = await gateway.createAccount({ balance_usd: '5' })
    assert.equal(await statusOf(key), 200)
    await change('PATCH', `/accounts/${name}`, { daily_usd: '0.000001' })
    assert.equal(await statusOf(key), 429)
    await change('PATCH', `/accounts/${name}`, { daily_usd: '0', status: 'suspended' })
    assert.equal(await statusOf(key), 403)
    await change('PATCH', `/accounts/${name}`, { status: 'active' })
    assert.equal(await statusOf(key), 200)
    for (const { id } of (await listKeys(name)).items) await change('DELETE', `/keys/${id}`, {})
    assert.equal(await statusOf(key), 401)
  })

  async function listKeys(account: string): Promise<{ readonly items: readonly { id: string }[] }> {
    const answer = await send(`${gateway.adminUrl}/admin/v1/accounts/${account}/keys`, {
      headers: { authorization: `Bearer ${token}` },
    })
    return JSON.parse(answer.text) as { items: { id: string }[] }
  }
})
