/**
 * Who may do what: every way to present a credential, every wrong one, and how soon a running gateway
 * follows what an operator changes. Wrong credentials all look alike from outside.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { makeSecret } from '../../src/access/key.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { chatPath, chatRequest, messagesPath, messagesRequest } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { connectRaw, post, send, type RawAnswer, type WireAnswer } from '../support/http-client.ts'
import {
  limitAccount,
  setAccountStatus,
  createAdminToken,
  createClientKey,
  listAccountKeys,
  revokeKey,
} from '../support/operations.ts'

const clock = new ManualClock()
let gateway: Scenario
let account: TestAccount
before(async () => {
  gateway = await scenario({ clock })
  account = await gateway.createAccount()
})
after(() => gateway.close())
beforeEach(() => gateway.sandbox.log.clear())

/** A messages request with exactly these header lines beside the necessary ones. */
async function present(lines: readonly string[], path = messagesPath): Promise<RawAnswer> {
  const request = path === chatPath ? chatRequest() : messagesRequest()
  const body = path === '/v1/usage' ? '' : JSON.stringify(request)
  const connection = await connectRaw(gateway.url)
  connection.write(
    `${body === '' ? 'GET' : 'POST'} ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n` +
      `${lines.map((line) => `${line}\r\n`).join('')}\r\n${body}`,
  )
  const answer = await connection.next()
  connection.close()
  assert.ok(answer !== undefined)
  return answer
}

interface ErrorBody {
  readonly error: Readonly<Record<string, unknown>>
}

function errorOf(answer: { readonly body: Buffer }): ErrorBody['error'] {
  return (JSON.parse(answer.body.toString()) as ErrorBody).error
}

// --- ways to present one ---------------------------------------------------------------------------

const acceptedForms: readonly (readonly [name: string, lines: (secret: string) => string[]])[] = [
  ['Bearer', (secret) => [`Authorization: Bearer ${secret}`]],
  ['a scheme in lower case', (secret) => [`authorization: bearer ${secret}`]],
  ['a scheme in upper case', (secret) => [`AUTHORIZATION: BEARER ${secret}`]],
  ['two spaces', (secret) => [`Authorization: Bearer  ${secret}`]],
  ['space around', (secret) => [`Authorization: \t Bearer ${secret} \t `]],
  ['x-api-key', (secret) => [`x-api-key: ${secret}`]],
  ['X-Api-Key', (secret) => [`X-Api-Key: ${secret}`]],
  ['api-key', (secret) => [`api-key: ${secret}`]],
  ['both, equal', (secret) => [`X-Api-Key: ${secret}`, `Authorization: Bearer ${secret}`]],
  ['x-api-key twice, equal', (secret) => [`X-Api-Key: ${secret}`, `x-api-key: ${secret}`]],
  [
    'Authorization twice, equal',
    (secret) => [`Authorization: Bearer ${secret}`, `Authorization: bearer ${secret}`],
  ],
  [
    'x-api-key beside a scheme alone',
    (secret) => [`x-api-key: ${secret}`, 'Authorization: Bearer '],
  ],
  [
    'x-api-key beside an empty Authorization',
    (secret) => [`x-api-key: ${secret}`, 'Authorization:'],
  ],
]

for (const [name, lines] of acceptedForms)
  test(`accepts a credential as ${name} on every endpoint`, async () => {
    assert.equal((await present(lines(account.key))).status, 200)
    assert.equal((await present(lines(account.key), chatPath)).status, 200)
    assert.equal((await present(lines(account.token), '/v1/usage')).status, 200)
  })

test('a credential header named in Connection still counts', async () => {
  const answer = await present([`X-Api-Key: ${account.key}`, 'Connection: x-api-key, close'])
  assert.equal(answer.status, 200)
})

// --- 401 -----------------------------------------------------------------------------------------

type RefusedForm = readonly [name: string, lines: () => readonly string[]]

const missingForms: readonly RefusedForm[] = [
  ['none', () => []],
  ['an empty one', () => ['X-Api-Key:', 'Authorization:']],
  ['a scheme alone', () => ['Authorization: Bearer']],
  ['a cookie', () => [`Cookie: x-api-key=${account.key}`]],
  ['another header', () => [`x-key: ${account.key}`]],
]

