/**
 * Sessions of browsers: signing in by token and by link, the end of a session, and the limits of a cookie.
 * Another site can neither act with the cookie nor get one.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { operatorRoles, type OperatorRole } from '../../src/access/key.ts'
import { createSignInCode } from '../../src/operations/sessions/sessions.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { browserWith, cookieOf, openBrowser, signIn } from '../support/browser-session.ts'
import { openEvents } from '../support/event-reader.ts'
import { eventually } from '../support/eventually.ts'
import { send, type WireAnswer } from '../support/http-client.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { createAdminToken, recentActions, revokeKey } from '../support/operations.ts'
import { scenario, type LogLine, type Scenario } from '../support/scenario.ts'

const minuteMs = 60_000
const clock = new ManualClock()
const lines: LogLine[] = []
const secrets: string[] = []

let gateway: Scenario
let url: string

function valuesOf(answer: WireAnswer): Record<string, unknown> {
  return JSON.parse(answer.text) as Record<string, unknown>
}

function assertRefused(answer: WireAnswer, status: number, code: string): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal(valuesOf(answer)['code'], code)
  assert.equal(answer.headers['set-cookie'], undefined)
}

async function newToken(role: OperatorRole = 'owner', expires?: string) {
  const made = await createAdminToken(gateway.context, { name: `a ${role}`, role, expires })
  secrets.push(made.secret)
  return { id: made.key.id, token: made.secret }
}

async function newCode(): Promise<string> {
  const { code } = valueOf(await createSignInCode(gateway.context, {}))
  secrets.push(code)
  return code
}

/** A browser that has just signed in. */
async function open(role: OperatorRole = 'owner') {
  const { id, token } = await newToken(role)
  const browser = await openBrowser(url, { token })
  secrets.push(browser.cookie.split('=')[1] ?? '')
  return { ...browser, id, token }
}

