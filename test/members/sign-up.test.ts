/**
 * Sign-up over a real mail server: a link makes one account, whatever races, and no answer says whether an
 * address exists. Calls go to two gateways in turn on PostgreSQL: sign-up-on-postgres.long.test.ts.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { hashSecret } from '../../src/access/key.ts'
import type { Mail } from '../../src/operations/alerts/mailer.ts'
import { createCodes, readCodes } from '../../src/operations/codes/codes.ts'
import { SignInMails } from '../../src/operations/members/sign-in-mails.ts'
import { valueOf as valueOfOutcome } from '../../src/operations/operation.ts'
import { eventually } from '../support/eventually.ts'
import { post, type WireAnswer } from '../support/http-client.ts'
import { startMailServer, type MailServer } from '../support/mail-server.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { codeIn, MemberBrowser, publicUrl, valueOf } from '../support/member-browser.ts'
import { inviteMember, mailingInto } from '../support/members.ts'
import {
  createAccount,
  creditAccount,
  limitAccount,
  listAccounts,
  recentActions,
  showAccount,
} from '../support/operations.ts'
import { findFreePort } from '../support/postgres.ts'
import { messagesPath, messagesRequest } from '../support/requests.ts'
import { failoverDefaults, scenario, type Scenario } from '../support/scenario.ts'
import { isOnPostgres } from '../support/test-store.ts'

const minuteMs = 60_000
const clock = new ManualClock()
let mailServer: MailServer
let smtpPort: number
let gateways: readonly Scenario[]
let gateway: Scenario
let count = 0

const settings = () => ({
  public_url: publicUrl,
  smtp: `smtp://127.0.0.1:${smtpPort}`,
  smtp_from: 'turnpike@example.com',
  max_failed_sign_ins: '0',
  sign_up: 'open',
})

/** Two on PostgreSQL, and one that stands for both on SQLite. */
async function openGateways(changed: object = {}): Promise<readonly Scenario[]> {
  const options = { ...failoverDefaults, clock, settings: { ...settings(), ...changed } }
  const first = await scenario(options)
  if (!isOnPostgres()) return [first, first]
  const { storeUrl, account } = first
  return [first, await scenario({ ...options, storeUrl, fill: () => Promise.resolve(account) })]
}

async function closeGateways(opened: readonly Scenario[]): Promise<void> {
  for (const one of new Set(opened)) await one.close()
}

function assertRefused(answer: WireAnswer, status: number, type: string): void {
  assert.equal(answer.status, status, answer.text)
  assert.equal((valueOf(answer)['error'] as { type: string }).type, type)
}

const newAddress = (domain = 'new.example'): string => `person-${++count}@${domain}`
const newBrowser = (of = gateway): MemberBrowser => new MemberBrowser(of.url)
const mailsTo = (email: string): readonly string[] =>
  mailServer.mails().filter((mail) => mail.includes(email))

/** Asks for an account, and returns the code of the newest mail. */
async function ask(browser: MemberBrowser, email: string, input: object = {}): Promise<string> {
  const before = mailsTo(email).map(codeIn)
  const asked = await browser.call('POST', '/sign-up', { email, ...input })
  assert.equal(asked.status, 202, asked.text)
  return newCode(browser, email, before)
}

async function newCode(
  browser: MemberBrowser,
  email: string,
  before: readonly (string | undefined)[] = [],
): Promise<string> {
  const look = async (): Promise<readonly string[]> => {
    await browser.call('GET', '/session')
    return mailsTo(email)
      .flatMap((mail) => codeIn(mail) ?? [])
      .filter((code) => !before.includes(code))
  }
  const [code = ''] = await eventually('the mail', look, (codes) => codes.length > 0)
  return code
}

const confirm = (browser: MemberBrowser, code: string, name: string): Promise<WireAnswer> =>
  browser.call('POST', '/session', { code, name })

const statusesOf = (answers: readonly WireAnswer[]): readonly number[] =>
  answers.map(({ status }) => status).sort((left, right) => left - right)

/** The same browser at the other gateway. */
function atOther(browser: MemberBrowser): MemberBrowser {
  const other = newBrowser(gateways[1])
  for (const [name, value] of browser.cookies) other.cookies.set(name, value)
  return other
}

async function accountsNamed(part: string) {
  return (await listAccounts(gateway.context, { name_contains: part })).items
}