const refusedForms: readonly RefusedForm[] = [
  ['Basic', () => [`Authorization: Basic ${btoa(`x:${account.key}`)}`]],
  ['no scheme', () => [`Authorization: ${account.key}`]],
  ['two words', () => [`Authorization: Bearer ${account.key} x`]],
  ['a list', () => [`X-Api-Key: ${account.key}, ${account.key}`]],
  ['both, different', () => [`X-Api-Key: ${account.key}`, 'Authorization: Bearer x']],
  ['both, different the other way', () => ['X-Api-Key: x', `Authorization: Bearer ${account.key}`]],
  [
    'both, of different kinds',
    () => [`X-Api-Key: ${account.key}`, `Authorization: Bearer ${account.token}`],
  ],
  [
    'a right one beside a malformed one',
    () => [`X-Api-Key: ${account.key}`, 'Authorization: Basic eA=='],
  ],
  ['x-api-key twice, different', () => [`X-Api-Key: ${account.key}`, 'X-Api-Key: x']],
  [
    'Authorization twice, different',
    () => [`Authorization: Bearer ${account.key}`, 'Authorization: Bearer x'],
  ],
  ['one with a typo', () => [`X-Api-Key: ${account.key.slice(0, -1)}?`]],
  ['half of one', () => [`X-Api-Key: ${account.key.slice(0, 20)}`]],
  ['one in upper case', () => [`X-Api-Key: ${account.key.toUpperCase()}`]],
  ['one that was never made', () => [`X-Api-Key: ${makeSecret('client')}`]],
  ['an unknown prefix', () => [`X-Api-Key: sk-${account.key.slice(3)}`]],
  ['a very long one', () => [`X-Api-Key: cr_${'a'.repeat(10_000)}`]],
]

/** Claude Code shows "Not logged in" in place of a 401 that has the word `x-api-key`. */
const wordings: Readonly<Record<string, RegExp>> = {
  missing: /^Incorrect API key provided: .*Authorization: Bearer.*x-api-key/,
  refused: /^Incorrect API key provided\.(?!.*x-api-key)/i,
}

for (const [wording, forms] of Object.entries({ missing: missingForms, refused: refusedForms }))
  for (const [name, lines] of forms) refusesAlike(name, lines, wording)

function refusesAlike(name: string, lines: RefusedForm[1], wording: string): void {
  test(`${name} as a credential gets the 401 of a ${wording} one`, async () => {
    const seen = new Set<string>()
    for (const path of [messagesPath, chatPath, '/v1/usage']) {
      const answer = await present(lines(), path)
      assert.equal(answer.status, 401)
      assert.equal(answer.headers['www-authenticate'], 'Bearer')
      assert.equal(answer.headers['x-should-retry'], 'false')
      seen.add(String(errorOf(answer)['message']))
      if (path === messagesPath) assert.equal(errorOf(answer)['type'], 'authentication_error')
      if (path === chatPath) assert.equal(errorOf(answer)['code'], 'invalid_api_key')
    }
    const sample = wording === 'missing' ? [] : ['X-Api-Key: x']
    const plain = String(errorOf(await present(sample))['message'])
    assert.match(plain, wordings[wording] ?? /^$/)
    assert.deepEqual([...seen], [plain], 'one wording for all')
    assert.equal(gateway.sandbox.log.records.length, 0)
  })
}

test('no answer repeats a credential, valid or not', async () => {
  for (const lines of [
    [`X-Api-Key: ${account.token}`],
    [`X-Api-Key: ${account.key.slice(0, -2)}`],
    [`X-Api-Key: ${account.key}`, 'Authorization: Bearer wrong-secret-1'],
  ]) {
    const answer = await present(lines)
    const text = answer.body.toString() + JSON.stringify(answer.headers)
    assert.ok(
      !text.includes(account.key.slice(0, 12)) && !text.includes(account.token.slice(0, 12)),
    )
    assert.ok(!text.includes('wrong-secret'))
  }
})

