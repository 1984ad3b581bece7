/**
 * Signing in by mail over a real mail server: a link works once, in the browser that asked for it, until a
 * newer one; no answer says whether an address exists. sign-in-on-postgres.test.ts runs it on PostgreSQL.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import type { WireAnswer } from '../support/http-client.ts'
import { startMailServer, type MailServer } from '../support/mail-server.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { codeIn, MemberBrowser, publicUrl, valueOf } from '../support/member-browser.ts'
import { inviteMember } from '../support/members.ts'
import { createAccount, recentActions } from '../support/operations.ts'
import { makeSecret } from '../../src/access/key.ts'
import { createCodes } from '../../src/operations/codes/codes.ts'
import { valueOf as valueOfOutcome } from '../../src/operations/operation.ts'
import { removeMember } from '../../src/operations/members/members.ts'
import { findFreePort } from '../support/postgres.ts'
import { scenario, type LogLine, type Scenario } from '../support/scenario.ts'

const minuteMs = 60_000
const clock = new ManualClock()
const lines: LogLine[] = []
const secrets: string[] = []
let mailServer: MailServer
let gateway: Scenario
let account: string
let email: string
let count = 0

function assertRefused(answer: WireAnswer, status: number, type: string): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal((valueOf(answer)['error'] as { type: string }).type, type)
}

/** Asks for a link, and waits for its mail. */
async function askForLink(browser: MemberBrowser, address = email): Promise<string> {
  const asked = await browser.call('POST', '/sign-in', { email: address })
  assert.equal(asked.status, 202, asked.text)
  const newCode = (): string | undefined =>
    mailServer
      .mails()
      .filter((mail) => mail.includes(address))
      .map((mail) => codeIn(mail) ?? '')
      .find((code) => code !== '' && !secrets.includes(code))
  const look = async (): Promise<string> => {
    await browser.call('GET', '/session')
    return newCode() ?? ''
  }
  const code = await eventually('the mail', look, (found) => found !== '')
  secrets.push(code, ...browser.cookies.values())
  return code
}

const newBrowser = (): MemberBrowser => new MemberBrowser(gateway.url)

async function signIn(address = email): Promise<MemberBrowser> {
  const browser = newBrowser()
  const begun = await browser.call('POST', '/session', { code: await askForLink(browser, address) })
  assert.equal(begun.status, 200, begun.text)
  secrets.push(...browser.cookies.values())
  return browser
}