async function makeCode(usd: string, of = gateway) {
  const { batch, codes } = valueOfOutcome(
    await createCodes(of.context, { amount_usd: usd, count: 1 }),
  )
  return { id: batch.id, code: codes[0] ?? '' }
}

describe('signing up', () => {
  before(async () => {
    smtpPort = await findFreePort()
    mailServer = await startMailServer(smtpPort)
    gateways = await openGateways()
    gateway = gateways[0] as Scenario
  })
  after(async () => {
    await closeGateways(gateways)
    await mailServer.close()
  })

  test('makes an account and its first owner, only by the button', async () => {
    const browser = newBrowser()
    const email = newAddress()
    const code = await ask(browser, email, { email: ` ${email.toUpperCase()} ` })
    assert.match(mailsTo(email)[0] ?? '', /view=3Dsign-up#|view=sign-up#/)
    assert.deepEqual(await accountsNamed('northwind'), [])
    const confirmed = await browser.call('POST', '/session', {
      code,
      name: ' northwind ',
      language: 'zh-CN',
    })
    assert.equal(confirmed.status, 200, confirmed.text)
    const session = valueOf(await browser.call('GET', '/session'))
    assert.deepEqual(valueOf(confirmed), { session, code: null, accounts: [] })
    assert.deepEqual([session['email'], session['role']], [email, 'owner'])
    const [account] = await accountsNamed('northwind')
    assert.deepEqual(
      [account?.contact, account?.language, account?.balance_usd, account?.has_paid],
      [email, 'zh-CN', '0', false],
    )
    const [made] = await recentActions(gateway.context, { action: 'account.sign-up' })
    assert.deepEqual(
      [made?.actor, made?.actor_name, made?.subject_name],
      [session['member_id'], email, 'northwind'],
    )
    const { items } = valueOf(await browser.call('GET', '/activity')) as {
      items: { action: string; email: string }[]
    }
    assert.deepEqual(
      items.map(({ action }) => action),
      ['member.sign-in', 'account.sign-up'],
    )
  })

  test('lets one of many confirmations at once make one account', async () => {
    const browser = newBrowser()
    const code = await ask(browser, newAddress())
    const browsers = [browser, atOther(browser), browser, atOther(browser)]
    const answers = await Promise.all(browsers.map((one) => confirm(one, code, 'raced')))
    assert.deepEqual(statusesOf(answers), [200, 401, 401, 401])
    assert.equal((await accountsNamed('raced')).length, 1)
  })

  test('lets one of two people with one code have it, and leaves the other without an account', async () => {
    const { id, code: invitation } = await makeCode('5')
    const people = [newBrowser(), newBrowser(gateways[1])]
    const codes: string[] = []
    for (const one of people) codes.push(await ask(one, newAddress(), { code: invitation }))
    const answers = await Promise.all(
      people.map((one, index) => confirm(one, codes[index] ?? '', `coded ${index}`)),
    )
    assert.deepEqual(statusesOf(answers), [200, 409])
    const [account, ...others] = await accountsNamed('coded')
    assert.deepEqual([account?.balance_usd, account?.has_paid, others], ['5', true, []])
    const { items } = valueOfOutcome(await readCodes(gateway.context, { id }))
    assert.deepEqual([items[0]?.state, items[0]?.account_id], ['redeemed', account?.id])
    const late = await newBrowser().call('POST', '/sign-up', {
      email: newAddress(),
      code: invitation,
    })
    assertRefused(late, 409, 'operations.conflict')
  })

  test('refuses a link after 15 minutes, in another browser, and after a newer one', async () => {
    const browser = newBrowser()
    const email = newAddress()
    const refused = async (one: MemberBrowser, code: string): Promise<void> =>
      assertRefused(await confirm(one, code, 'refused'), 401, 'access.sign_in_link_invalid')
    const first = await ask(browser, email)
    const stranger = newBrowser()
    await stranger.call('POST', '/sign-up', { email: newAddress() })
    await refused(stranger, first)
    const kept = atOther(browser)
    const second = await ask(browser, email)
    await refused(kept, first)
    await refused(browser, first)
    clock.advance(15 * minuteMs)
    await refused(browser, second)
    assert.deepEqual(await accountsNamed('refused'), [])
  })

  test('signs in who has become a member meanwhile, and asks for a name otherwise', async () => {
    const browser = newBrowser()
    const email = newAddress()
    const code = await ask(browser, email)
    assertRefused(await browser.call('POST', '/session', { code }), 400, 'operations.invalid')
    const { name } = await createAccount(gateway.context, { name: 'meanwhile' })
    await inviteMember(gateway.context, { account: name, email, role: 'member' })
    const { session } = valueOf(await confirm(browser, code, 'not made')) as {
      session: { role: string; account: { name: string } }
    }
    assert.deepEqual([session.role, session.account.name], ['member', name])
    assert.deepEqual(await accountsNamed('not made'), [])
  })

  test('answers alike for a member, whose mail signs in and leaves the code', async () => {
    const email = newAddress()
    await createAccount(gateway.context, { name: 'known' })
    await inviteMember(gateway.context, { account: 'known', email })
    const { id, code: invitation } = await makeCode('3')
    const browser = newBrowser()
    const asked = (one: MemberBrowser, of: string) =>
      one.call('POST', '/sign-up', { email: of, code: invitation })
    const known = await asked(browser, email)
    const unknown = await asked(newBrowser(), newAddress())
    assert.equal(known.status, unknown.status)
    const shape = (answer: WireAnswer) => [
      Object.keys(answer.headers).sort(),
      { ...valueOf(answer), email: '' },
      answer.headers['set-cookie']?.[0]?.replace(/=[\w-]{43};/, '=…;'),
    ]
    assert.deepEqual(shape(known), shape(unknown))
    const code = await newCode(browser, email)
    assert.match(mailsTo(email)[0] ?? '', /view=3Dsign-in#|view=sign-in#/)
    assert.equal((await confirm(browser, code, 'a second one')).status, 200)
    assert.deepEqual(await accountsNamed('a second one'), [])
    const { items } = valueOfOutcome(await readCodes(gateway.context, { id }))
    assert.equal(items[0]?.state, 'open')
  })

  test('gives a name that is taken an end, so that no refusal names a customer', async () => {
    const names: string[] = []
    for (let index = 0; index < 2; index++) {
      const browser = newBrowser()
      const confirmed = await confirm(browser, await ask(browser, newAddress()), 'x'.repeat(64))
      names.push((valueOf(confirmed)['session'] as { account: { name: string } }).account.name)
    }
    assert.equal(names[0], 'x'.repeat(64))
    assert.match(names[1] ?? '', /^x{57} [0-9a-z]{6}$/)
  })

  test('admits a new account by the most until its first credit', async () => {
    const browser = newBrowser()
    await confirm(browser, await ask(browser, newAddress()), 'unpaid')
    const { secret } = valueOf(await browser.call('POST', '/keys', { name: 'k' }))
    const send = (): Promise<WireAnswer> =>
      post(`${gateway.url}${messagesPath}`, String(secret), messagesRequest())
    // Above what such a request will usually cost, and below the most.
    const line = { account: 'unpaid', credit_line_usd: '0.005', holds: 'likely' }
    await limitAccount(gateway.context, line)
    await gateway.app.refresh()
    assert.equal((await send()).status, 402)
    const { code } = await makeCode('0.000001')
    assert.equal((await browser.call('POST', '/codes', { code })).status, 200)
    assert.equal((await showAccount(gateway.context, { account: 'unpaid' })).has_paid, true)
    assert.equal((await send()).status, 200)
  })

  test('1,000 tries in a minute send 200 mails to a domain and five to an address', async () => {
    const other = newAddress('member.example')
    await createAccount(gateway.context, { name: 'crowded' })
    await inviteMember(gateway.context, { account: 'crowded', email: other })
    const browser = newBrowser()
    const crowd = Array.from({ length: 50 }, (_, index) => `crowd-${index}@crowd.example`)
    for (let round = 0; round < 20; round++)
      await Promise.all(crowd.map((email) => browser.call('POST', '/sign-up', { email })))
    // Members of the domain still get their links.
    const member = 'member@crowd.example'
    await inviteMember(gateway.context, { account: 'crowded', email: member })
    await ask(browser, member)
    await ask(browser, other)
    const all = await eventually(
      'all mails',
      async () => {
        await browser.call('GET', '/session')
        return mailsTo('@crowd.example').filter((mail) => !mail.includes(member))
      },
      (mails) => mails.length >= 200,
    )
    assert.equal(all.length, 200)
    for (const email of crowd)
      assert.ok(all.filter((mail) => mail.includes(`${email}>`)).length <= 5, email)
  })

  test('sends 500 mails to all who sign up within 15 minutes', async () => {
    clock.advance(15 * minuteMs)
    const mails: Mail[] = []
    const onError = (error: unknown): void => assert.fail(String(error))
    const sender = new SignInMails({
      operations: gateway.context,
      mailing: mailingInto(mails),
      onError,
    })
    const member = newAddress('last.example')
    await createAccount(gateway.context, { name: 'last' })
    await inviteMember(gateway.context, { account: 'last', email: member })
    const signUp = { language: 'en', invitationHash: undefined } as const
    const browserHash = '0'.repeat(64)
    for (let index = 0; index < 600; index++)
      sender.ask({ email: `a@domain-${index}.example`, browserHash, signUp })
    sender.ask({ email: member, browserHash })
    const look = (): Promise<boolean> =>
      gateway.context.database
        .query('SELECT email FROM sign_in_link WHERE email = $1', [member])
        .then((rows) => rows.length > 0)
    await eventually('the mail of the member', look, (isThere) => isThere)
    await sender.close()
    assert.equal(mails.filter(({ to }) => to !== member).length, 500)
    clock.advance(15 * minuteMs)
  })
})

test('by invitation takes a code, bounds wrong ones, and keeps other domains out', async () => {
  mailServer = await startMailServer((smtpPort = await findFreePort()))
  gateways = await openGateways({ sign_up: 'invite', sign_up_domains: 'in.example, too.example' })
  gateway = gateways[0] as Scenario
  try {
    const browser = newBrowser()
    const tryWith = (email: string, code?: string) =>
      browser.call('POST', '/sign-up', { email, code })
    const { code, id } = await makeCode('0')
    const address = newAddress('in.example')
    const outside = await tryWith(newAddress('sub.in.example'), code)
    assertRefused(outside, 400, 'operations.invalid')
    assert.match(outside.text, /must be an address at in\.example or too\.example/)
    assertRefused(await tryWith(address), 400, 'operations.invalid')
    assertRefused(await tryWith(address, `${code}x`), 400, 'operations.invalid')
    const link = await ask(browser, address, { code })
    assert.equal((await confirm(browser, link, 'invited')).status, 200)
    const { items } = valueOfOutcome(await readCodes(gateway.context, { id }))
    assert.deepEqual([items[0]?.state, items[0]?.account_name], ['redeemed', 'invited'])
    const account = await showAccount(gateway.context, { account: 'invited' })
    assert.deepEqual([account.balance_usd, account.has_paid], ['0', false])
    const own = valueOf(await browser.call('POST', '/codes', { code }))
    assert.deepEqual([own['repeated'], own['balance_usd']], [true, '0'])
    await creditAccount(gateway.context, { account: 'invited', amount_usd: '1', reference: 'r' })
    assert.equal((await showAccount(gateway.context, { account: 'invited' })).has_paid, true)
    const wrong = async () => {
      const { code: unknown } = await makeCode('0')
      await gateway.context.database.query('DELETE FROM code WHERE head = $1', [
        `${unknown.slice(0, 7)}…`,
      ])
      return tryWith(address, unknown)
    }
    for (let index = 0; index < 10; index++)
      assertRefused(await wrong(), 404, 'operations.not_found')
    assertRefused(await wrong(), 429, 'access.too_many_wrong_codes')
  } finally {
    await closeGateways(gateways)
    await mailServer.close()
  }
})

test('a link of a sign-up that is turned off makes no account', async () => {
  const mails: Mail[] = []
  const off = await scenario({ clock, settings: { public_url: publicUrl } })
  try {
    const browser = newBrowser(off)
    assertRefused(
      await browser.call('POST', '/sign-up', { email: newAddress() }),
      404,
      'http.not_found',
    )
    const secret = 'b'.repeat(43)
    const sender = new SignInMails({
      operations: off.context,
      mailing: mailingInto(mails),
      onError: (error) => assert.fail(String(error)),
    })
    const signUp = { language: 'en', invitationHash: undefined } as const
    sender.ask({ email: newAddress(), browserHash: hashSecret(secret), signUp })
    const look = async (): Promise<Mail | undefined> => {
      await browser.call('GET', '/session')
      return mails[0]
    }
    const mail = await eventually('the mail', look, (sent) => sent !== undefined)
    await sender.close()
    browser.cookies.set('__Host-turnpike-sign-in', secret)
    assertRefused(
      await confirm(browser, codeIn(mail?.text ?? '') ?? '', 'off'),
      401,
      'access.sign_in_link_invalid',
    )
  } finally {
    await off.close()
  }
})