// --- 403 -----------------------------------------------------------------------------------------

test('a valid secret on the wrong endpoint gets 403', async () => {
  const admin = (await createAdminToken(gateway.context, { name: 'test' })).secret
  const wrong: readonly (readonly [path: string, secret: string])[] = [
    [messagesPath, account.token],
    [messagesPath, admin],
    [chatPath, account.token],
    [chatPath, admin],
    ['/v1/usage', account.key],
    ['/v1/usage', admin],
  ]
  for (const [path, secret] of wrong) {
    const answer = await present([`Authorization: Bearer ${secret}`], path)
    assert.equal(answer.status, 403, `${secret.slice(0, 3)} on ${path}`)
    if (path === messagesPath) assert.equal(errorOf(answer)['type'], 'permission_error')
  }
  assert.equal(gateway.sandbox.log.records.length, 0)
})

test('neither key nor read-only token is accepted on the operator listener', async () => {
  for (const secret of [account.key, account.token]) {
    const answer = await send(`${gateway.adminUrl}/metrics`, { headers: { 'x-api-key': secret } })
    assert.ok(answer.status === 401 || answer.status === 403)
  }
})

test('a key with an address list works only from those addresses, and headers change nothing', async () => {
  const here = await keyWith({ ip: ['127.0.0.0/8'] })
  const elsewhere = await keyWith({ ip: ['10.1.2.0/24', '2001:db8::/32'] })
  const claims = {
    'x-forwarded-for': '10.1.2.3',
    forwarded: 'for=10.1.2.3',
    'x-real-ip': '10.1.2.3',
  }
  assert.equal((await ask(here)).status, 200)
  for (const headers of [{}, claims]) {
    const answer = await post(gateway.url + messagesPath, elsewhere, messagesRequest(), headers)
    assert.equal(answer.status, 403)
    assert.equal(errorOf(answer)['type'], 'permission_error')
  }
})

test('a key with a model list may use and see those models only', async () => {
  const key = await keyWith({ models: ['small-1', 'chat-1'] })
  assert.equal((await ask(key, { model: 'small-1' })).status, 200)
  const refused = await ask(key, { model: 'large-1' })
  assert.equal(refused.status, 400)
  assert.equal(errorOf(refused)['type'], 'invalid_request_error')
  const text = /may not use the model "large-1"\. GET \/alpha\/v1\/models lists/
  assert.match(String(errorOf(refused)['message']), text)
  const counted = await post(`${gateway.url}${messagesPath}/count_tokens`, key, messagesRequest())
  assert.equal(counted.status, 400)
  assert.equal((await ask(key, { model: 'unheard-of' })).status, 404)
  const chat = await post(gateway.url + chatPath, key, chatRequest({ model: 'chat-mini-1' }))
  assert.equal(chat.status, 403)
  assert.equal(errorOf(chat)['code'], 'model_not_allowed')
  assert.match(String(errorOf(chat)['message']), /GET \/beta\/v1\/models lists/)
})

async function keyWith(wish: object, name = account.name): Promise<string> {
  const made = await createClientKey(gateway.context, { account: name, name: 'wish', ...wish })
  return made.secret
}

function ask(key: string, fields: object = {}): Promise<WireAnswer> {
  return post(gateway.url + messagesPath, key, messagesRequest({ ...fields }))
}

test('an expired key gets 401 from its expiry on', async (t) => {
  const clock = new ManualClock()
  const timed = await scenario({ clock })
  t.after(() => timed.close())
  const owner = await timed.createAccount()
  const made = await createClientKey(timed.context, {
    account: owner.name,
    name: 'short',
    expires: '2026-11-21',
  })
  const status = async (): Promise<number> =>
    (await post(timed.url + messagesPath, made.secret, messagesRequest())).status
  assert.equal(await status(), 200)
  clock.advance(12 * 3_600_000 - 1)
  assert.equal(await status(), 200)
  clock.advance(1)
  assert.equal(await status(), 401)
})

// --- changes in a running gateway ------------------------------------------------------------------

