/**
 * Signing in by OpenID Connect at a real provider: a member is found by the verified address alone, in the
 * browser that began, once. oidc-on-postgres.test.ts runs it on PostgreSQL.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import type { WireAnswer } from '../support/http-client.ts'
import { MemberBrowser, publicUrl, valueOf } from '../support/member-browser.ts'
import { inviteMember } from '../support/members.ts'
import {
  oidcClient,
  startOidcProvider,
  visitProvider,
  type TestProvider,
} from '../support/oidc-provider.ts'
import { createAccount, recentActions } from '../support/operations.ts'
import { removeMember } from '../../src/operations/members/members.ts'
import { findFreePort } from '../support/postgres.ts'
import { scenario, type LogLine, type Scenario } from '../support/scenario.ts'

const redirectUrl = `${publicUrl}/account/`
const lines: LogLine[] = []
const secrets: string[] = []
let provider: TestProvider
let gateway: Scenario
let account: string
let email: string
let count = 0

function assertRefused(answer: WireAnswer, status: number, type: string, words: RegExp): void {
  assert.equal(answer.status, status, answer.text)
  const error = valueOf(answer)['error'] as { type: string; message: string }
  assert.equal(error.type, type)
  assert.match(error.message, words)
}

const newBrowser = (): MemberBrowser => new MemberBrowser(gateway.url)

/** Begins, and returns what the provider has put in the address. */
async function visit(browser: MemberBrowser): Promise<string> {
  const begun = await browser.call('POST', '/oidc', {})
  assert.equal(begun.status, 200, begun.text)
  const oidc = await visitProvider(String(valueOf(begun)['url']), redirectUrl)
  const code = new URLSearchParams(oidc).get('code')
  secrets.push(...browser.cookies.values(), ...(code === null ? [] : [code]))
  return oidc
}

async function signIn(browser = newBrowser()): Promise<WireAnswer> {
  const answer = await browser.call('POST', '/session', { oidc: await visit(browser) })
  secrets.push(...browser.cookies.values())
  return answer
}

const settingsFor = (issuer: string) => ({
  public_url: publicUrl,
  max_failed_sign_ins: '0',
  oidc_issuer: issuer,
  oidc_client_id: oidcClient.id,
  oidc_client_secret: oidcClient.secret,
})

