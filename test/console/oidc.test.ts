/**
 * Signing in by OpenID Connect in Chromium, at a real provider: a member on the account page, also one who
 * has to choose an account, and an operator in the console.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { memberSettings } from '../support/console/members.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { inviteMember } from '../support/members.ts'
import { oidcClient, startOidcProvider, type TestProvider } from '../support/oidc-provider.ts'
import { createAccount, recentActions } from '../support/operations.ts'
import { findFreePort } from '../support/postgres.ts'

const email = 'ann@customer.example'
let members: TestProvider
let operators: TestProvider
let opened: OpenConsole

/** Chromium reports each refused request; the pages of the provider are elsewhere. */
const allowed = [
  /Failed to load resource: .* 403 /,
  /^request to http:\/\/127\.0\.0\.1:\d+\/(?:auth|interaction)[/?]/,
]

function visit(origin: string, path: string, work: (page: Page) => Promise<void>): Promise<void> {
  return opened.browser.withContext({ origin, allowed }, async (context) => {
    const page = await context.newPage()
    await page.goto(origin + path)
    await work(page)
  })
}

function pressProvider(page: Page, provider: TestProvider): Promise<void> {
  return page.getByRole('button', { name: `Sign in with ${provider.host}`, exact: true }).click()
}

describe('signing in by OpenID Connect in a browser', () => {
  before(async () => {
    const ofMembers = await memberSettings()
    const adminListen = `127.0.0.1:${await findFreePort()}`
    members = await startOidcProvider({ redirectUrl: `${ofMembers.public_url}/account/` })
    operators = await startOidcProvider({
      redirectUrl: `http://${adminListen}/console/sign-in`,
    })
    opened = await openConsole({
      settings: {
        ...ofMembers,
        oidc_issuer: members.issuer,
        oidc_client_id: oidcClient.id,
        oidc_client_secret: oidcClient.secret,
        admin_listen: adminListen,
        console_url: `http://${adminListen}`,
        admin_oidc_issuer: operators.issuer,
        admin_oidc_client_id: oidcClient.id,
        admin_oidc_client_secret: oidcClient.secret,
        admin_oidc_role_claim: 'groups',
        admin_oidc_roles: 'support=operator',
      },
    })
    const { context, account } = opened.gateway
    await inviteMember(context, { account: account.id, email })
  })
  after(async () => {
    await opened.close()
    await members.close()
    await operators.close()
  })

  test('a member comes back to the account, and then chooses among several', async () => {
    const { context } = opened.gateway
    members.person = { sub: 'ann', email, email_verified: true }
    await visit(opened.gateway.url, '/account/', async (page) => {
      await pressProvider(page, members)
      await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor()
      assert.equal(new URL(page.url()).search, '')
    })
    await createAccount(context, { name: 'second' })
    await inviteMember(context, { account: 'second', email, role: 'member' })
    await visit(opened.gateway.url, '/account/', async (page) => {
      await pressProvider(page, members)
      await page.getByRole('button', { name: 'second', exact: true }).click()
      await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor()
    })
  })

  test('a person without an account reads why, and can begin again', async () => {
    members.person = { sub: 'eve', email: 'eve@customer.example', email_verified: true }
    await visit(opened.gateway.url, '/account/', async (page) => {
      await pressProvider(page, members)
      await page.getByText('No account here has a member with the address').waitFor()
      assert.equal(new URL(page.url()).search, '')
      await page.getByRole('button', { name: 'Try again' }).click()
      await pressProvider(page, members)
      await page.getByText('eve@customer.example').waitFor()
    })
  })

  test('an operator comes back to the console with the role of the claim', async () => {
    operators.person = { sub: 'olga', email: 'olga@example.com', email_verified: true }
    await visit(opened.gateway.adminUrl, '/console/', async (page) => {
      await pressProvider(page, operators)
      await page.getByText('gives you no role here').waitFor()
      operators.person = { ...operators.person, sub: 'olga', groups: ['support'] }
      await pressProvider(page, operators)
      await page.getByRole('heading', { name: 'Overview' }).waitFor()
      assert.equal(new URL(page.url()).search, '')
    })
    const [action] = await recentActions(opened.gateway.context, { sessions: true })
    assert.deepEqual(
      [action?.action, action?.actor],
      ['session.create', 'oidc:operator:olga@example.com'],
    )
  })
})
