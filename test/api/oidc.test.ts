/**
 * Operators sign in to the console by OpenID Connect at a real provider: the role comes from a claim, stays
 * for the session, and the log of actions names the person. Tokens work as before.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { browserWith, cookieOf, openBrowser, signIn } from '../support/browser-session.ts'
import { send, type WireAnswer } from '../support/http-client.ts'
import { ManualClock } from '../support/manual-clock.ts'
import {
  oidcClient,
  startOidcProvider,
  visitProvider,
  type TestProvider,
} from '../support/oidc-provider.ts'
import { createAdminToken, recentActions } from '../support/operations.ts'
import { scenario, type LogLine, type Scenario } from '../support/scenario.ts'

const minuteMs = 60_000
const clock = new ManualClock()
const consoleUrl = 'https://admin.example.com'
const redirectUrl = `${consoleUrl}/console/sign-in`
const ofConsole = { host: 'admin.example.com', origin: consoleUrl }
const lines: LogLine[] = []
const secrets: string[] = [oidcClient.secret]
const ann = { sub: 'ann-1', email: 'ann@example.com', email_verified: true }
let provider: TestProvider
let gateway: Scenario

function valuesOf(answer: WireAnswer): Record<string, unknown> {
  return JSON.parse(answer.text) as Record<string, unknown>
}

function assertRefused(answer: WireAnswer, status: number, code: string, words: RegExp): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal(valuesOf(answer)['code'], code)
  assert.match(String(valuesOf(answer)['detail']), words)
  assert.equal(answer.headers['set-cookie'], undefined)
}

const settings = () => ({
  max_failed_sign_ins: '0',
  console_url: consoleUrl,
  admin_oidc_issuer: provider.issuer,
  admin_oidc_client_id: oidcClient.id,
  admin_oidc_client_secret: oidcClient.secret,
  admin_oidc_role_claim: 'groups',
  admin_oidc_roles: 'gateway-admins=owner, support=operator, staff=viewer',
})

function begin(
  more: Readonly<Record<string, string>> = ofConsole,
  adminUrl = gateway.adminUrl,
): Promise<WireAnswer> {
  return send(`${adminUrl}/admin/v1/session/oidc`, {
    headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json', ...more },
    body: '{}',
  })
}

/** Returns what the provider has put in the address, and the cookie that the browser keeps. */
async function visit(adminUrl = gateway.adminUrl) {
  const begun = await begin(ofConsole, adminUrl)
  assert.equal(begun.status, 200, begun.text)
  const cookie = cookieOf(begun)
  const oidc = await visitProvider(String(valuesOf(begun)['url']), redirectUrl)
  secrets.push(cookie.split('=')[1] ?? '', new URLSearchParams(oidc).get('code') ?? oidc)
  return { oidc, cookie }
}

async function enter(adminUrl = gateway.adminUrl): Promise<WireAnswer> {
  const { oidc, cookie } = await visit(adminUrl)
  const answer = await signIn(adminUrl, { oidc }, { ...ofConsole, cookie })
  if (answer.status === 200) secrets.push(cookieOf(answer).split('=')[1] ?? '')
  return answer
}

