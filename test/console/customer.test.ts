/**
 * A new customer from the sign-up to the printed receipt, by clicking alone, in both languages: over a real
 * mail server, a stand-in for Stripe with its own page, and an SDK in a process.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { words as english } from '../../console/src/messages/en/account-words.ts'
import { words as chinese } from '../../console/src/messages/zh-cn/account-words.ts'
import { createCodes } from '../../src/operations/codes/codes.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { startBrowser, type TestBrowser } from '../support/console/browser.ts'
import { runAsCustomer } from '../support/console/customer-run.ts'
import { memberSettings } from '../support/console/members.ts'
import { startMailServer, type MailServer } from '../support/mail-server.ts'
import { inviteMember } from '../support/members.ts'
import { createAccount } from '../support/operations.ts'
import { findFreePort } from '../support/postgres.ts'
import { failoverDefaults, scenario, type Scenario } from '../support/scenario.ts'
import { makeSdkFolder, type SdkFolder } from '../support/sdk-folder.ts'
import {
  startStripeStandIn,
  webhookSecret,
  type StripeStandIn,
} from '../support/stripe-stand-in.ts'

let mailServer: MailServer
let stripe: StripeStandIn
let gateway: Scenario
let browser: TestBrowser
let sdk: SdkFolder

before(async () => {
  const port = await findFreePort()
  mailServer = await startMailServer(port)
  stripe = await startStripeStandIn()
  sdk = await makeSdkFolder()
  gateway = await scenario({
    ...failoverDefaults,
    settings: {
      ...(await memberSettings(port)),
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
  await sdk.close()
  stripe.close()
  await mailServer.close()
})

for (const [language, words] of [
  ['en-GB', english],
  ['zh-CN', chinese],
] as const)
  test(`a customer needs no operator, in ${language}`, async () => {
    const account = `northwind-${language}`
    const email = `ann-${language.toLowerCase()}@northwind.example`
    await createAccount(gateway.context, { name: account })
    await inviteMember(gateway.context, { account, email })
    const { codes } = valueOf(await createCodes(gateway.context, { amount_usd: '5', count: 1 }))
    const code = codes[0] ?? ''
    const allowed = [new RegExp(stripe.url)]
    await browser.withContext({ origin: gateway.url, language, allowed }, async (context) => {
      const { url } = gateway
      const run = { browser: context, url, words, email, code, mailServer, sdk }
      const printed = await runAsCustomer(run)
      const address = '1 Main Street, Springfield'
      // 20 USD contain 19 % of their net amount.
      for (const text of ['Acme AI', address, account, '$16.81', '$3.19', '$20.00'])
        assert.ok(printed.includes(text), printed)
    })
  })
