/** `turnpike request`: what an operator sees of a request that failed, on the store and through the API. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { newFolder, run } from '../support/command-line.ts'
import { eventually } from '../support/eventually.ts'
import { post } from '../support/http-client.ts'
import { createAdminToken } from '../support/operations.ts'
import { messagesPath, messagesRequest } from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import type { TestAccount } from '../support/accounts.ts'

describe('turnpike request', () => {
  let gateway: Scenario
  let account: TestAccount
  let folder: string
  let throughApi: Readonly<Record<string, string>>
  const ids = { answered: '', refused: '' }
  before(async () => {
    folder = newFolder()
    gateway = await scenario({})
    account = await gateway.createAccount()
    await gateway.app.refresh()
    const { secret } = await createAdminToken(gateway.context, { name: 'test' })
    await gateway.app.refresh()
    throughApi = { TURNPIKE_SERVER: gateway.adminUrl, TURNPIKE_TOKEN: secret }
    for (const [name, model] of [
      ['answered', 'large-1'],
      ['refused', 'none'],
    ] as const) {
      const answer = await post(gateway.url + messagesPath, account.key, messagesRequest({ model }))
      ids[name] = String(answer.headers['x-turnpike-request-id'])
    }
    const show = () => command(['request', 'show', ids.refused])
    await eventually('the refused request is recorded', show, ({ code }) => code === 0)
  })
  after(() => gateway.close())

  const command = (words: readonly string[], environment = onStore()) =>
    run(folder, words, environment)
  const onStore = (): Readonly<Record<string, string>> => ({ TURNPIKE_STORE: gateway.storeUrl })

  it('lists and filters requests, with the same output on the store and through the API', async () => {
    const list = ['request', 'list', '--account', account.name, '--since', '1h']
    for (const words of [list, [...list, '--status', '4xx'], [...list, '--json']]) {
      const { code, out, error } = await command(words)
      assert.deepEqual([code, error], [0, ''])
      assert.match(out, new RegExp(ids.refused))
      assert.equal(out.includes(ids.answered), !words.includes('4xx'))
      assert.equal((await command(words, throughApi)).out, out)
    }
  })

  it('shows why a request failed, and what another cost', async () => {
    const refused = await command(['request', 'show', ids.refused])
    assert.match(refused.out, /^outcome +not_admitted$/m)
    assert.match(refused.out, /^code +relay\.model_unknown$/m)
    assert.match(refused.out, /^attempts +–$/m)
    const answered = await command(['request', 'show', ids.answered])
    assert.match(answered.out, /^bill\.calculation +\d+ input × 0\.000003 \+ /m)
    assert.match(answered.out, /^alpha-main +200 +answered +/m)
    assert.equal((await command(['request', 'show', ids.answered], throughApi)).out, answered.out)
  })

  it("shows the type of a vendor's error", async () => {
    gateway.sandbox.faults.set('alpha-main', 'error=400')
    const answer = await post(gateway.url + messagesPath, account.key, messagesRequest())
    gateway.sandbox.faults.clear()
    const id = String(answer.headers['x-turnpike-request-id'])
    const show = () => command(['request', 'show', id])
    const { out } = await eventually('its record', show, ({ code }) => code === 0)
    assert.match(
      out,
      /^alpha-main +400 +client .* type invalid_request_error, meaning The vendor found a mistake/m,
      out,
    )
    assert.equal((await command(['request', 'show', id], throughApi)).out, out)
  })

  it('ends with 1 for a request that there is not, and with 2 for a wrong filter', async () => {
    const missing = await command(['request', 'show', 'ex_none'])
    assert.deepEqual([missing.code, missing.out], [1, ''])
    assert.match(missing.error, /There is no request ex_none/)
    const wrong = await command(['request', 'list', '--status', 'bad'])
    assert.equal(wrong.code, 2)
    assert.match(wrong.error, /status: must be a status such as 402 or 4xx/)
    const late = await command(['request', 'list', '--since', 'yesterday'])
    assert.equal(late.code, 2)
    assert.match(late.error, /--since must be a date, a time, or an age such as 30m or 2h\./)
  })
})
