/**
 * The account page of members, used by clicking in both languages, over a real mail server: sign in by a
 * mailed link, run the keys, the people and the money of the account, and leave.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { BrowserContext, Locator, Page } from 'playwright-core'
import { words as english } from '../../console/src/messages/en/account-words.ts'
import { words as chinese } from '../../console/src/messages/zh-cn/account-words.ts'
import { createCodes } from '../../src/operations/codes/codes.ts'
import { removeMember } from '../../src/operations/members/members.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { startBrowser, type PageOptions, type TestBrowser } from '../support/console/browser.ts'
import { choose } from '../support/console/choose.ts'
import { memberSettings, signInAs } from '../support/console/members.ts'
import { eventually } from '../support/eventually.ts'
import { post, type WireAnswer } from '../support/http-client.ts'
import { startMailServer, type MailServer } from '../support/mail-server.ts'
import { codeIn } from '../support/member-browser.ts'
import { inviteMember } from '../support/members.ts'
import {
  createAccount,
  createClientKey,
  changeAccount,
  creditAccount,
  listAccountKeys,
  listAccounts,
  showAccount,
} from '../support/operations.ts'
import { findFreePort } from '../support/postgres.ts'
import { messagesPath, messagesRequest } from '../support/requests.ts'
import { failoverDefaults, scenario, type Scenario } from '../support/scenario.ts'
import {
  startStripeStandIn,
  webhookSecret,
  type StripeStandIn,
} from '../support/stripe-stand-in.ts'
import { variants } from '../support/variants.ts'

const languages = [
  ['en-GB', english],
  ['zh-CN', chinese],
] as const

let mailServer: MailServer
let stripe: StripeStandIn
let gateway: Scenario
let browser: TestBrowser
let count = 0

before(async () => {
  const port = await findFreePort()
  mailServer = await startMailServer(port)
  stripe = await startStripeStandIn()
  gateway = await scenario({
    ...failoverDefaults,
    settings: {
      ...(await memberSettings(port)),
      sign_up: 'open',
      operator_name: 'Acme AI',
      operator_address: '1 Main Street, Springfield',
      tax_percent: '19',
      stripe_secret_key: 'sk_test_of_this_test',
      stripe_webhook_secret: webhookSecret,
      stripe_url: stripe.url,
    },
  })
  browser = await startBrowser()
})
after(async () => {
  await browser.close()
  await gateway.close()
  stripe.close()
  await mailServer.close()
})

/** Chromium reports each refused request, as of a person who has left. */
const refused = /Failed to load resource: .* 40[013] /

function visit(
  look: Partial<PageOptions>,
  work: (context: BrowserContext) => Promise<void>,
): Promise<void> {
  const { url: origin } = gateway
  return browser.withContext({ origin, allowed: [refused], ...look }, work)
}

async function open(context: BrowserContext, path = '/account/'): Promise<Page> {
  const page = await context.newPage()
  await page.goto(`${gateway.url}${path}`)
  return page
}

type Words = (typeof languages)[number][1]

const button = (place: Page | Locator, name: string): Locator =>
  place.getByRole('button', { name, exact: true })

async function openView(page: Page, view: string): Promise<void> {
  await page.locator('nav.tabs').getByRole('link', { name: view, exact: true }).click()
}

/** Fills the field of this label; a label may be followed by a hint. */
function field(place: Page | Locator, label: string): Locator {
  return place.getByLabel(label, { exact: true })
}

async function actOn(page: Page, { members: words }: Words, name: string, act: string) {
  await button(page, words.actionsOf.replace('{name}', name)).first().click()
  await page.getByRole('menuitem', { name: act, exact: true }).click()
  return page.locator('.dialog')
}

/** Asks for a link by the form, and returns the path of the newest mailed one. */
async function askForLink(page: Page, { members: words }: Words, email: string): Promise<string> {
  const codesOf = (): readonly string[] =>
    mailServer
      .mails()
      .filter((mail) => mail.includes(email))
      .flatMap((mail) => codeIn(mail) ?? [])
  const known = new Set(codesOf())
  await field(page, words.email).fill(email)
  await button(page, words.sendLink).click()
  await page.getByText(email).waitFor()
  const newCodes = async (): Promise<readonly string[]> => {
    await page.evaluate('0')
    return codesOf().filter((each) => !known.has(each))
  }
  const [code] = await eventually('the mail', newCodes, (codes) => codes.length > 0)
  return `/account/?view=sign-in#${code}`
}

async function addAccount(): Promise<{ readonly account: string; readonly email: string }> {
  const account = `northwind-${++count}`
  await createAccount(gateway.context, { name: account, balance_usd: '10' })
  const email = `ann-${count}@northwind.example`
  await inviteMember(gateway.context, { account, email })
  return { account, email }
}

