/** A refused request leaves one line in the log, so that an operator can explain it. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createClientKey, setAccountStatus } from '../support/operations.ts'
import { messagesPath, messagesRequest } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'
import { post, type WireAnswer } from '../support/http-client.ts'

const lines: Record<string, unknown>[] = []
const gateway = await scenario({ onLogLine: (line) => void lines.push({ ...line }) })
after(() => gateway.close())

function ask(key: string, fields: object = {}): Promise<WireAnswer> {
  return post(gateway.url + messagesPath, key, messagesRequest({ ...fields }))
}

function lineOf(answer: WireAnswer): Record<string, unknown> | undefined {
  const exchangeId = answer.headers['x-turnpike-request-id']
  const line = lines.find((one) => one['exchangeId'] === exchangeId)
  if (line === undefined) return undefined
  const { level, msg, accountId, code, model } = line
  return { level, msg, accountId, code, ...(model === undefined ? {} : { model }) }
}

const refused = { level: 'info', msg: 'request refused' }

test('names account, code and a model of the catalogue', async () => {
  const poor = await gateway.createAccount({ balance_usd: '0.0000001' })
  const known = { ...refused, accountId: poor.id }
  assert.deepEqual(lineOf(await ask(poor.key)), {
    ...known,
    code: 'ledger.insufficient_balance',
    model: 'large-1',
  })
  assert.deepEqual(lineOf(await ask(poor.key, { model: 'canary' })), {
    ...known,
    code: 'relay.model_unknown',
  })
  const { secret } = await createClientKey(gateway.context, {
    account: poor.name,
    name: 'small',
    models: ['small-1'],
  })
  assert.deepEqual(lineOf(await ask(secret)), {
    ...known,
    code: 'access.model_not_allowed',
    model: 'large-1',
  })
  assert.doesNotMatch(JSON.stringify(lines), /canary/)
})

test('also for a suspended account, and for an unknown key', async () => {
  const account = await gateway.createAccount()
  await setAccountStatus(gateway.context, { account: account.name, status: 'suspended' })
  await gateway.app.refresh()
  const answer = await ask(account.key)
  assert.equal(answer.status, 403)
  const line = { ...refused, accountId: account.id, code: 'access.account_suspended' }
  assert.deepEqual(lineOf(answer), line)
  const unknown = lineOf(await ask('cr_unknown'))
  const code = 'access.credential_invalid'
  assert.deepEqual(unknown, { ...refused, accountId: undefined, code })
})