describe('sessions', () => {
  before(async () => {
    gateway = await scenario({
      clock,
      settings: { max_failed_sign_ins: '0' },
      onLogLine: (line) => lines.push(line),
    })
    url = gateway.adminUrl
  })
  after(() => gateway.close())

  describe('signing in', () => {
    test('with a token sets a cookie that scripts and other sites do not get, and says whose it is', async () => {
      const { id, token } = await newToken('operator')
      const answer = await signIn(url, { token })
      assert.equal(answer.status, 200)
      assert.match(
        String(answer.headers['set-cookie']),
        /^turnpike_console=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
      )
      assert.equal(answer.headers['cache-control'], 'no-store')
      const shown = {
        token_id: id,
        token_name: 'a operator',
        role: 'operator',
        created_at: new Date(clock.now()).toISOString(),
        expires_at: new Date(clock.now() + 12 * 60 * minuteMs).toISOString(),
        idle_minutes: 30,
      }
      assert.deepEqual(valuesOf(answer), shown)
      const browser = browserWith(url, cookieOf(answer))
      assert.deepEqual(valuesOf(await browser.get('/session')), shown)
      assert.equal((await browser.get('/accounts')).status, 200)
      const [action] = await recentActions(gateway.context, { sessions: true })
      assert.deepEqual(
        [action?.action, action?.actor, action?.detail],
        ['session.create', id, { by: 'token' }],
      )
    })

    test('over https sets a cookie for this host and for https alone', async () => {
      const { token } = await newToken()
      const headers = { host: 'gateway.example', origin: 'https://gateway.example' }
      const answer = await signIn(url, { token }, headers)
      assert.match(
        String(answer.headers['set-cookie']),
        /^__Host-turnpike=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
      )
      const browser = browserWith(url, cookieOf(answer))
      assert.equal((await browser.get('/accounts', { host: 'gateway.example' })).status, 200)
    })

    test('with a link works once', async () => {
      const code = await newCode()
      const answers = await Promise.all([1, 2, 3].map(() => signIn(url, { code })))
      const statuses = answers.map(({ status }) => status).sort((left, right) => left - right)
      assert.deepEqual(statuses, [200, 401, 401])
      assertRefused(await signIn(url, { code }), 401, 'access.sign_in_code_invalid')
      const used = answers.find(({ status }) => status === 200)
      assert.ok(used !== undefined)
      assert.equal(valuesOf(used)['role'], 'owner')
    })

    test('with a link works for five minutes', async () => {
      const [early, late] = [await newCode(), await newCode()]
      clock.advance(5 * minuteMs - 1)
      assert.equal((await signIn(url, { code: early })).status, 200)
      clock.advance(1)
      assertRefused(await signIn(url, { code: late }), 401, 'access.sign_in_code_invalid')
    })

    test('with a link fails when its token has been revoked, and uses the next owner', async () => {
      const { context } = gateway
      const made = valueOf(await createSignInCode(context, {}))
      await revokeKey(context, { kind: 'admin', id: made.token_id })
      assertRefused(await signIn(url, { code: made.code }), 401, 'access.sign_in_code_invalid')
      const next = await newToken()
      const other = valueOf(await createSignInCode(context, {}))
      assert.notEqual(other.token_id, made.token_id)
      assert.equal((await signIn(url, { code: other.code })).status, 200)
      assert.equal((await signIn(url, { token: next.token })).status, 200)
    })

    test('fails without a valid proof', async () => {
      const { token } = await newToken()
      for (const [proof, status, code] of [
        [{ token: `${token}x` }, 401, 'access.credential_invalid'],
        [{ token: gateway.account.key }, 403, 'access.credential_wrong_kind'],
        [{ token: gateway.account.token }, 403, 'access.credential_wrong_kind'],
        [{ code: 'x'.repeat(43) }, 401, 'access.sign_in_code_invalid'],
        [{ code: token }, 401, 'access.sign_in_code_invalid'],
        [{}, 400, 'operations.invalid'],
        [{ token, code: 'x' }, 400, 'operations.invalid'],
        [{ token: 7 }, 400, 'operations.invalid'],
        [{ token, more: 1 }, 400, 'operations.invalid'],
        [{ token: 'x'.repeat(9_000) }, 413, 'http.body_too_large'],
      ] as const)
        assertRefused(await signIn(url, proof), status, code)
    })

    test('over plain http works for loopback names alone', async () => {
      const { token } = await newToken()
      const port = new URL(url).port
      for (const name of ['127.0.0.1', '127.8.9.1', 'localhost', '[::1]']) {
        const own = `${name}:${port}`
        const answer = await signIn(url, { token }, { host: own, origin: `http://${own}` })
        assert.equal(answer.status, 200, own)
      }
      // A name of another site that leads to this machine: DNS rebinding.
      for (const name of ['gateway.example', 'localhost.evil.example', '127.0.0.1.evil.example']) {
        const own = `${name}:${port}`
        const refused = await signIn(url, { token }, { host: own, origin: `http://${own}` })
        assertRefused(refused, 403, 'access.https_required')
        assert.ok(refused.text.includes(`ssh -L ${port}:127.0.0.1:${port} ${name}`), refused.text)
      }
      const browser = await openBrowser(url, { token })
      assertRefused(
        await browser.get('/accounts', { host: `evil.example:${port}` }),
        401,
        'access.credential_invalid',
      )
    })

    test('is refused to other pages, and to programs', async () => {
      const { token } = await newToken()
      for (const headers of [
        { origin: undefined },
        { origin: 'null' },
        { origin: 'https://evil.example' },
        { origin: 'http://127.0.0.1:1' },
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
      ])
        assertRefused(await signIn(url, { token }, headers), 403, 'access.cross_site_request')
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', undefined])
        assertRefused(
          await signIn(url, { token }, { 'content-type': type }),
          415,
          'http.unsupported_media_type',
        )
      assert.equal((await signIn(url, { token }, { 'sec-fetch-site': undefined })).status, 200)
    })

    test('makes a new session each time, and ends the one that the browser had', async () => {
      const first = await open()
      const planted = `turnpike_console=${'p'.repeat(43)}`
      const again = await signIn(url, { token: first.token }, { cookie: first.cookie })
      assert.notEqual(cookieOf(again), first.cookie)
      assertRefused(await first.get('/session'), 401, 'access.session_invalid')
      const over = await signIn(url, { token: first.token }, { cookie: planted })
      assert.notEqual(cookieOf(over), planted)
      assertRefused(await browserWith(url, planted).get('/session'), 401, 'access.session_invalid')
    })
  })

  describe('a session', () => {
    test('ends after 30 minutes in which no person has used it', async () => {
      const browser = await open()
      clock.advance(29 * minuteMs)
      assert.equal((await browser.get('/accounts')).status, 200)
      const background = { 'x-turnpike-console': 'background' }
      assert.equal((await browser.get('/accounts', background)).status, 200)
      clock.advance(minuteMs)
      assertRefused(await browser.get('/accounts'), 401, 'access.session_invalid')
    })

    test('goes on while a person uses it, for 12 hours', async () => {
      const browser = await open()
      const user = { 'x-turnpike-console': 'user' }
      for (let round = 0; round < 24; round++) {
        assert.equal((await browser.get('/accounts', user)).status, 200, `round ${round}`)
        clock.advance(30 * minuteMs - 1)
      }
      assert.equal((await browser.get('/accounts', user)).status, 200)
      clock.advance(24)
      assertRefused(await browser.get('/accounts', user), 401, 'access.session_invalid')
    })

    test('notes a use at most once a minute', async () => {
      const browser = await open()
      const user = { 'x-turnpike-console': 'user' }
      const lastUse = async (): Promise<unknown> => {
        const { items } = valuesOf(await browser.get('/sessions')) as { items: object[] }
        return (items[0] as { last_used_at: string }).last_used_at
      }
      const begun = await lastUse()
      clock.advance(minuteMs - 1)
      await browser.get('/accounts', user)
      assert.equal(await lastUse(), begun)
      clock.advance(1)
      await browser.get('/accounts', user)
      assert.equal(await lastUse(), new Date(clock.now()).toISOString())
    })

    test('still reads where its use cannot be written', async () => {
      const browser = await open()
      const { database } = gateway.context
      const isSqlite = database.dialect === 'sqlite'
      const refuseUses = isSqlite
        ? `CREATE TRIGGER no_use BEFORE UPDATE ON session BEGIN SELECT RAISE(ABORT, 'full'); END`
        : `CREATE FUNCTION refuse_use() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'full'; END $$;
           CREATE TRIGGER no_use BEFORE UPDATE ON session EXECUTE FUNCTION refuse_use()`
      await database.transact((transaction) => transaction.script(refuseUses))
      clock.advance(minuteMs)
      const answer = await browser.get('/accounts', { 'x-turnpike-console': 'user' })
      await database.query(`DROP TRIGGER no_use${isSqlite ? '' : ' ON session'}`)
      assert.equal(answer.status, 200, answer.text)
    })

    test('ends by signing out, and leaves the other sessions', async () => {
      const browser = await open()
      const other = await openBrowser(url, { token: browser.token })
      const out = await browser.change('DELETE', '/session')
      assert.deepEqual([out.status, valuesOf(out)], [200, { ended: 1 }])
      assert.match(String(out.headers['set-cookie']), /turnpike_console=; .*Max-Age=0/)
      assertRefused(await browser.get('/accounts'), 401, 'access.session_invalid')
      assert.equal((await other.get('/accounts')).status, 200)
      const untyped = await browser.change('DELETE', '/session', undefined, {
        'content-type': undefined,
      })
      assertRefused(untyped, 401, 'access.session_invalid')
      const [action] = await recentActions(gateway.context, { sessions: true })
      assert.deepEqual([action?.action, action?.actor], ['session.end', browser.id])
    })

    test('ends with all others of its token by signing out everywhere', async () => {
      const browser = await open()
      const other = await openBrowser(url, { token: browser.token })
      const stranger = await open()
      const { items } = valuesOf(await browser.get('/sessions')) as {
        items: { current: boolean }[]
      }
      assert.deepEqual([items.length, items.filter(({ current }) => current).length], [2, 1])
      const out = await browser.change('DELETE', '/sessions')
      assert.deepEqual([out.status, valuesOf(out)], [200, { ended: 2 }])
      for (const one of [browser, other])
        assertRefused(await one.get('/accounts'), 401, 'access.session_invalid')
      assert.equal((await stranger.get('/accounts')).status, 200)
      const [action] = await recentActions(gateway.context, { sessions: true })
      assert.deepEqual([action?.action, action?.detail], ['session.end-all', { ended: 2 }])
    })

    test('ends when its token is revoked or expires', async () => {
      const browser = await open()
      await revokeKey(gateway.context, { kind: 'admin', id: browser.id })
      assertRefused(await browser.get('/accounts'), 401, 'access.session_invalid')
      const soon = new Date(clock.now() + 5 * minuteMs).toISOString()
      const { token } = await newToken('owner', soon)
      const brief = await openBrowser(url, { token })
      assert.equal(valuesOf(await brief.get('/session'))['expires_at'], soon)
      clock.advance(5 * minuteMs)
      assertRefused(await brief.get('/accounts'), 401, 'access.session_invalid')
    })

    test('is one of 20 of a token: the oldest ends', async () => {
      const first = await open()
      for (let count = 0; count < 20; count++) {
        clock.advance(1)
        await openBrowser(url, { token: first.token })
      }
      assertRefused(await first.get('/session'), 401, 'access.session_invalid')
      const newest = await openBrowser(url, { token: first.token })
      const { items } = valuesOf(await newest.get('/sessions')) as { items: object[] }
      assert.equal(items.length, 20)
    })

    test('may do what its role may do', async () => {
      for (const role of operatorRoles) {
        const browser = await open(role)
        const mayCreate = role !== 'viewer'
        const made = await browser.change('POST', '/accounts', { name: `made by ${role}` })
        assert.equal(made.status, mayCreate ? 201 : 403)
        const owned = await browser.change('POST', '/admin-tokens', { role: 'viewer' })
        assert.equal(owned.status, role === 'owner' ? 201 : 403)
        if (!mayCreate) continue
        const actions = await recentActions(gateway.context)
        assert.equal(actions.find(({ action }) => action === 'account.create')?.actor, browser.id)
      }
    })

    test('that has ended leaves no row behind the next sign-in', async () => {
      await open()
      clock.advance(31 * minuteMs)
      await open()
      const rows = await gateway.context.database.query('SELECT * FROM session')
      assert.equal(rows.length, 1)
    })
  })

  describe('a cookie', () => {
    test('changes something only from the console itself', async () => {
      const browser = await open()
      const create = (headers: Record<string, string | undefined>): Promise<WireAnswer> =>
        browser.change('POST', '/admin-tokens', { role: 'viewer' }, headers)
      for (const headers of [
        { 'sec-fetch-site': 'cross-site' },
        { 'sec-fetch-site': 'same-site' },
        { 'sec-fetch-site': 'none' },
        { 'sec-fetch-site': undefined, origin: undefined },
        { 'sec-fetch-site': undefined, origin: 'null' },
        { 'sec-fetch-site': undefined, origin: 'http://127.0.0.1:1' },
        { 'x-turnpike-console': undefined },
        { 'x-turnpike-console': 'yes' },
      ])
        assertRefused(await create(headers), 403, 'access.cross_site_request')
      for (const type of [undefined, 'text/plain', 'application/jsonp', 'multipart/form-data'])
        assertRefused(await create({ 'content-type': type }), 415, 'http.unsupported_media_type')
      for (const [method, path] of [
        ['DELETE', '/session'],
        ['DELETE', '/sessions'],
        ['PATCH', '/accounts/none'],
        ['PUT', '/catalogue'],
        ['POST', '/doctor'],
      ] as const) {
        const cross = { 'sec-fetch-site': 'cross-site' }
        const refused = await browser.change(method, path, undefined, cross)
        assertRefused(refused, 403, 'access.cross_site_request')
        const untyped = await browser.change(method, path, undefined, { 'content-type': undefined })
        assertRefused(untyped, 415, 'http.unsupported_media_type')
      }
      for (const headers of [
        {},
        { 'sec-fetch-site': undefined },
        { origin: undefined },
        { 'x-turnpike-console': 'background' },
        { 'content-type': 'application/json; charset=utf-8' },
      ])
        assert.equal((await create(headers)).status, 201, JSON.stringify(headers))
    })

    test('reads nothing for a page of another origin', async () => {
      const browser = await open()
      for (const site of ['cross-site', 'same-site'])
        assertRefused(
          await browser.get('/accounts', { 'sec-fetch-site': site }),
          403,
          'access.cross_site_request',
        )
      assert.equal((await browser.get('/accounts', { 'sec-fetch-site': 'none' })).status, 200)
    })

    test('means nothing outside the admin API, and beside a token', async () => {
      const browser = await open()
      const { cookie } = browser
      for (const path of ['/metrics', '/admin', '/admin/v10/accounts', '/other'])
        assert.equal((await send(url + path, { headers: { cookie } })).status, 401, path)
      for (const path of ['/v1/usage', '/alpha/v1/models'])
        assert.equal((await send(gateway.url + path, { headers: { cookie } })).status, 401, path)
      const viewer = await newToken('viewer')
      const both = { authorization: `Bearer ${viewer.token}` }
      const asViewer = await browser.change('POST', '/accounts', { name: 'no' }, both)
      assertRefused(asViewer, 403, 'access.role_insufficient')
      for (const wrong of ['Bearer wrong', 'Basic x', ''])
        assertRefused(
          await browser.get('/accounts', { authorization: wrong }),
          401,
          'access.credential_invalid',
        )
    })

    test('that is forged, doubled or for another kind of address is refused', async () => {
      const { cookie } = await open()
      const value = cookie.split('=')[1] ?? ''
      for (const forged of [
        `turnpike_console=${'A'.repeat(43)}`,
        `turnpike_console=${value.slice(1)}`,
        'turnpike_console=',
        `${cookie}; ${cookie}`,
        `turnpike_consoleX=${value}`,
      ]) {
        const answer = await browserWith(url, forged).get('/accounts')
        assert.equal(answer.status, 401, forged)
      }
      const beside = await browserWith(url, `theme=dark; ${cookie}; x="y"`).get('/accounts')
      assert.equal(beside.status, 200)
    })

    test('is looked for without one: that is no refusal', async () => {
      const answer = await send(`${url}/admin/v1/session`, {})
      assert.deepEqual([answer.status, answer.body.length], [204, 0])
    })

    test('is no session for a program: a token has none', async () => {
      const { token } = await newToken()
      const headers = { authorization: `Bearer ${token}` }
      for (const method of ['GET', 'DELETE'])
        assertRefused(
          await send(`${url}/admin/v1/session`, { method, headers }),
          404,
          'operations.not_found',
        )
      const refused = await send(`${url}/admin/v1/session`, { method: 'PUT', headers })
      assert.deepEqual([refused.status, refused.headers['allow']], [405, 'GET, HEAD, POST, DELETE'])
    })

    test('opens downloads: streams, and a copy of the store', async () => {
      const browser = await open()
      const account = gateway.account.name
      const statement = await browser.get(`/accounts/${account}/statement?format=csv`)
      assert.equal(statement.status, 200)
      assert.match(String(statement.headers['content-type']), /^text\/csv/)
      const { dialect } = gateway.context.database
      const backup = await browser.get('/backup')
      assert.equal(backup.status, dialect === 'sqlite' ? 200 : 409)
    })

    test('opens the live feed, which ends with the session and does not keep it alive', async () => {
      const browser = await open()
      const headers = { cookie: browser.cookie, 'x-turnpike-console': 'user' }
      const feed = await openEvents(`${url}/admin/v1/events`, headers)
      assert.equal(feed.status, 200)
      let isOver = false
      const ended = feed.ended.then((isComplete) => {
        isOver = true
        return isComplete
      })
      clock.advance(29 * minuteMs)
      const startedMs = clock.monotonic()
      // The feed looks at the session once a second, and reads from the store for it.
      await eventually(
        'the end of the feed',
        async () => {
          clock.advance(1_000)
          await send(`${url}/livez`)
          return isOver
        },
        (hasEnded) => hasEnded,
      )
      const lastMinuteMs = clock.monotonic() - startedMs
      assert.equal(await ended, true)
      assert.ok(lastMinuteMs >= minuteMs, `ended after 29 minutes and ${lastMinuteMs} ms`)
      assertRefused(await browser.get('/session'), 401, 'access.session_invalid')
    })
  })

  test('no log line has a token, a code or what a cookie holds', () => {
    assert.ok(secrets.length > 20 && lines.length > 20)
    const text = JSON.stringify(lines)
    for (const secret of secrets) assert.ok(!text.includes(secret))
  })

  test('failed sign-ins of an address are bounded, by token, link and cookie alike', async () => {
    const limited = await scenario({ settings: { max_failed_sign_ins: '6' } })
    try {
      const { adminUrl } = limited
      const wrong = [
        () => signIn(adminUrl, { token: 'ad_wrong' }),
        () => signIn(adminUrl, { code: 'x'.repeat(43) }),
        () => browserWith(adminUrl, `turnpike_console=${'x'.repeat(43)}`).get('/accounts'),
      ]
      for (const attempt of [...wrong, ...wrong]) assert.equal((await attempt()).status, 401)
      for (const attempt of wrong)
        assertRefused(await attempt(), 429, 'access.too_many_failed_sign_ins')
      const { secret } = await createAdminToken(limited.context, { name: 'right' })
      assert.equal((await signIn(adminUrl, { token: secret })).status, 200)
    } finally {
      await limited.close()
    }
  })
})