/** Lets a second pass and no more: what the gateway has not begun to follow by then, it never does. */
async function statusWithinASecond(key: string, wanted: number): Promise<void> {
  clock.advance(1_000)
  let { status } = await ask(key)
  for (let asked = 0; status !== wanted && asked < 2_000; asked++) status = (await ask(key)).status
  assert.equal(status, wanted)
}

test('a revoked key stops within a second and stays revoked', async () => {
  const made = await createClientKey(gateway.context, { account: account.name, name: 'brief' })
  await statusWithinASecond(made.secret, 200)
  await revokeKey(gateway.context, { kind: 'client', id: made.key.id })
  await statusWithinASecond(made.secret, 401)
  assert.equal((await ask(made.secret)).status, 401)
  assert.equal((await ask(account.key)).status, 200, 'other keys go on')
})

test('a revoked token reads nothing more', async () => {
  const owner = await gateway.createAccount()
  const read = (): Promise<WireAnswer> =>
    send(`${gateway.url}/v1/usage`, { headers: { 'x-api-key': owner.token } })
  assert.equal((await read()).status, 200)
  const [token] = await listAccountKeys(gateway.context, { account: owner.name, kind: 'reader' })
  await revokeKey(gateway.context, { kind: 'reader', id: String(token?.id) })
  await gateway.app.refresh()
  assert.equal((await read()).status, 401)
})

test('a suspended account gets 403 within a second, and is served again once resumed', async () => {
  const owner = await gateway.createAccount()
  await statusWithinASecond(owner.key, 200)
  await setAccountStatus(gateway.context, { account: owner.name, status: 'suspended' })
  await statusWithinASecond(owner.key, 403)
  assert.match(String(errorOf(await ask(owner.key))['message']), /suspended/)
  await setAccountStatus(gateway.context, { account: owner.name, status: 'active' })
  await statusWithinASecond(owner.key, 200)
})

test('a closed account gets 403 within a second, and is served again once reopened', async () => {
  const owner = await gateway.createAccount()
  await statusWithinASecond(owner.key, 200)
  await setAccountStatus(gateway.context, { account: owner.name, status: 'closed' })
  await statusWithinASecond(owner.key, 403)
  assert.match(String(errorOf(await ask(owner.key))['message']), /closed/)
  await setAccountStatus(gateway.context, { account: owner.name, status: 'active' })
  await statusWithinASecond(owner.key, 200)
})

test('a suspended or closed account still reads its figures', async () => {
  const owner = await gateway.createAccount()
  for (const status of ['suspended', 'closed'] as const) {
    await setAccountStatus(gateway.context, { account: owner.name, status })
    await gateway.app.refresh()
    assert.equal((await ask(owner.key)).status, 403)
    const read = await send(`${gateway.url}/v1/usage`, { headers: { 'x-api-key': owner.token } })
    assert.equal(read.status, 200)
  }
})

test('a new limit applies within a second, and so does its removal', async () => {
  const owner = await gateway.createAccount()
  await statusWithinASecond(owner.key, 200)
  await limitAccount(gateway.context, { account: owner.name, rpm: 1 })
  await statusWithinASecond(owner.key, 429)
  await limitAccount(gateway.context, { account: owner.name, rpm: 0 })
  await statusWithinASecond(owner.key, 200)
  await limitAccount(gateway.context, { account: owner.name, daily_usd: '0.0001' })
  await statusWithinASecond(owner.key, 429)
})

test('a revocation in the middle of an answer affects later requests only', async () => {
  const made = await createClientKey(gateway.context, { account: account.name, name: 'midway' })
  gateway.sandbox.faults.set('alpha-main', { hold: 'midway@mid' })
  const running = ask(made.secret, { stream: true })
  await gateway.sandbox.faults.reached('midway')
  await revokeKey(gateway.context, { kind: 'client', id: made.key.id })
  await gateway.app.refresh()
  gateway.sandbox.faults.clear()
  assert.equal((await ask(made.secret)).status, 401)
  gateway.sandbox.faults.release('midway')
  const answer = await running
  assert.equal(answer.status, 200)
  assert.ok(answer.isComplete && answer.body.toString().includes('message_stop'))
})