const ask = (secret: string): Promise<WireAnswer> =>
  post(`${gateway.url}${messagesPath}`, secret, messagesRequest())

/** Copies the secret that is shown once, and closes its dialog. */
async function takeSecret(page: Page): Promise<string> {
  const dialog = page.locator('.dialog')
  const secret = (await dialog.locator('.secret code').innerText()).trim()
  assert.match(secret, /^cr_\w{49}$/)
  assert.ok((await dialog.locator('pre').innerText()).includes(secret))
  await dialog.locator('.secret').getByRole('button').click()
  await dialog.locator('.dialog-foot .button-primary').click()
  await dialog.waitFor({ state: 'detached' })
  return secret
}

for (const [language, words] of variants(languages, ([name]) => name === 'zh-CN'))
  describe(`in ${language}`, () => {
    test('an owner signs in by a mailed link, makes a key, sees its cost, and revokes it', async () => {
      const { account, email } = await addAccount()
      await visit({ language }, async (context) => {
        const asked = await open(context)
        const link = await askForLink(asked, words, email)
        const page = await open(context, link)
        await button(page, words.members.signIn).waitFor()
        assert.equal(page.url(), `${gateway.url}/account/`)
        const names = (await context.cookies()).map(({ name }) => name)
        assert.ok(!names.includes('turnpike_member'), 'opening the link begins no session')
        await button(page, words.members.signIn).click()
        await page.getByRole('heading', { level: 1, name: account }).waitFor()
        await openView(page, words.account.tabs.keys)
        await button(page, words.members.newKey).click()
        await field(page.locator('.dialog'), words.keyForm.name).fill('laptop')
        await button(page.locator('.dialog'), words.members.makeKey).click()
        const secret = await takeSecret(page)
        assert.equal((await ask(secret)).status, 200)
        await openView(page, words.account.tabs.requests)
        const costs = page.locator('td[data-place=amount] data')
        await costs.first().waitFor()
        assert.ok(Number(await costs.first().getAttribute('value')) > 0)
        await openView(page, words.account.tabs.keys)
        const { keyActions } = words.members
        const form = await actOn(page, words, 'laptop', keyActions.edit)
        await field(form, words.keyForm.perDay).fill('5')
        await button(form, words.members.save).click()
        await form.waitFor({ state: 'detached' })
        const [key] = await listAccountKeys(gateway.context, { account, kind: 'client' })
        assert.equal(key?.daily_usd, '5')
        const rotating = await actOn(page, words, 'laptop', keyActions.rotate)
        await button(rotating, keyActions.rotate).click()
        const second = await takeSecret(page)
        assert.deepEqual([(await ask(secret)).status, (await ask(second)).status], [401, 200])
        const revoking = await actOn(page, words, 'laptop', keyActions.revoke)
        await button(revoking, keyActions.revoke).click()
        await page.getByText(words.members.isRevoked.replace('{name}', 'laptop')).waitFor()
        assert.equal((await ask(second)).status, 401)
        await button(page, words.members.signOut.here).click()
        await page.getByText(words.members.left.here).waitFor()
        assert.ok(!(await context.cookies()).some(({ name }) => name === 'turnpike_member'))
      })
    })

    test('a person signs up by a mailed link, and owns the new account', async () => {
      const { codes } = valueOf(await createCodes(gateway.context, { amount_usd: '7', count: 1 }))
      const email = `eve-${++count}@new.example`
      const name = `eve and sons ${count}`
      await visit({ language }, async (context) => {
        const asked = await open(context)
        await button(asked, words.members.newAccount).click()
        const invitation = field(asked, words.members.code)
        await invitation.fill('tc_wrong')
        await field(asked, words.members.email).fill(email)
        await button(asked, words.members.sendLink).click()
        await asked.locator('p.bad').first().waitFor()
        await invitation.fill(codes[0] ?? '')
        const link = await askForLink(asked, words, email)
        const page = await open(context, link.replace('sign-in', 'sign-up'))
        await field(page, words.members.accountName).fill(name)
        assert.equal(page.url(), `${gateway.url}/account/`)
        const { items } = await listAccounts(gateway.context, { name_contains: name })
        assert.deepEqual(items, [], 'opening the link makes no account')
        await button(page, words.members.newAccount).click()
        await page.getByRole('heading', { level: 1, name }).waitFor()
        await page.locator('data[value="7"]').first().waitFor()
        await openView(page, words.account.tabs.activity)
        await page.getByText(words.figures.did.accountSignUp).waitFor()
        const account = await showAccount(gateway.context, { account: name })
        assert.deepEqual(
          [account.language, account.contact],
          [language.slice(0, 5).replace('en-GB', 'en'), email],
        )
      })
    })

    test('an owner redeems a code, prints its receipt, and pays at a page of Stripe', async () => {
      const { context: operator } = gateway
      const account = await gateway.createAccount({ balance_usd: '10' })
      const { codes } = valueOf(await createCodes(operator, { amount_usd: '7', count: 1 }))
      const allowed = [refused, new RegExp(stripe.url)]
      await visit({ language, allowed }, async (context) => {
        await signInAs(context, { ...gateway, account }, 'owner')
        const page = await open(context, '/account/?view=topup')
        await field(page, words.members.code).fill(codes[0] ?? '')
        await button(page, words.members.redeem).click()
        await page.getByText('$7.00').waitFor()
        await openView(page, words.account.tabs.receipts)
        await page.locator('td[data-place=name] a').first().click()
        const paper = page.locator('main')
        await paper.getByText('$5.88').waitFor()
        const printed = await paper.innerText()
        const day = new Date(operator.clock.now()).toISOString().slice(0, 10)
        const address = '1 Main Street, Springfield'
        for (const text of [day, 'Acme AI', address, account.name, '$1.12', '$7.00'])
          assert.ok(printed.includes(text), printed)
        await page.emulateMedia({ media: 'print' })
        await page.locator('nav.tabs').waitFor({ state: 'hidden' })
        await page.emulateMedia({ media: null })
        // What is refunded has a credit note, with the lines that the payer had then.
        const refunded = { account: account.id, confirm: true }
        const payment = `pi_back_${language}`
        await changeAccount(operator, { account: account.id, bill_to: 'Ann Ltd\nVAT 17' })
        await creditAccount(operator, {
          ...refunded,
          amount_usd: '9',
          reference: `stripe:${payment}`,
        })
        const [receipt] = await operator.database.query('SELECT MAX(sequence) AS n FROM entry')
        await changeAccount(operator, { account: account.id, bill_to: 'Ben Ltd' })
        const taken = { amount_usd: '-7', reference: `stripe-refund:${payment}:700` }
        await creditAccount(operator, { ...refunded, ...taken })
        await page.goto(`${gateway.url}/account/?view=receipts`)
        await page.locator('td[data-place=name] a').first().click()
        const title = { name: new RegExp(words.account.creditNote) }
        await page.getByRole('heading', title).waitFor()
        await paper.getByText('-$5.88').or(paper.getByText('−$5.88')).waitFor()
        const note = await paper.innerText()
        const number = `R${String(receipt?.['n'])}`
        for (const text of [number, address, 'Ann Ltd', 'VAT 17', '19', '1.12', '7.00'])
          assert.ok(note.includes(text), note)
        await openView(page, words.account.tabs.statement)
        await paper.getByText('Ben Ltd').waitFor()
        await paper.getByText(address).waitFor()
        await openView(page, words.account.tabs.topup)
        const amount = field(page, words.figures.amount)
        await amount.fill('1.005')
        await button(page, words.members.goToPay).click()
        await page.locator('p.bad').first().waitFor()
        await amount.fill('25')
        await button(page, words.members.goToPay).click()
        await button(page, 'Pay').click()
        await page.waitForURL(`${gateway.url}/account/?paid=1`)
        await page.locator('[role=status] data[value="44"]').waitFor()
      })
    })

    test('a member sees own keys only, and is out at the next click when removed', async () => {
      const { context: operator, account } = gateway
      await visit({ language }, async (context) => {
        const { id } = await signInAs(context, gateway, 'member')
        const page = await open(context)
        await page.getByText(words.account.noKey).waitFor()
        const { tabs } = words.account
        assert.deepEqual(await page.locator('nav.tabs a').allInnerTexts(), [
          tabs.keys,
          tabs.prices,
          tabs.setup,
        ])
        await button(page, words.members.newKey).click()
        await field(page.locator('.dialog'), words.keyForm.name).fill('own')
        await button(page.locator('.dialog'), words.members.makeKey).click()
        await takeSecret(page)
        const table = page.getByRole('table')
        await table.getByText('own').waitFor()
        assert.equal(await table.locator('tr[data-row]').count(), 1)
        const owned = await listAccountKeys(operator, { account: account.id, kind: 'client' })
        assert.ok(owned.length > 1 && owned.some(({ member_id: member }) => member === id))
        for (const view of ['statement', 'people', 'topup', 'details', 'activity', 'requests']) {
          await page.goto(`${gateway.url}/account/?view=${view}`)
          await table.getByText('own').waitFor()
        }
        valueOf(await removeMember(operator, { member: id }))
        await openView(page, tabs.prices)
        await page.getByText(words.members.left.ended, { exact: true }).waitFor()
        await field(page, words.members.email).waitFor()
      })
    })
  })

