/** Refunds over the admin API of a running gateway: what a client, its limits and an operator see of them. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { send, usage as readUsage, type WireAnswer } from '../support/http-client.ts'
import { createAdminToken } from '../support/operations.ts'
import { sendAsk } from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import type { TestAccount } from '../support/accounts.ts'

describe('refunds over the admin API', () => {
  let gateway: Scenario
  let token: string

  before(async () => {
    gateway = await scenario()
    token = (await createAdminToken(gateway.context, { name: 'test' })).secret
  })

  after(() => gateway.close())

  async function post(path: string, body: object): Promise<[number, Record<string, unknown>]> {
    const answer = await send(`${gateway.adminUrl}/admin/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return [answer.status, JSON.parse(answer.body.toString()) as Record<string, unknown>]
  }

  function ask(account: TestAccount, isStream = false): Promise<WireAnswer> {
    return sendAsk(gateway.url, account.key, { format: 'messages', isStream })
  }

  async function chargedRequest(account: TestAccount, isStream = false): Promise<WireAnswer> {
    const answer = await ask(account, isStream)
    assert.equal(answer.status, 200)
    return answer
  }

  interface Usage {
    readonly limits: { readonly daily_used_usd: number }
    readonly usage: { readonly cost_usd: number; readonly requests: number }
  }

  async function usage(account: TestAccount): Promise<Usage> {
    return (await readUsage(gateway.url, account.token)) as unknown as Usage
  }

  function idOf(answer: WireAnswer): string {
    return String(answer.headers['x-turnpike-request-id'])
  }

  for (const isStream of [false, true])
    it(`a refund reaches balance and usage, ${isStream ? 'streamed' : 'whole'}`, async () => {
      const account = await gateway.createAccount({ balance_usd: '1' })
      const kept = await chargedRequest(account)
      const { usage: one } = await usage(account)
      const request = idOf(await chargedRequest(account, isStream))
      const [status, refunded] = await post(`/requests/${request}/refund`, { reason: 'too late' })
      assert.equal(status, 201)
      assert.deepEqual(
        [refunded['request_id'], refunded['account_id'], refunded['reason'], refunded['repeated']],
        [request, account.id, 'too late', false],
      )
      assert.equal(refunded['amount_usd'], refunded['charge_usd'])
      const { usage: both } = await usage(account)
      assert.equal(both.cost_usd, one.cost_usd)
      assert.equal(both.requests, 2)
      const [again, same] = await post(`/requests/${request}/refund`, { reason: 'too late' })
      assert.deepEqual([again, same], [201, { ...refunded, repeated: true }])
      const vendorId = String(kept.headers['request-id'])
      const [, byVendorId] = await post(`/requests/${vendorId}/refund`, {})
      assert.equal(byVendorId['request_id'], idOf(kept))
      assert.equal(byVendorId['balance_usd'], '1')
      assert.equal((await usage(account)).usage.cost_usd, 0)
    })

  it('what cannot be refunded is a problem that says why', async () => {
    const account = await gateway.createAccount()
    const path = `/requests/${idOf(await chargedRequest(account))}/refund`
    const refuses = async (
      at: string,
      body: object,
      status: number,
      code: string,
      says: RegExp,
    ) => {
      const [answered, problem] = await post(at, body)
      assert.deepEqual([answered, problem['code']], [status, code], JSON.stringify(problem))
      assert.match(String(problem['detail']), says)
    }
    const more = { amount_usd: '0.1' }
    await refuses(path, more, 400, 'operations.invalid', /at most the charge of the request, 0\.0/)
    await refuses(path, { amount_usd: '-1' }, 400, 'operations.invalid', /above 0/)
    await refuses('/requests/ex_none/refund', {}, 404, 'operations.not_found', /no record/)
    assert.equal((await post(path, { amount_usd: '0.000001' }))[0], 201)
    await refuses(
      path,
      {},
      409,
      'operations.conflict',
      /gave back 0\.000001 USD on 2.*refunded once/,
    )
  })

  it('an unusual credit is a problem until it is confirmed', async () => {
    const { name } = await gateway.createAccount({ balance_usd: '1' })
    const credit = { amount_usd: '-1.5', reference: 'chargeback' }
    const [status, problem] = await post(`/accounts/${name}/credits`, credit)
    assert.deepEqual([status, problem['code']], [409, 'operations.confirmation_required'])
    const confirm = { field: 'confirm', message: 'must be true to book this amount' }
    assert.deepEqual(problem['errors'], [confirm])
    const [booked, answer] = await post(`/accounts/${name}/credits`, { ...credit, confirm: true })
    assert.deepEqual([booked, answer['balance_usd']], [201, '-0.5'])
  })

  it('a refund lets requests through that the daily limit has refused', async () => {
    const account = await gateway.createAccount({ daily_usd: '0.002' })
    const answers: WireAnswer[] = []
    do answers.push(await ask(account))
    while (answers.at(-1)?.status === 200)
    assert.equal(answers.pop()?.status, 429)
    for (const answer of answers)
      assert.equal((await post(`/requests/${idOf(answer)}/refund`, {}))[0], 201)
    await eventually(
      'admitted',
      () => ask(account),
      ({ status }) => status === 200,
    )
    const { limits, usage: figures } = await usage(account)
    assert.equal(limits.daily_used_usd, figures.cost_usd)
    assert.equal(figures.requests, answers.length + 1)
  })
})
