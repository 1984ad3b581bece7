/**
 * What a new customer does alone, by clicking: signs up, tops up by a code and by a payment, makes a key,
 * sends a request by an SDK, sees its cost, and opens the receipt. The test asserts it; the pictures of the
 * docs are taken on the way.
 */
import assert from 'node:assert/strict'
import type { BrowserContext, Locator, Page } from 'playwright-core'
import type { words as english } from '../../../console/src/messages/en/account-words.ts'
import type { words as chinese } from '../../../console/src/messages/zh-cn/account-words.ts'
import { openAll } from '../../../src/base/opening.ts'
import { createCodes } from '../../../src/operations/codes/codes.ts'
import { valueOf } from '../../../src/operations/operation.ts'
import { eventually } from '../eventually.ts'
import { startMailServer, type MailServer } from '../mail-server.ts'
import { codeIn } from '../member-browser.ts'
import { findFreePort } from '../postgres.ts'
import { failoverDefaults, scenario, type Scenario, type ScenarioOptions } from '../scenario.ts'
import { makeSdkFolder, shortProgram, type SdkFolder } from '../sdk-folder.ts'
import { startStripeStandIn, webhookSecret } from '../stripe-stand-in.ts'
import { startBrowser } from './browser.ts'
import { memberSettings } from './members.ts'

interface RunOptions {
  readonly language: 'en-GB' | 'zh-CN'
  readonly words: typeof english | typeof chinese
  /** Of the new account. */
  readonly name: string
  readonly email: string
  /** At each view that the docs show. */
  readonly onView?: (name: string, page: Page) => Promise<void>
}

export interface Customer {
  /** Returns the receipt, as it is printed. */
  run(options: RunOptions): Promise<string>
  close(): Promise<void>
}

interface CustomerRun extends RunOptions {
  readonly gateway: Scenario
  readonly browser: BrowserContext
  readonly mailServer: MailServer
  readonly sdk: SdkFolder
}

/** Starts a gateway with all that a customer meets: real mail, a stand-in for Stripe, a browser and SDKs. */
export function startCustomer(options: Pick<ScenarioOptions, 'clock'> = {}): Promise<Customer> {
  return openAll(async (opened) => {
    const port = await findFreePort()
    const mailServer = await startMailServer(port)
    opened.defer(() => mailServer.close())
    const stripe = await startStripeStandIn()
    opened.defer(() => stripe.close())
    const sdk = await makeSdkFolder()
    opened.defer(() => sdk.close())
    const settings = {
      ...(await memberSettings(port)),
      sign_up: 'open',
      operator_name: 'Acme AI',
      operator_address: '1 Main Street, Springfield',
      tax_percent: '19',
      stripe_secret_key: 'sk_test_of_this_test',
      stripe_webhook_secret: webhookSecret,
      stripe_url: stripe.url,
    }
    const gateway = await scenario({ ...failoverDefaults, ...options, settings })
    opened.defer(() => gateway.close())
    const chromium = await startBrowser()
    opened.defer(() => chromium.close())
    const allowed = [new RegExp(stripe.url)]
    return {
      run: (run) =>
        chromium.withContext({ origin: gateway.url, language: run.language, allowed }, (browser) =>
          runAsCustomer({ ...run, gateway, browser, mailServer, sdk }),
        ),
      close: () => opened.disposeAsync(),
    }
  })
}

const button = (place: Page | Locator, name: string): Locator =>
  place.getByRole('button', { name, exact: true })

const field = (place: Page | Locator, label: string): Locator =>
  place.getByLabel(label, { exact: true })

async function openView(page: Page, view: string): Promise<void> {
  await page.locator('nav.tabs').getByRole('link', { name: view, exact: true }).click()
}

/** Fills the field with its label by the keys of a person, and sends the form. */
async function send(page: Page, label: string, text: string, action: string): Promise<void> {
  await field(page, label).fill(text)
  await button(page, action).click()
}