describe('signing in by OpenID Connect', () => {
  before(async () => {
    provider = await startOidcProvider({ redirectUrl })
    const settings = settingsFor(provider.issuer)
    gateway = await scenario({ settings, onLogLine: (line) => lines.push(line) })
    assert.equal(provider.requestCount(), 0)
  })
  after(async () => {
    await gateway.close()
    await provider.close()
  })

  beforeEach(async () => {
    account = `acme-${++count}`
    email = `ann-${count}@acme.example`
    await createAccount(gateway.context, { name: account })
    await inviteMember(gateway.context, { account, email })
    provider.person = { sub: `person-${count}`, email: email.toUpperCase(), email_verified: true }
  })

  test('begins a session for the member with the verified address', async () => {
    const browser = newBrowser()
    const begun = await browser.call('POST', '/oidc', {})
    const url = new URL(String(valueOf(begun)['url']))
    assert.equal(url.host, provider.host)
    for (const name of ['state', 'nonce', 'code_challenge'])
      assert.match(url.searchParams.get(name) ?? '', /^[\w-]{43}$/)
    assert.equal(url.searchParams.get('code_challenge_method'), 'S256')
    assert.match(
      begun.headers['set-cookie']?.[0] ?? '',
      /^__Host-turnpike-sign-in=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=900$/,
    )
    const answer = await signIn(browser)
    assert.equal(answer.status, 200, answer.text)
    const shown = valueOf(await browser.call('GET', '/session'))
    assert.deepEqual(valueOf(answer), { session: shown, code: null, accounts: [] })
    assert.equal(shown['email'], email)
    assert.deepEqual([...browser.cookies.keys()], ['__Host-turnpike-member'])
    const [action] = await recentActions(gateway.context, { sessions: true })
    assert.deepEqual([action?.action, action?.actor_name], ['member.sign-in', email])
  })

  test('needs no mail: an owner invites, and hears that no mail was sent', async () => {
    const browser = newBrowser()
    await signIn(browser)
    const second = `bob-${count}@acme.example`
    const invited = await browser.call('POST', '/members', { email: second, role: 'member' })
    assert.equal(invited.status, 201, invited.text)
    assert.match(String(valueOf(invited)['mail_problem']), /sends no mail; tell the person/)
    provider.person = { sub: second, email: second, email_verified: true }
    assert.equal((await signIn()).status, 200)
  })

  test('lets the member of several accounts choose one, once', async () => {
    const second = `second-${count}`
    const { id } = await createAccount(gateway.context, { name: second })
    await inviteMember(gateway.context, { account: second, email, role: 'member' })
    const browser = newBrowser()
    const asked = valueOf(await signIn(browser))
    assert.equal(asked['session'], null)
    assert.deepEqual(
      (asked['accounts'] as { name: string }[]).map(({ name }) => name).sort(),
      [account, second].sort(),
    )
    const choose = (from: MemberBrowser) =>
      from.call('POST', '/session', { code: asked['code'], account: id })
    const refused = await choose(newBrowser())
    assertRefused(refused, 401, 'access.sign_in_link_invalid', /another browser/)
    const session = valueOf(await choose(browser))['session'] as { account: { name: string } }
    assert.equal(session.account.name, second)
    assert.equal((await choose(browser)).status, 401)
  })

  test('refuses an address that the provider has not verified, or that no member has', async () => {
    const { person } = provider
    for (const changed of [
      { email_verified: false },
      { email_verified: 'true' },
      { email_verified: undefined },
      { email: undefined },
      { email: 'no address' },
    ]) {
      provider.person = { sub: `changed-${count}`, ...person, ...changed }
      assertRefused(await signIn(), 403, 'access.oidc_refused', /has not verified an e-mail/)
    }
    provider.person = { sub: 'stranger', email: 'eve@acme.example', email_verified: true }
    assertRefused(await signIn(), 403, 'access.oidc_refused', /No account .* eve@acme\.example/)
  })

  test('refuses a removed member, whose session has ended', async () => {
    const invited = { account, email: `bob-${count}@acme.example`, role: 'member' } as const
    const { id } = await inviteMember(gateway.context, invited)
    provider.person = { sub: `bob-${count}`, email: invited.email, email_verified: true }
    const browser = newBrowser()
    assert.equal((await signIn(browser)).status, 200)
    await removeMember(gateway.context, { member: id })
    assert.equal((await browser.call('GET', '/keys')).status, 401)
    assertRefused(await signIn(), 403, 'access.oidc_refused', /No account/)
  })

  test('takes an answer once, in the browser that began, with its own state', async () => {
    const refused = /begun in another browser.*or its answer has been used/
    const browser = newBrowser()
    const oidc = await visit(browser)
    const kept = new Map(browser.cookies)
    const other = newBrowser()
    await visit(other)
    for (const [who, query] of [
      [newBrowser(), oidc],
      [other, oidc],
      [browser, oidc.replace(/state=[^&]*/, 'state=another')],
      [browser, oidc.replace(/&?state=[^&]*/, '')],
      [browser, oidc.replace(/iss=[^&]*/, 'iss=https%3A%2F%2Fevil.example')],
      [browser, ''],
      [browser, '?'],
      [browser, 'https://evil.example/?code=x'],
    ] as const) {
      const answer = await who.call('POST', '/session', { oidc: query })
      assertRefused(answer, 403, 'access.oidc_refused', refused)
      assert.equal(answer.headers['set-cookie'], undefined)
    }
    assert.equal((await browser.call('POST', '/session', { oidc })).status, 200)
    for (const [name, value] of kept) browser.cookies.set(name, value)
    const again = await browser.call('POST', '/session', { oidc })
    assertRefused(again, 403, 'access.oidc_refused', refused)
  })

  test('says what the provider refused, without its words', async () => {
    provider.person = undefined
    const browser = newBrowser()
    const oidc = await visit(browser)
    assert.match(oidc, /error=access_denied/)
    const answer = await browser.call('POST', '/session', { oidc })
    assertRefused(answer, 403, 'access.oidc_refused', /has not signed you in: access_denied\./)
    const strange = oidc.replace('access_denied', 'Call%20%2B1%20555')
    const other = await browser.call('POST', '/session', { oidc: strange })
    assertRefused(other, 403, 'access.oidc_refused', /has not signed you in: error\./)
  })

  test('refuses input that is none, and other pages', async () => {
    const browser = newBrowser()
    for (const body of [{ oidc: 1 }, { oidc: 'x'.repeat(6_001) }, { other: '' }]) {
      const answer = await browser.call('POST', '/session', body)
      assertRefused(answer, 400, 'operations.invalid', /./)
    }
    const origin = { origin: 'https://evil.example' }
    for (const path of ['/oidc', '/session']) {
      const answer = await browser.call('POST', path, {}, origin)
      assertRefused(answer, 403, 'access.cross_site_request', /./)
    }
  })

  test('logs no secret', () => {
    assert.ok(secrets.length > 10)
    const text = JSON.stringify(lines)
    for (const secret of [...secrets, oidcClient.secret]) assert.ok(!text.includes(secret), secret)
  })
})