describe('operators who sign in by OpenID Connect', () => {
  before(async () => {
    provider = await startOidcProvider({ redirectUrl, hasWholeIdToken: true })
    gateway = await scenario({
      clock,
      onLogLine: (line) => lines.push(line),
      settings: settings(),
    })
    assert.equal(provider.requestCount(), 0)
  })
  after(async () => {
    await gateway.close()
    await provider.close()
  })
  beforeEach(() => {
    provider.person = { ...ann, groups: ['support'] }
  })

  test('get a session with the role of the claim, and the log of actions names them', async () => {
    const shown = await send(`${gateway.adminUrl}/admin/v1/session/oidc`)
    assert.deepEqual(valuesOf(shown), { host: provider.host })
    const begun = await begin()
    assert.match(
      String(begun.headers['set-cookie']),
      /^__Host-turnpike-oidc=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=900$/,
    )
    const answer = await enter()
    assert.equal(answer.status, 200, answer.text)
    const { token_id: id, token_name: name, role } = valuesOf(answer)
    assert.deepEqual([id, name, role], ['oidc:operator:ann@example.com', ann.email, 'operator'])
    const browser = browserWith(gateway.adminUrl, cookieOf(answer))
    assert.deepEqual(valuesOf(await browser.get('/session', ofConsole)), valuesOf(answer))
    const made = await browser.change('POST', '/accounts', { name: 'acme' }, ofConsole)
    assert.equal(made.status, 201, made.text)
    const actions = await recentActions(gateway.context, { sessions: true, limit: 2 })
    assert.deepEqual(
      actions.map(({ action, actor }) => [action, actor]),
      [
        ['account.create', 'oidc:operator:ann@example.com'],
        ['session.create', 'oidc:operator:ann@example.com'],
      ],
    )
    const forOwners = await browser.change('POST', '/admin-tokens', { name: 'x' }, ofConsole)
    assert.equal(forOwners.status, 403)
  })

  test('keep the role of the sign-in, and get the highest of several', async () => {
    const before = await enter()
    provider.person = { ...ann, groups: ['staff', 'gateway-admins', 'other'] }
    const owner = await enter()
    assert.equal(valuesOf(owner)['role'], 'owner')
    const earlier = browserWith(gateway.adminUrl, cookieOf(before))
    assert.equal(valuesOf(await earlier.get('/session', ofConsole))['role'], 'operator')
  })

  test('are named by the id at the provider where it has not verified the address', async () => {
    provider.person = { ...ann, email_verified: false, groups: 'staff' }
    const answer = await enter()
    assert.deepEqual(
      [valuesOf(answer)['token_name'], valuesOf(answer)['role']],
      ['ann-1', 'viewer'],
    )
  })

  test('are refused without a value that gives a role', async () => {
    const all = [undefined, [], 'owner', ['gateway-admins=owner'], [['support']], {}]
    for (const [index, groups] of all.entries()) {
      provider.person = { ...ann, sub: `ann-none-${index}`, groups }
      assertRefused(await enter(), 403, 'access.oidc_refused', /gives you no role here/)
    }
  })

  test('are refused in another browser, a second time, and where the provider refuses', async () => {
    const { oidc, cookie } = await visit()
    const other = await visit()
    const use = (query: string, kept: string) =>
      signIn(gateway.adminUrl, { oidc: query }, { ...ofConsole, cookie: kept })
    for (const [query, kept] of [
      [oidc, ''],
      [oidc, other.cookie],
      [oidc, `${cookie}; ${cookie}`],
      [oidc.replace(/state=[^&]*/, 'state=x'), cookie],
    ] as const)
      assertRefused(await use(query, kept), 403, 'access.oidc_refused', /another browser/)
    assert.equal((await use(oidc, cookie)).status, 200)
    assertRefused(await use(oidc, cookie), 403, 'access.oidc_refused', /has been used/)
    provider.person = undefined
    assertRefused(await enter(), 403, 'access.oidc_refused', /not signed you in: access_denied/)
  })

  test('begin at the page of the console only, with one proof', async () => {
    for (const more of [
      { host: 'admin.example.com', origin: 'https://evil.example' },
      { ...ofConsole, 'sec-fetch-site': 'cross-site' },
      { host: 'admin.example.com' },
    ])
      assertRefused(await begin(more), 403, 'access.cross_site_request', /./)
    const { oidc, cookie } = await visit()
    const both = await signIn(
      gateway.adminUrl,
      { oidc, code: 'x'.repeat(43) },
      { ...ofConsole, cookie },
    )
    assertRefused(both, 400, 'operations.invalid', /Give one of token, code and oidc/)
    const put = await send(`${gateway.adminUrl}/admin/v1/session/oidc`, { method: 'PUT' })
    assert.equal(put.status, 405)
  })

  test('lose the session by signing out, everywhere too, and by time', async () => {
    const [here, there, late] = [await enter(), await enter(), await enter()].map((answer) =>
      browserWith(gateway.adminUrl, cookieOf(answer)),
    )
    assert.ok(here !== undefined && there !== undefined && late !== undefined)
    assert.equal((await here.change('DELETE', '/session', undefined, ofConsole)).status, 200)
    assert.equal((await here.get('/accounts', ofConsole)).status, 401)
    clock.advance(29 * minuteMs)
    const byPerson = { ...ofConsole, 'x-turnpike-console': 'user' }
    assert.equal((await there.get('/accounts', byPerson)).status, 200)
    clock.advance(2 * minuteMs)
    assert.equal((await late.get('/accounts', ofConsole)).status, 401)
    const listed = valuesOf(await there.get('/sessions', ofConsole))['items']
    assert.ok((listed as { current: boolean }[]).some(({ current }) => current))
    assert.equal((await there.change('DELETE', '/sessions', undefined, ofConsole)).status, 200)
    assert.equal((await there.get('/accounts', ofConsole)).status, 401)
  })

  test('leave tokens as they are, and lose their sessions where the settings go', async () => {
    const { secret: token } = await createAdminToken(gateway.context, { name: 'a program' })
    const byToken = await openBrowser(gateway.adminUrl, { token })
    assert.equal((await byToken.get('/accounts')).status, 200)
    const own = await scenario({ process: 'own' })
    try {
      const before = await own.start(settings())
      const cookie = cookieOf(await enter(before.adminUrl))
      const status = async (adminUrl: string) =>
        (await browserWith(adminUrl, cookie).get('/accounts', ofConsole)).status
      assert.equal(await status(before.adminUrl), 200)
      before.signal('SIGTERM')
      await before.ended
      const without = await own.start()
      assert.equal(await status(without.adminUrl), 401)
      const shown = await send(`${without.adminUrl}/admin/v1/session/oidc`)
      assert.deepEqual(valuesOf(shown), { host: null })
    } finally {
      await own.close()
    }
  })

  test('leave no secret in the log', () => {
    assert.ok(secrets.length > 10)
    const text = JSON.stringify(lines)
    for (const secret of secrets) assert.ok(!text.includes(secret), secret)
  })
})
