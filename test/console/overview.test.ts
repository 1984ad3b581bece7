/** The first screen: its figures, its next steps, a new installation, and a gateway that is gone. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { showOverview } from '../../src/operations/reports/overview.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { smallCatalogue } from '../support/catalogues.ts'
import { beginSession, openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { eventually } from '../support/eventually.ts'
import { startFaultProxy } from '../support/fault-proxy.ts'
import { post } from '../support/http-client.ts'
import {
  applyCatalogue,
  createAccount,
  createAdminToken,
  createClientKey,
} from '../support/operations.ts'
import { messagesRequest } from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

let console: OpenConsole
before(async () => {
  console = await openConsole({ requests: 600 })
})
after(() => console.close())

const overviewOf = async ({ context }: Scenario) => valueOf(await showOverview(context, {}))
const figure = (page: Page, label: string) => page.locator('.figure').filter({ hasText: label })
const titleOf = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
const link = (page: Page, name: string) => page.getByRole('link', { name, exact: true })
const requestsShown = (page: Page, count: number): Promise<void> =>
  figure(page, 'Requests').locator(`data[value="${count}"]`).waitFor()

async function ask({ gateway }: OpenConsole): Promise<void> {
  const answer = await post(
    `${gateway.url}/anthropic/v1/messages`,
    gateway.account.key,
    messagesRequest({ model: 'claude-haiku-5-5' }),
  )
  assert.equal(answer.status, 200, answer.text)
}

/** As the page says it. */
function percentText(share: number): string {
  return `${(100 * share).toLocaleString('en-US', { maximumFractionDigits: 1 })}%`
}

function changeOf(now: number | null, before: number | null): string {
  if (now === null || before === null) return 'no comparison'
  if (before === 0) return now === 0 ? 'as yesterday' : 'none yesterday'
  const percent = ((now - before) / Math.abs(before)) * 100
  if (Math.abs(percent) < 0.5) return 'as yesterday'
  const text = Math.abs(percent).toLocaleString('en-US', { maximumFractionDigits: 1 })
  return `${percent > 0 ? '+' : '−'}${text}% vs yesterday`
}