describe('a provider that fails', () => {
  const failing = /does not work now/

  test('is asked again when it has come back, and the gateway starts without it', async () => {
    const port = await findFreePort()
    const reasons: LogLine[] = []
    const settings = settingsFor(`http://127.0.0.1:${port}`)
    const own = await scenario({ settings, onLogLine: (line) => reasons.push(line) })
    const browser = new MemberBrowser(own.url)
    try {
      const away = await browser.call('POST', '/oidc', {})
      assertRefused(away, 503, 'access.oidc_unavailable', failing)
      assert.match(
        JSON.stringify(reasons),
        /127\.0\.0\.1:\d+".*ECONNREFUSED.*sign-in by OpenID Connect failed/,
      )
      const started = await startOidcProvider({ redirectUrl, port })
      started.person = { sub: 'ann' }
      const begun = await browser.call('POST', '/oidc', {})
      assert.equal(begun.status, 200, begun.text)
      const oidc = await visitProvider(String(valueOf(begun)['url']), redirectUrl)
      await started.close()
      const gone = await browser.call('POST', '/session', { oidc })
      assertRefused(gone, 503, 'access.oidc_unavailable', failing)
    } finally {
      await own.close()
    }
  })

  for (const [what, lateMs, changed, reason] of [
    ['clock', 7_200_000, {}, /JWT timestamp claim value failed validation/],
    ['secret', 0, { oidc_client_secret: 'another_secret_of_the_test' }, /invalid_client/],
  ] as const)
    test(`by another ${what}, is named to the operator only`, async () => {
      const reasons: LogLine[] = []
      const strange = await startOidcProvider({ redirectUrl, lateMs })
      strange.person = { sub: 'ann' }
      const settings = { ...settingsFor(strange.issuer), ...changed }
      const own = await scenario({ settings, onLogLine: (line) => reasons.push(line) })
      try {
        const browser = new MemberBrowser(own.url)
        const begun = valueOf(await browser.call('POST', '/oidc', {}))
        const oidc = await visitProvider(String(begun['url']), redirectUrl)
        const answer = await browser.call('POST', '/session', { oidc })
        assertRefused(answer, 503, 'access.oidc_unavailable', failing)
        assert.match(JSON.stringify(reasons), reason)
        assert.ok(!JSON.stringify(reasons).includes('secret_of_the_test'))
      } finally {
        await own.close()
        await strange.close()
      }
    })

  test('is none where its settings are missing', async () => {
    const own = await scenario({ settings: { public_url: publicUrl } })
    const browser = new MemberBrowser(own.url)
    for (const [path, body] of [
      ['/oidc', {}],
      ['/session', { oidc: '?code=x&state=y' }],
    ] as const) {
      const answer = await browser.call('POST', path, body)
      assertRefused(answer, 409, 'operations.conflict', /is not set up here/)
    }
    await own.close()
  })
})