describe('signing in by mail', () => {
  before(async () => {
    const port = await findFreePort()
    mailServer = await startMailServer(port)
    gateway = await scenario({
      clock,
      onLogLine: (line) => lines.push(line),
      settings: {
        public_url: publicUrl,
        smtp: `smtp://127.0.0.1:${port}`,
        smtp_from: 'turnpike@example.com',
        max_failed_sign_ins: '0',
        cors_origins: '*',
      },
    })
  })

  after(async () => {
    await gateway.close()
    await mailServer.close()
  })

  beforeEach(async () => {
    account = `acme-${++count}`
    email = `ann-${count}@acme.example`
    await createAccount(gateway.context, { name: account })
    await inviteMember(gateway.context, { account, email })
  })

  test('begins a session for the member, and only the button uses the link', async () => {
    const browser = newBrowser()
    assert.equal((await browser.call('GET', '/session')).status, 204)
    const code = await askForLink(browser)
    const begun = valueOf(await browser.call('POST', '/session', { code }))
    const shown = valueOf(await browser.call('GET', '/session'))
    assert.deepEqual(begun, { session: shown, code: null, accounts: [] })
    assert.deepEqual([shown['email'], shown['role']], [email, 'owner'])
    assert.deepEqual([...browser.cookies.keys()], ['__Host-turnpike-member'])
    const [action] = await recentActions(gateway.context, { sessions: true })
    assert.deepEqual(
      [action?.action, action?.actor, action?.actor_name],
      ['member.sign-in', shown['member_id'], email],
    )
    assert.equal((await browser.call('DELETE', '/session')).status, 200)
    assert.equal((await browser.call('GET', '/session')).status, 204)
  })

  test('lets an owner redeem a code once, bounds wrong codes, and says where no payment is taken', async () => {
    const { codes } = valueOfOutcome(
      await createCodes(gateway.context, { amount_usd: '7', count: 2 }),
    )
    const browser = await signIn()
    for (const repeated of [false, true]) {
      const redeemed = await browser.call('POST', '/codes', { code: codes[0] })
      assert.equal(redeemed.status, 200, redeemed.text)
      const { amount_usd: amount, balance_usd: balance, repeated: again } = valueOf(redeemed)
      assert.deepEqual([amount, balance, again], ['7', '7', repeated])
    }
    const [action] = await recentActions(gateway.context, { action: 'account.credit' })
    assert.match(action?.actor ?? '', /^mem_/)
    assertRefused(
      await browser.call('POST', '/checkout', { amount_usd: '7' }),
      409,
      'operations.conflict',
    )
    for (let index = 0; index < 10; index++) {
      const wrong = await browser.call('POST', '/codes', { code: makeSecret('code') })
      assertRefused(wrong, 404, 'operations.not_found')
    }
    const closed = await browser.call('POST', '/codes', { code: codes[1] })
    assertRefused(closed, 429, 'access.too_many_wrong_codes')
    assert.ok(Number(closed.headers['retry-after']) > 0)
    clock.advance(10 * minuteMs)
    assert.equal((await browser.call('POST', '/codes', { code: codes[1] })).status, 200)
  })

  test('sets cookies that scripts and other sites do not get', async () => {
    const browser = newBrowser()
    const asked = await browser.call('POST', '/sign-in', { email })
    assert.match(
      asked.headers['set-cookie']?.[0] ?? '',
      /^__Host-turnpike-sign-in=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=900$/,
    )
    const { headers } = asked
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['access-control-allow-origin'], undefined)
  })

  test('refuses a link that was used, that another browser asked for, or that a newer one replaced', async () => {
    const browser = newBrowser()
    const first = await askForLink(browser)
    const stranger = newBrowser()
    assertRefused(
      await stranger.call('POST', '/session', { code: first }),
      401,
      'access.sign_in_link_invalid',
    )
    await stranger.call('POST', '/sign-in', { email: 'nobody@nowhere.example' })
    assertRefused(
      await stranger.call('POST', '/session', { code: first }),
      401,
      'access.sign_in_link_invalid',
    )
    const kept = new Map(browser.cookies)
    const second = await askForLink(browser)
    const replaced = newBrowser()
    for (const [name, value] of kept) replaced.cookies.set(name, value)
    for (const [who, code] of [
      [browser, first],
      [replaced, first],
      [replaced, second],
    ] as const)
      assertRefused(
        await who.call('POST', '/session', { code }),
        401,
        'access.sign_in_link_invalid',
      )
    const before = new Map(browser.cookies)
    assert.equal((await browser.call('POST', '/session', { code: second })).status, 200)
    for (const [name, value] of before) browser.cookies.set(name, value)
    assertRefused(
      await browser.call('POST', '/session', { code: second }),
      401,
      'access.sign_in_link_invalid',
    )
  })

  test('lets one of two uses at the same moment win', async () => {
    const browser = newBrowser()
    const code = await askForLink(browser)
    const answers = await Promise.all(
      [1, 2, 3].map(() => browser.call('POST', '/session', { code })),
    )
    const statuses = answers.map(({ status }) => status)
    assert.deepEqual(
      statuses.sort((left, right) => left - right),
      [200, 401, 401],
    )
  })

  test('refuses a link after 15 minutes, and of a member who is removed', async () => {
    const browser = newBrowser()
    const code = await askForLink(browser)
    clock.advance(15 * minuteMs)
    assertRefused(
      await browser.call('POST', '/session', { code }),
      401,
      'access.sign_in_link_invalid',
    )
    const invited = await inviteMember(gateway.context, {
      account,
      email: `bob-${count}@acme.example`,
      role: 'member',
    })
    const later = await askForLink(browser, invited.email)
    await removeMember(gateway.context, { member: invited.id })
    assertRefused(
      await browser.call('POST', '/session', { code: later }),
      401,
      'access.sign_in_link_invalid',
    )
  })

  test('answers alike for an unknown address, and mails nothing', async () => {
    const mails = mailServer.mails().length
    const known = await newBrowser().call('POST', '/sign-in', { email })
    const unknown = await newBrowser().call('POST', '/sign-in', { email: 'no@acme.example' })
    assert.equal(unknown.status, known.status)
    assert.deepEqual({ ...valueOf(unknown), email: '' }, { ...valueOf(known), email: '' })
    // A mail to another address is sent after those that were asked for before.
    const other = `eve-${count}@acme.example`
    await inviteMember(gateway.context, { account, email: other })
    await signIn(other)
    const all = mailServer.mails()
    assert.ok(all.length > mails)
    assert.ok(all.every((mail) => !mail.includes('no@acme.example')))
  })

  test('mails five links to an address in 15 minutes, however often it is asked', async () => {
    const mailsTo = (): number => mailServer.mails().filter((mail) => mail.includes(email)).length
    const browser = newBrowser()
    for (let index = 0; index < 5; index++) await askForLink(browser)
    for (let index = 0; index < 20; index++) await browser.call('POST', '/sign-in', { email })
    // A mail to another address is sent after those that were asked for before.
    const other = `carl-${count}@acme.example`
    await inviteMember(gateway.context, { account, email: other })
    await askForLink(browser, other)
    assert.equal(mailsTo(), 5)
    clock.advance(15 * minuteMs)
    await askForLink(browser)
  })

  test('lets the member of several accounts choose, and no other account', async () => {
    const second = `second-${count}`
    const { id } = await createAccount(gateway.context, { name: second })
    await inviteMember(gateway.context, { account: second, email, role: 'member' })
    const other = await createAccount(gateway.context, { name: `other-${count}` })
    const browser = newBrowser()
    const code = await askForLink(browser)
    const asked = valueOf(await browser.call('POST', '/session', { code }))
    assert.equal(asked['session'], null)
    const choices = asked['accounts'] as { id: string; name: string; role: string }[]
    assert.deepEqual(
      new Map(choices.map(({ name, role }) => [name, role])),
      new Map([
        [account, 'owner'],
        [second, 'member'],
      ]),
    )
    for (const wrong of [other.id, other.name, second, 'acc_none'])
      assertRefused(
        await browser.call('POST', '/session', { code, account: wrong }),
        400,
        'operations.invalid',
      )
    const begun = valueOf(await browser.call('POST', '/session', { code, account: id }))
    const session = begun['session'] as { role: string; account: { name: string } }
    assert.deepEqual([session.role, session.account.name], ['member', second])
  })

  test('takes requests of the account page only', async () => {
    const browser = await signIn()
    const create = (changed: Record<string, string | undefined>) =>
      browser.call('POST', '/keys', { name: 'x' }, changed)
    for (const changed of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'none' },
      { origin: undefined },
      { origin: 'null' },
      { origin: 'https://gateway.example.evil.example' },
      { 'x-turnpike-account': undefined },
      { 'x-turnpike-account': 'yes' },
    ])
      assertRefused(await create(changed), 403, 'access.cross_site_request')
    for (const type of [undefined, 'text/plain', 'multipart/form-data'])
      assertRefused(await create({ 'content-type': type }), 415, 'http.unsupported_media_type')
    for (const path of ['/keys', '/usage/account', '/session'])
      assertRefused(
        await browser.call('GET', path, undefined, { 'sec-fetch-site': 'same-site' }),
        403,
        'access.cross_site_request',
      )
    const preflight = await browser.call('OPTIONS', '/keys', undefined, {
      origin: 'https://evil.example',
      'access-control-request-method': 'POST',
    })
    assert.equal(preflight.status, 405)
    assert.equal(preflight.headers['access-control-allow-origin'], undefined)
    assert.equal((await create({ 'sec-fetch-site': undefined })).status, 201)
  })

  test('refuses what is no session, and bodies that are too large or no JSON', async () => {
    const forged = newBrowser()
    forged.cookies.set('__Host-turnpike-member', 'A'.repeat(43))
    assertRefused(await forged.call('GET', '/keys'), 401, 'access.session_invalid')
    const browser = await signIn()
    const [[name = '', value = ''] = []] = browser.cookies
    forged.cookies.clear()
    forged.cookies.set('turnpike_member', value)
    assertRefused(await forged.call('GET', '/keys'), 401, 'access.session_invalid')
    forged.cookies.clear()
    forged.cookies.set(name, `${value}; ${name}=${value}`)
    assertRefused(await forged.call('GET', '/keys'), 401, 'access.session_invalid')
    assertRefused(
      await browser.call('POST', '/keys', { name: 'x'.repeat(70_000) }),
      413,
      'http.body_too_large',
    )
    assertRefused(await browser.call('POST', '/keys', [1]), 400, 'operations.invalid')
    const wrong = await browser.call('POST', '/keys', { account: 'acc_other', name: 'x' })
    assertRefused(wrong, 400, 'operations.invalid')
    const { fields } = valueOf(wrong)['error'] as { fields: { field: string }[] }
    assert.deepEqual(
      fields.map(({ field }) => field),
      ['account'],
    )
  })

  test('ends by signing out everywhere, after 30 minutes without use, and after 12 hours', async () => {
    const browser = await signIn()
    const other = await signIn()
    const { items } = valueOf(await browser.call('GET', '/sessions')) as { items: object[] }
    assert.equal(items.length, 2)
    assert.deepEqual(valueOf(await browser.call('DELETE', '/sessions')), { ended: 2 })
    for (const one of [browser, other])
      assertRefused(await one.call('GET', '/keys'), 401, 'access.session_invalid')
    const idle = await signIn()
    clock.advance(30 * minuteMs)
    assertRefused(await idle.call('GET', '/keys'), 401, 'access.session_invalid')
    const used = await signIn()
    for (let minutes = 0; minutes < 12 * 60; minutes += 20) {
      assert.equal((await used.call('GET', '/keys')).status, 200)
      clock.advance(20 * minuteMs)
    }
    assertRefused(await used.call('GET', '/keys'), 401, 'access.session_invalid')
  })

  test('no log line and no row has a code or what a cookie holds', async () => {
    assert.ok(secrets.length > 20 && lines.length > 5)
    const tables = ['member', 'member_session', 'sign_in_link', 'operator_action'] as const
    const rows = await Promise.all(
      tables.map((table) => gateway.context.database.query(`SELECT * FROM ${table}`)),
    )
    const text = JSON.stringify([lines, rows], (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    for (const secret of secrets) assert.ok(!text.includes(secret))
  })
})

test('without public_url nothing of it is served', async () => {
  const plain = await scenario()
  try {
    const answer = await new MemberBrowser(plain.url).call('GET', '/session')
    assertRefused(answer, 404, 'http.not_found')
  } finally {
    await plain.close()
  }
})

test('asking for links is bounded by address of the client', async () => {
  const limited = await scenario({ settings: { public_url: publicUrl, max_failed_sign_ins: '3' } })
  try {
    const browser = new MemberBrowser(limited.url)
    for (let index = 0; index < 3; index++)
      assertRefused(
        await browser.call('POST', '/sign-in', { email: 'a@b.example' }),
        409,
        'operations.conflict',
      )
    const more = await browser.call('POST', '/sign-in', { email: 'a@b.example' })
    assertRefused(more, 429, 'access.too_many_failed_sign_ins')
  } finally {
    await limited.close()
  }
})
