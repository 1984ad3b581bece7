/**
 * The tasks of operators and account holders, done by clicking, in every language of the pages: none takes
 * more clicks beside typing than a person should need.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { languages } from '../../console/src/messages/language.ts'
import { newId } from '../../src/base/id.ts'
import { saveFreeExchanges } from '../../src/ledger/free-exchange-store.ts'
import { choose } from '../support/console/choose.ts'
import { countClicks } from '../support/console/clicks.ts'
import { sayIn } from '../support/console/languages.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { post } from '../support/http-client.ts'
import { createClientKey, listRequests } from '../support/operations.ts'
import { messagesRequest } from '../support/requests.ts'
import { variants } from '../support/variants.ts'

const account = 'northwind-support'
const disableIt = '{count, plural, one {Disable channel} other {Disable}}'

for (const language of variants(languages, (one) => one === 'en'))
  describe(`in ${language}`, () => {
    const say = sayIn(language)
    const locale = language === 'en' ? 'en-GB' : language
    let console: OpenConsole
    before(async () => {
      console = await openConsole({ requests: 400 })
    })
    after(() => console.close())

    /** Fails where the task takes more clicks than `clicksMax` from this page on. */
    function operate(
      { clicksMax, path = '/' }: { readonly clicksMax: number; readonly path?: string },
      task: (page: Page) => Promise<void>,
    ): Promise<void> {
      return console.withConsole({ role: 'owner', path, language: locale }, async (page) => {
        await page.getByRole('heading', { level: 1 }).waitFor()
        await countAtMost(clicksMax, page, task)
      })
    }

    type Text = Parameters<typeof say>
    const period = new RegExp(`${say('Period').source}|${say('Period (UTC)').source}`)
    const button = (within: Page | Locator, ...text: Text): Locator =>
      within.getByRole('button', { name: say(...text) })
    const field = (within: Page | Locator, ...text: Text): Locator =>
      within.getByLabel(say(...text))
    const item = (page: Page, ...text: Text): Locator =>
      page.getByRole('menuitem', { name: say(...text) })
    const open = (page: Page, section: string): Promise<void> =>
      page
        .getByRole('navigation', { name: say('Console') })
        .getByRole('link', { name: say(section) })
        .click()
    /** Answers the question of a dialog. */
    const confirm = (page: Page, ...text: Text): Promise<void> =>
      button(page.getByRole('alertdialog').or(page.getByRole('dialog')), ...text).click()
    const oneRow = (page: Page): Promise<void> =>
      page.getByText(say('{count, plural, one {# row} other {# rows}}', { count: 1 })).waitFor()
    async function choosePeriod(page: Page, preset: string): Promise<void> {
      await page.getByRole('group', { name: period }).getByRole('button').first().click()
      await button(page.getByRole('dialog', { name: period }), preset).click()
    }
    async function find(page: Page, name: string): Promise<void> {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: say('Search everything') }).fill(name)
      await page
        .getByRole('option', { name: new RegExp(name) })
        .first()
        .waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name }).waitFor()
    }

    test('makes an account with a key, and sees its first request', () =>
      operate({ clicksMax: 6 }, async (page) => {
        await open(page, 'Accounts')
        await button(page, 'New account').click()
        const dialog = page.getByRole('dialog')
        await field(dialog, 'Name').fill('first-steps')
        await field(dialog, 'First credit').fill('10')
        await field(dialog, 'First credit').press('Enter')
        await page.getByRole('heading', { level: 1, name: 'first-steps' }).waitFor()
        await button(page, 'New key').click()
        await field(dialog, 'Name').fill('laptop')
        await field(dialog, 'Name').press('Enter')
        const secret = await dialog.getByText(/^cr_/).first().innerText()
        await button(dialog, 'Copy').first().click()
        await button(dialog, 'Done').click()
        await open(page, 'Requests')
        const url = `${console.gateway.url}/anthropic/v1/messages`
        const answer = await post(url, secret, messagesRequest({ model: 'claude-haiku-5-5' }))
        assert.equal(answer.status, 200, answer.text)
        await page.getByRole('row').filter({ hasText: 'first-steps' }).waitFor()
      }))

    test("reads why a customer's request failed yesterday", async () => {
      const code = 'ledger.monthly_limit_reached'
      const yesterday = new Date().setUTCHours(0, 0, 0, 0) - 3_600_000
      await saveFreeExchanges(console.gateway.context.database, [
        {
          accountId: console.gateway.account.id,
          exchangeId: newId('ex', yesterday),
          startedAtMs: yesterday,
          endedAtMs: yesterday,
          keyId: 'key_1',
          vendor: 'openai',
          model: 'gpt-6.1-terra',
          operation: 'chat.completions.create',
          channel: undefined,
          ending: 'not_admitted',
          status: 429,
          code,
          askedModel: undefined,
          vendorRequestId: undefined,
          attempts: [],
          client: 'curl',
          address: '',
          label: '',
          standsFor: 1,
        },
      ])
      await operate({ clicksMax: 4 }, async (page) => {
        await open(page, 'Requests')
        for (const [label, text] of [
          ['Account', account],
          ['Error code', code],
        ] as const) {
          await field(page, label).fill(text)
          await field(page, label).press('Enter')
        }
        await choosePeriod(page, 'Yesterday')
        await oneRow(page)
        await page.getByRole('row').nth(1).getByRole('link').first().click()
        await page.getByRole('heading', { level: 2, name: say('Facts') }).waitFor()
        await page.getByText(code).first().waitFor()
      })
    })

    test('gives the charge of a request back', async () => {
      const { items } = await listRequests(console.gateway.context, {})
      const charged = items.find(({ cost_usd: usd }) => Number(usd) > 0.001)
      assert.ok(charged !== undefined)
      await operate({ clicksMax: 2, path: `/requests/${charged.id}` }, async (page) => {
        await button(page, 'Refund').click()
        await field(page, 'Reason').fill('a wrong answer')
        await page.getByRole('dialog').locator('button[type=submit]').click()
        await page.getByText('a wrong answer').waitFor()
      })
    })

    test('gives a key a budget by month', () =>
      operate({ clicksMax: 5 }, async (page) => {
        await find(page, 'blue-harbor-legal')
        await button(page, 'Actions of {name}', { name: 'laptop' }).click()
        await item(page, 'Edit key').click()
        await field(page, 'Per month').fill('61')
        await button(page, 'Save').click()
        await page.getByText(say('The key is changed.')).waitFor()
        await page.getByText('$61.00').waitFor()
      }))

    test("compares a vendor's invoice", () =>
      operate({ clicksMax: 4 }, async (page) => {
        await open(page, 'Reconciliation')
        await choose(field(page, 'Channel'), 'openai-main')
        const text = 'model,requests,input,output,cost_usd\r\ngpt-6.2-sol,10,1000,500,0.02'
        await field(page, 'Files of the vendor').setInputFiles({
          name: 'invoice.csv',
          mimeType: 'text/csv',
          buffer: Buffer.from(text),
        })
        await button(page, 'Compare').click()
        await page.getByRole('table', { name: say('Counts') }).waitFor()
      }))

    test('sends a low balance to Slack', () =>
      operate({ clicksMax: 9 }, async (page) => {
        await open(page, 'Alerts')
        await page
          .getByRole('main')
          .getByRole('link', { name: say('Targets') })
          .click()
        await button(page, 'New target').click()
        const dialog = page.getByRole('dialog')
        await choose(field(dialog, 'Kind of target'), 'slack')
        await field(dialog, 'Name').fill('accounts-channel')
        await field(dialog, 'Address').fill('https://chat.invalid/hooks/1')
        await button(dialog, 'Create target').click()
        await page.getByRole('row').filter({ hasText: 'accounts-channel' }).waitFor()
        await find(page, account)
        await button(page, 'Edit').click()
        await field(page, 'Alert below').fill('5')
        await button(page, 'Save').click()
        await page.getByText(say('The account {name} is changed.', { name: account })).waitFor()
      }))

    test('raises a price from tomorrow', () =>
      operate({ clicksMax: 5 }, async (page) => {
        const model = 'gpt-6.1-terra'
        const nowMs = console.gateway.context.clock.now()
        await open(page, 'Models and prices')
        await button(page, 'Actions for {model}', { model }).click()
        await item(page, 'Change price').click()
        const dialog = page.getByRole('dialog')
        await field(dialog, 'Input').fill('2')
        await field(dialog, 'In force from').fill(
          new Date(nowMs + 86_400_000).toISOString().slice(0, 10),
        )
        await button(dialog, 'Show changes').click()
        await button(dialog, 'Apply').click()
        await page.getByText(say('The price of {model} is changed.', { model })).waitFor()
      }))

    test('disables a channel, and enables it again', () =>
      operate({ clicksMax: 5 }, async (page) => {
        await find(page, 'openai-azure')
        await button(page, 'Disable').click()
        await confirm(page, disableIt, { count: 1 })
        await button(page, 'Enable').click()
        await button(page, 'Disable').waitFor()
      }))

    test('reads the margin of the least profitable model', () =>
      operate({ clicksMax: 3 }, async (page) => {
        await open(page, 'Reports')
        const table = page.getByRole('table', { name: say('Report') })
        for (const order of ['descending', 'ascending']) {
          await button(table, 'Margin').click()
          await table.locator(`[aria-sort=${order}]`).getByText(say('Margin')).waitFor()
        }
        await page.locator('[aria-busy=true]').waitFor({ state: 'detached' })
        const heads = await table.getByRole('columnheader').allInnerTexts()
        const place = heads.findIndex((text) => say('Margin').test(text.trim())) + 1
        const margins = await table
          .locator(`tbody td:nth-child(${place}) data`)
          .evaluateAll((all) => all.map((one) => Number(Reflect.get(one, 'value'))))
        assert.ok(margins.length > 3)
        assert.deepEqual(
          margins,
          margins.toSorted((one, other) => one - other),
        )
      }))

    test("opens last month's statement of a customer", () =>
      operate({ clicksMax: 3 }, async (page) => {
        await find(page, account)
        await page
          .getByRole('navigation', { name: say('About this account') })
          .getByRole('link', { name: say('Statement') })
          .click()
        await choosePeriod(page, 'Last month')
        await page.getByText(say('Closing balance')).waitFor()
      }))

    test('revokes a leaked key whose first characters are known', async () => {
      const { secret } = await createClientKey(console.gateway.context, { account, name: 'leaked' })
      await operate({ clicksMax: 3 }, async (page) => {
        await open(page, 'Keys')
        await field(page, 'Secret or name').fill(secret.slice(0, 7))
        await oneRow(page)
        await button(page, 'Revoke {name}', { name: 'leaked' }).click()
        await confirm(page, 'Revoke')
        await page.getByText(say('revoked')).first().waitFor()
      })
    })

    test('signs out everywhere', () =>
      operate({ clicksMax: 2 }, async (page) => {
        await page.getByRole('button', { name: 'Ada' }).click()
        await item(page, 'Sign out everywhere').click()
        await page.getByRole('heading', { name: say('Sign in to Turnpike') }).waitFor()
      }))

    /** From the account page, after its token is given. */
    function look(clicksMax: number, task: (page: Page) => Promise<void>): Promise<void> {
      return console.withAccountPage({ language: locale }, async (page) => {
        await field(page, 'Read-only token').fill(console.gateway.account.token)
        await field(page, 'Read-only token').press('Enter')
        await page.getByRole('heading', { level: 1, name: account }).waitFor()
        await countAtMost(clicksMax, page, task)
      })
    }

    test('as a holder reads what cost most yesterday', () =>
      look(2, async (page) => {
        await page.getByRole('link', { name: say('What cost most yesterday') }).click()
        await page.waitForURL(/sort=cost/)
        await page.getByRole('table', { name: say('Requests of the account') }).waitFor()
      }))

    test("as a holder saves last month's statement", () =>
      look(3, async (page) => {
        await page.getByRole('link', { name: say('Statement') }).click()
        await button(page, 'Last month').click()
        const download = page.waitForEvent('download')
        await page.getByRole('button', { name: 'CSV' }).click()
        await download
      }))

    for (const client of ['Claude Code', 'OpenAI SDK, Python'])
      test(`as a holder sees how to set up ${client}`, () =>
        look(3, async (page) => {
          await page.getByRole('link', { name: say('Set up') }).click()
          await choose(field(page, 'Client'), client)
          await page.getByText(console.gateway.url).first().waitFor()
        }))
  })

async function countAtMost(
  clicksMax: number,
  page: Page,
  task: (page: Page) => Promise<void>,
): Promise<void> {
  const clicks = await countClicks(page)
  await task(page)
  const count = await clicks()
  assert.ok(count <= clicksMax, `${count} clicks`)
}