describe('the overview', () => {
  test('has the figures of the API against yesterday, and follows a request', async () => {
    const zone = 'Asia/Kolkata'
    const clock = (at: string): string =>
      new Date(at).toLocaleTimeString('en-GB', {
        timeZone: zone,
        hour: '2-digit',
        minute: '2-digit',
      })
    // So that today has input, also soon after midnight.
    await ask(console)
    await console.withConsole({ path: '/', zone }, async (page) => {
      await titleOf(page, 'Overview')
      const { today, yesterday_so_far: earlier } = await overviewOf(console.gateway)
      const comparison =
        earlier === null
          ? '. There are no figures of yesterday to compare with.'
          : `, against yesterday until ${clock(earlier.until)}.`
      await page.getByText(`Today since 05:30 (00:00 UTC)${comparison}`).waitFor()
      for (const [label, value, now, past] of [
        ['Spend', today.revenue_usd, Number(today.revenue_usd), earlier?.revenue_usd],
        ['Requests', String(today.requests), today.requests, earlier?.requests],
        ['Errors', String(today.errors), today.errors, earlier?.errors],
        ['Tokens', String(today.tokens), today.tokens, earlier?.tokens],
      ] as const) {
        assert.equal(await figure(page, label).locator('data').getAttribute('value'), value)
        const [note] = (await figure(page, label).locator('.figure-note').innerText()).split('\n')
        assert.equal(note, changeOf(now, past === undefined ? null : Number(past)), label)
      }
      const rate = today.cache_hit_rate
      assert.ok(rate !== null)
      const tokens = await figure(page, 'Tokens').innerText()
      assert.ok(tokens.includes(`${percentText(rate)} of input from the cache`), tokens)
      await ask(console)
      await requestsShown(page, today.requests + 1)
      await page.getByText(/Updated (just now|\d+ s ago)\./).waitFor()
    })
  })

  test('puts everything that needs attention in order, each with one link to its next step', async () => {
    await console.withConsole({ path: '/' }, async (page) => {
      await page.getByText('Balance of juniper-studio is low').waitFor()
      const more = page.getByRole('button', { name: /^Show \d+ more$/ })
      if (await more.isVisible()) await more.click()
      const items = page.locator('.attention > li')
      await eventually(
        'the page has the order of the API',
        async () => {
          const { attention } = await overviewOf(console.gateway)
          const shown = await items.locator('.attention-title').allInnerTexts()
          return { shown, expected: attention.next.map(({ title }) => title) }
        },
        ({ shown, expected }) => shown.join() === expected.join(),
      )
      assert.equal(await items.getByRole('link').count(), await items.count())
      await items.filter({ hasText: 'anthropic-eu' }).first().getByRole('link').click()
      await titleOf(page, 'anthropic-eu')
      await page.goBack()
      const low = items.filter({ hasText: 'Balance of juniper-studio is low' })
      await low.getByRole('link', { name: 'Book a credit' }).click()
      await titleOf(page, 'juniper-studio')
      await page.getByRole('button', { name: 'Credit', exact: true }).waitFor()
    })
    await console.withConsole({ role: 'viewer', path: '/' }, async (page) => {
      await link(page, 'Open account').first().waitFor()
      assert.equal(await link(page, 'Book a credit').count(), 0)
    })
  })

  test('says that the gateway is gone, connects again by itself, and reads what it missed', async () => {
    const { gateway, browser, tokens } = console
    const proxy = await startFaultProxy({ port: Number(new URL(gateway.adminUrl).port) })
    const origin = `http://127.0.0.1:${proxy.port}`
    const allowed = [/net::ERR_/]
    try {
      await browser.withContext({ origin, allowed }, async (context) => {
        await beginSession(context, { origin, token: tokens.viewer })
        const page = await context.newPage()
        await page.goto(`${origin}/console/`)
        const { today } = await overviewOf(gateway)
        await requestsShown(page, today.requests)
        proxy.refuse()
        await page.getByRole('alert').getByText('The gateway does not answer.').waitFor()
        await page.getByText(/What you see is from .* ago\./).waitFor()
        await ask(console)
        await requestsShown(page, today.requests)
        proxy.accept()
        await requestsShown(page, today.requests + 1)
        assert.equal(await page.getByRole('alert').count(), 0)
      })
    } finally {
      await proxy.close()
    }
  })

  test('leads a new installation to its first request', async () => {
    let token = ''
    let vendorUrl = ''
    const empty = await scenario({
      async fill(context, url) {
        vendorUrl = url
        token = (await createAdminToken(context, { name: 'owner', role: 'owner' })).secret
        return { id: '', name: '', key: '', token: '' }
      },
    })
    const { adminUrl: origin, context: store } = empty
    try {
      await console.browser.withContext({ origin }, async (context) => {
        await beginSession(context, { origin, token })
        const page = await context.newPage()
        await page.goto(`${origin}/console/`)
        await page.getByText('No request has come yet').waitFor()
        await link(page, 'Open catalogue').click()
        await titleOf(page, 'Models and prices')
        await applyCatalogue(store, { text: smallCatalogue(vendorUrl) })
        await link(page, 'Overview').click()
        await link(page, 'Open accounts').click()
        await titleOf(page, 'Accounts')
        const { id } = await createAccount(store, { name: 'first', balance_usd: '5' })
        await link(page, 'Overview').click()
        await link(page, 'Open account').click()
        await titleOf(page, 'first')
        const { secret } = await createClientKey(store, { account: id, name: 'first' })
        await link(page, 'Overview').click()
        await page.getByText('No request has come yet').waitFor()
        const answer = await post(
          `${empty.url}/alpha/v1/messages`,
          secret,
          messagesRequest({ model: 'large-1' }),
        )
        assert.equal(answer.status, 200, answer.text)
        await requestsShown(page, 1)
        await page.getByText('No request has come yet').waitFor({ state: 'detached' })
        await page.getByRole('heading', { name: 'Accounts today' }).waitFor()
      })
    } finally {
      await empty.close()
    }
  })
})
