/** Members in a browser: a gateway whose account page is at `public_url`, and sessions in its cookies. */
import type { BrowserContext } from 'playwright-core'
import type { Member } from '../../../src/access/member-store.ts'
import { memberSessions } from '../../../src/access/session-store.ts'
import { addSession } from '../../../src/access/session.ts'
import { inviteMember } from '../members.ts'
import { findFreePort } from '../postgres.ts'
import type { Scenario } from '../scenario.ts'

/** Settings with which members sign in at the gateway's own address. By default no mail server is there. */
export async function memberSettings(smtpPort = 9) {
  const listen = `127.0.0.1:${await findFreePort()}`
  return {
    listen,
    public_url: `http://${listen}`,
    smtp: `smtp://127.0.0.1:${smtpPort}`,
    smtp_from: 'turnpike@example.com',
  }
}

let count = 0

/** Makes a member and gives all pages of the context the cookie of a session; returns the member. */
export async function signInAs(
  browser: BrowserContext,
  { context, url, account }: Pick<Scenario, 'context' | 'url' | 'account'>,
  role: Member['role'],
) {
  const email = `${role}-${++count}@customer.example`
  const member = await inviteMember(context, { account: account.id, email, role })
  const { secret } = await context.database.transact((transaction) =>
    addSession(transaction, memberSessions, { ownerId: member.id, nowMs: context.clock.now() }),
  )
  await browser.addCookies([{ name: 'turnpike_member', value: secret, url }])
  return member
}