test('a link signs in only in the browser that asked for it, and only once', async () => {
  const { account, email } = await addAccount()
  await visit({}, async (context) => {
    const link = await askForLink(await open(context), english, email)
    await visit({}, async (other) => {
      const page = await open(other, link)
      await button(page, english.members.signIn).click()
      await page.getByText('was asked for in another browser').waitFor()
      await button(page, 'Try again').click()
      await field(page, english.members.email).waitFor()
      assert.ok(!(await other.cookies()).some(({ name }) => name === 'turnpike_member'))
    })
    const page = await open(context, link)
    await button(page, english.members.signIn).click()
    await page.getByRole('heading', { level: 1, name: account }).waitFor()
    const again = await open(context, link)
    await button(again, english.members.signIn).click()
    await again.getByText('This link has been used').waitFor()
  })
})

test('a person of several accounts chooses one; signing out everywhere ends the other browsers', async () => {
  const { account, email } = await addAccount()
  const second = await addAccount()
  await inviteMember(gateway.context, { account: second.account, email, role: 'member' })
  await visit({}, async (context) => {
    const page = await open(context, await askForLink(await open(context), english, email))
    await button(page, english.members.signIn).click()
    await button(page, account).click()
    await page.getByRole('heading', { level: 1, name: account }).waitFor()
    await visit({}, async (other) => {
      const there = await open(other, await askForLink(await open(other), english, email))
      await button(there, english.members.signIn).click()
      await button(there, account).click()
      await there.getByRole('heading', { level: 1, name: account }).waitFor()
      await button(page, 'Theme and language').click()
      await page.getByText(email).waitFor()
      await page
        .getByRole('menuitem', { name: english.members.signOut.everywhere, exact: true })
        .click()
      await page.getByText(english.members.left.everywhere).waitFor()
      await openView(there, english.account.tabs.keys)
      await there.getByText(english.members.left.ended, { exact: true }).waitFor()
      await field(there, english.members.email).waitFor()
    })
  })
})

