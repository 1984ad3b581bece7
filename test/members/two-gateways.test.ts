/**
 * Signing in over two gateways on one PostgreSQL: a link that one of them mailed works once on both, a newer
 * one at either ends it, the bound of mails counts both, and a removed member is out at both at once.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import type { WireAnswer } from '../support/http-client.ts'
import { startMailServer, type MailServer } from '../support/mail-server.ts'
import { codeIn, MemberBrowser, publicUrl, valueOf } from '../support/member-browser.ts'
import { inviteMember, openMemberSession } from '../support/members.ts'
import { createAccount, recentActions } from '../support/operations.ts'
import { findFreePort, startPostgres, type PostgresServer } from '../support/postgres.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

let server: PostgresServer
let mailServer: MailServer
let one: Scenario
let other: Scenario
let email: string
let memberId: string
let ownerId: string
let count = 0

before(async () => {
  server = await startPostgres()
  const port = await findFreePort()
  mailServer = await startMailServer(port)
  const storeUrl = await server.createDatabase()
  const settings = {
    public_url: publicUrl,
    smtp: `smtp://127.0.0.1:${port}`,
    smtp_from: 'turnpike@example.com',
    max_failed_sign_ins: '0',
  }
  one = await scenario({ storeUrl, settings })
  other = await scenario({ storeUrl, settings, fill: () => Promise.resolve(one.account) })
})
after(async () => {
  await one.close()
  await other.close()
  await mailServer.close()
  await server.close()
})
beforeEach(async () => {
  const account = `acme-${++count}`
  email = `ann-${count}@acme-${count}.example`
  await createAccount(one.context, { name: account })
  memberId = (await inviteMember(one.context, { account, email, role: 'member' })).id
  const owner = { account, email: `eve@acme-${count}.example`, role: 'owner' } as const
  ownerId = (await inviteMember(one.context, owner)).id
})

const ownMails = (): readonly string[] => mailServer.mails().filter((mail) => mail.includes(email))

async function askForLink(browser: MemberBrowser): Promise<string> {
  const before = new Set(ownMails())
  assert.equal((await browser.call('POST', '/sign-in', { email })).status, 202)
  const look = async (): Promise<string | undefined> => {
    await browser.call('GET', '/session')
    return ownMails().find((mail) => !before.has(mail))
  }
  // The server keeps no order within a second.
  const mail = await eventually('the mail', look, (found) => found !== undefined)
  return codeIn(mail ?? '') ?? ''
}

const use = (browser: MemberBrowser, code: string): Promise<WireAnswer> =>
  browser.call('POST', '/session', { code })

function assertRefused({ status, text }: WireAnswer, type: string): void {
  assert.equal(status, 401, text)
  assert.ok(text.includes(type), text)
}

test('a link of one gateway signs in at the other, and the session counts at both', async () => {
  const asking = new MemberBrowser(one.url)
  const code = await askForLink(asking)
  const confirming = asking.at(other.url)
  assert.equal((await use(confirming, code)).status, 200)
  for (const gateway of [one, other]) {
    const shown = await confirming.at(gateway.url).call('GET', '/session')
    assert.equal(valueOf(shown)['member_id'], memberId)
  }
  assert.equal((await confirming.at(one.url).call('DELETE', '/session')).status, 200)
  assertRefused(await confirming.call('GET', '/keys'), 'access.session_invalid')
})

test('of many uses at once on both gateways one begins a session', async () => {
  const asking = new MemberBrowser(one.url)
  const code = await askForLink(asking)
  const uses = Array.from({ length: 20 }, (_, index) =>
    use(asking.at((index % 2 === 0 ? one : other).url), code),
  )
  const answers = await Promise.all(uses)
  assert.equal(answers.filter(({ status }) => status === 200).length, 1)
  for (const answer of answers)
    if (answer.status !== 200) assertRefused(answer, 'access.sign_in_link_invalid')
  const sql = 'SELECT COUNT(*) AS sessions FROM member_session WHERE member_id = $1'
  const [row] = await one.context.database.query(sql, [memberId])
  assert.equal(Number(row?.['sessions']), 1)
  const signIns = await recentActions(one.context, { sessions: true, subject: memberId })
  assert.equal(signIns.filter(({ action }) => action === 'member.sign-in').length, 1)
})

test('a newer link at the other gateway ends the older one at both', async () => {
  const asking = new MemberBrowser(one.url)
  const older = await askForLink(asking)
  const again = asking.at(other.url)
  const newer = await askForLink(again)
  for (const gateway of [one, other])
    assertRefused(await use(asking.at(gateway.url), older), 'access.sign_in_link_invalid')
  assert.equal((await use(again.at(one.url), newer)).status, 200)
})

test('five mails for an address are five over both gateways', async () => {
  for (const gateway of [one, other, one, other, one])
    await askForLink(new MemberBrowser(gateway.url))
  const own = email
  for (const gateway of [one, other])
    await new MemberBrowser(gateway.url).call('POST', '/sign-in', { email })
  // A mail to another address is sent after those that were asked for before.
  email = `eve@acme-${count}.example`
  for (const gateway of [one, other]) await askForLink(new MemberBrowser(gateway.url))
  email = own
  assert.equal(ownMails().length, 5)
})

test('a member removed at one gateway is out at the other with the next request', async () => {
  const member = await openMemberSession(other.context, other.url, memberId)
  const owner = await openMemberSession(one.context, one.url, ownerId)
  assert.equal((await member.call('GET', '/keys')).status, 200)
  const waiting = new MemberBrowser(other.url)
  const code = await askForLink(waiting)
  assert.equal((await owner.call('DELETE', `/members/${memberId}`)).status, 200)
  assertRefused(await member.call('GET', '/keys'), 'access.session_invalid')
  assertRefused(await use(waiting, code), 'access.sign_in_link_invalid')
})