/** Returns the balance after it has become this one. */
async function balanceIs(page: Page, usd: string): Promise<void> {
  await page.locator(`data[value="${usd}"]`).first().waitFor()
}

/** Tops up by a code and at the page of Stripe; returns when both are on the balance. */
async function topUp(page: Page, { words, gateway, onView }: CustomerRun): Promise<void> {
  const made = await createCodes(gateway.context, { amount_usd: '5', count: 1 })
  const [code = ''] = valueOf(made).codes
  await openView(page, words.account.tabs.topup)
  await send(page, words.members.code, code, words.members.redeem)
  await page.getByText('$5.00').first().waitFor()
  await onView?.('account-top-up', page)
  await send(page, words.figures.amount, '20', words.members.goToPay)
  await button(page, 'Pay').click()
  await balanceIs(page, '25')
}

async function makeKey(page: Page, { words, onView }: CustomerRun): Promise<string> {
  await openView(page, words.account.tabs.keys)
  await button(page, words.members.newKey).click()
  const dialog = page.locator('.dialog')
  await field(dialog, words.keyForm.name).fill('laptop')
  await button(dialog, words.members.makeKey).click()
  const variables = await field(dialog, words.keyForm.shellVariables).innerText()
  await onView?.('account-new-key', page)
  await dialog.locator('.secret').getByRole('button').click()
  await dialog.locator('.dialog-foot .button-primary').click()
  await dialog.waitFor({ state: 'detached' })
  return variables
}

async function seeCost(page: Page, { words, onView }: CustomerRun): Promise<void> {
  await openView(page, words.account.tabs.requests)
  const cost = page.locator('td[data-place=amount] data').first()
  await cost.waitFor()
  assert.ok(Number(await cost.getAttribute('value')) > 0)
  await page.locator('tr[data-row] a').first().click()
  await page.getByText('chat-mini-1').first().waitFor()
  await onView?.('account-request', page)
}

/** Opens the receipt of the payment, the newest; returns its text as it is printed. */
async function printReceipt(page: Page, { words, onView }: CustomerRun): Promise<string> {
  await openView(page, words.account.tabs.receipts)
  const paid = page.locator('tr[data-row]').filter({ hasText: '$20.00' })
  await paid.locator('td[data-place=name] a').click()
  const paper = page.locator('main')
  await paper.getByText('$20.00').waitFor()
  await onView?.('account-receipt', page)
  await page.emulateMedia({ media: 'print' })
  await page.locator('nav.tabs').waitFor({ state: 'hidden' })
  const printed = await paper.innerText()
  await page.emulateMedia({ media: null })
  return printed
}

async function runAsCustomer(run: CustomerRun): Promise<string> {
  const page = await signUp(run)
  await topUp(page, run)
  const variables = await makeKey(page, run)
  await run.sdk.write('ask.mts', shortProgram)
  assert.match(await run.sdk.run(`${variables}\nnode ask.mts`), /\S/)
  await seeCost(page, run)
  return printReceipt(page, run)
}

/** Returns the page of the account that was made. */
async function signUp(run: CustomerRun): Promise<Page> {
  const { browser, gateway, words, name, email, mailServer, onView } = run
  const page = `${gateway.url}/account/`
  const asked = await browser.newPage()
  await asked.goto(page)
  await button(asked, words.members.newAccount).click()
  await send(asked, words.members.email, email, words.members.sendLink)
  const newLink = async (): Promise<readonly string[]> => {
    await asked.evaluate('0')
    const own = mailServer.mails().filter((mail) => mail.includes(email))
    return own.flatMap((mail) => codeIn(mail) ?? [])
  }
  const [link] = await eventually('the mail', newLink, (links) => links.length > 0)
  const opened = await browser.newPage()
  await opened.goto(`${page}?view=sign-up#${link}`)
  await field(opened, words.members.accountName).fill(name)
  await onView?.('account-sign-up', opened)
  await button(opened, words.members.newAccount).click()
  await opened.locator('nav.tabs').waitFor()
  return opened
}