test('an owner invites, changes and removes people, sets the details, and reads who did what', async () => {
  const { account, context: operator } = gateway
  await visit({}, async (context) => {
    const { email: own } = await signInAs(context, gateway, 'owner')
    const page = await open(context, '/account/?view=people')
    await button(page, english.members.invite).click()
    const dialog = page.locator('.dialog')
    await field(dialog, english.members.email).fill('Bob@Northwind.example')
    await button(dialog, english.members.invite).click()
    await page.getByText('bob@northwind.example is invited.').waitFor()
    const bob = 'bob@northwind.example'
    const mailsToBob = async (): Promise<number> => {
      await page.evaluate('0')
      return mailServer.mails().filter((mail) => mail.includes(bob)).length
    }
    await eventually('the invitation', mailsToBob, (mails) => mails === 1)
    await actOn(page, english, bob, english.members.make.owner)
    await button(dialog, english.members.make.owner).click()
    const row = page.locator('tr[data-row]').filter({ hasText: bob })
    await row.getByText('owner', { exact: true }).waitFor()
    await actOn(page, english, bob, english.members.make.member)
    await button(dialog, english.members.make.member).click()
    await row.getByText('member', { exact: true }).waitFor()
    const items = await row.getAttribute('data-row')
    const key = await createClientKey(
      {
        ...operator,
        actor: items ?? '',
        member: { id: items ?? '', accountId: account.id, role: 'member' },
      },
      { account: account.id, name: 'of-bob' },
    )
    await actOn(page, english, bob, english.members.remove)
    await choose(field(dialog, english.members.theirKeys), english.members.ways.keep)
    await button(dialog, english.members.remove).click()
    await page.getByText(`${bob} is removed.`).waitFor()
    await row.waitFor({ state: 'detached' })
    await openView(page, english.account.tabs.keys)
    await page.locator('tr[data-row]').filter({ hasText: 'of-bob' }).getByText(own).waitFor()
    assert.equal((await ask(key.secret)).status, 200)
    await openView(page, english.account.tabs.details)
    await field(page, english.members.billTo).fill('Northwind Ltd\nVAT 123')
    await field(page, english.members.alertBelow).fill('many')
    await button(page, english.members.save).click()
    await page.getByText('must be an amount in USD').first().waitFor()
    await field(page, english.members.alertBelow).fill('5')
    await button(page, english.members.save).click()
    await page.getByText(english.members.saved).waitFor()
    await openView(page, english.account.tabs.statement)
    await page.getByText('VAT 123').waitFor()
    await openView(page, english.account.tabs.activity)
    const done = page.locator('tr[data-row]').filter({ hasText: own })
    for (const text of ['Changed the profile', 'Removed the member', 'Invited a member'])
      await done.filter({ hasText: text }).first().waitFor()
  })
})
