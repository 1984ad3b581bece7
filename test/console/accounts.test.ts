/** The pages of accounts: each task of an operator is done by clicking, and the store then agrees. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { firingAlerts } from '../../src/operations/alerts/firing.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { choose as chooseOption } from '../support/console/choose.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { eventually } from '../support/eventually.ts'
import { post, send } from '../support/http-client.ts'
import { messagesRequest } from '../support/requests.ts'
import {
  changeAccount,
  createAccount,
  listAccountKeys,
  listAccounts,
  recentActions,
  showAccount,
} from '../support/operations.ts'
import { readStatement } from '../support/statement.ts'

let console: OpenConsole
before(async () => {
  console = await openConsole({ requests: 300 })
})
after(() => console.close())

const show = (account: string) => showAccount(console.gateway.context, { account })
const titleOf = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const rowsOf = (page: Page, caption: string) =>
  page.getByRole('table', { name: caption, exact: true }).getByRole('row')
/** The texts of the first column. */
const namesIn = (page: Page): Promise<string[]> =>
  page.getByRole('table', { name: 'Accounts' }).getByRole('link').allInnerTexts()

/** The exact values behind the rounded ones that are shown. */
async function exactValues(values: Locator): Promise<readonly (string | null)[]> {
  const found = await values.all()
  return Promise.all(found.map((value) => value.getAttribute('value')))
}

/** Opens one account by its link in the list. */
async function openAccount(page: Page, name: string): Promise<void> {
  await page.getByRole('link', { name, exact: true }).click()
  await titleOf(page, name)
}

const openTab = (page: Page, name: string): Promise<void> =>
  page
    .getByRole('navigation', { name: 'About this account' })
    .getByRole('link', { name, exact: true })
    .click()

/** Copies the secret that a dialog shows, closes the dialog, and returns the secret. */
async function readSecretOnce(page: Page, form: RegExp): Promise<string> {
  await page.getByText('It is not shown again.').waitFor()
  const dialog = page.getByRole('dialog')
  const secret = await dialog.locator('code').filter({ hasText: form }).first().innerText()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await button(page, 'Copy').first().click()
  await page.getByText('Copied', { exact: true }).waitFor()
  assert.equal(await page.evaluate<string>('navigator.clipboard.readText()'), secret)
  await button(page, 'Done').click()
  await dialog.waitFor({ state: 'detached' })
  assert.equal(await page.getByText(secret).count(), 0)
  return secret
}

async function savedBy(page: Page, click: () => Promise<void>): Promise<string> {
  const [download] = await Promise.all([page.waitForEvent('download'), click()])
  return readFile(await download.path(), 'utf8')
}

describe('the list of accounts', () => {
  test('finds by name and status, sorts, and keeps both in its address', async () => {
    await console.withConsole({ path: '/accounts' }, async (page) => {
      await page.getByRole('searchbox', { name: 'Name' }).fill('o')
      await page.getByText('7 rows').waitFor()
      await chooseOption(page.getByRole('combobox', { name: 'Show' }), 'Low or no balance')
      await page.getByText('2 rows').waitFor()
      assert.deepEqual(await namesIn(page), ['juniper-studio', 'orbit-games'])
      await button(page, 'Balance').click()
      await page
        .getByRole('columnheader', { name: 'Balance' })
        .and(page.locator('[aria-sort=descending]'))
        .waitFor()
      await button(page, 'Balance').click()
      await page.waitForURL(/order=asc/)
      await page.reload()
      await page.getByText('2 rows').waitFor()
      assert.deepEqual(await namesIn(page), ['orbit-games', 'juniper-studio'])
      assert.match(page.url(), /\?q=o&status=low&sort=balance&order=asc$/)
    })
  })

  test('shows exact figures of the API and saves all rows of the filter', async () => {
    const { items } = await listAccounts(console.gateway.context, { status: 'active', limit: 1000 })
    await console.withConsole({ path: '/accounts?status=active' }, async (page) => {
      await page.getByText(`${items.length} rows`).waitFor()
      for (const { name, balance_usd: balance, spend } of items) {
        const row = page
          .getByRole('row')
          .filter({ has: page.getByRole('link', { name, exact: true }) })
        const values = await exactValues(row.locator('data'))
        assert.deepEqual(values, [balance, spend.today_usd, spend.total_usd])
      }
      const text = await savedBy(page, () => page.getByRole('link', { name: 'Export CSV' }).click())
      const [head, ...lines] = text.trimEnd().split('\r\n')
      assert.match(head ?? '', /^id,name,status,balance_usd,/)
      assert.deepEqual(
        lines.map((line) => line.split(',').slice(0, 4).join()),
        items.map(({ id, name, balance_usd: balance }) => [id, name, 'active', balance].join()),
      )
    })
  })
})

describe('an operator', () => {
  test('makes an account with a balance and limits', async () => {
    const visit = { role: 'operator', path: '/accounts', allowed: [/status of 400/] } as const
    await console.withConsole(visit, async (page) => {
      await button(page, 'New account').click()
      await page.getByLabel('Name').last().fill('maple-bakery')
      await page.getByLabel('Contact').fill('not an address')
      await page.getByLabel('First credit').fill('12.5')
      await page.getByRole('dialog').getByText('Limits', { exact: true }).click()
      await page.getByLabel('Requests per minute').fill('90')
      await button(page, 'Create account').click()
      await page.getByText('must be one e-mail address').first().waitFor()
      await page.getByLabel('Contact').fill('hello@maple.example')
      await button(page, 'Create account').click()
      await titleOf(page, 'maple-bakery')
      await page.getByText('$12.50').first().waitFor()
    })
    const { balance_usd: balance, limits, contact } = await show('maple-bakery')
    assert.deepEqual(
      { balance, rpm: limits.rpm, contact },
      { balance: '12.5', rpm: 90, contact: 'hello@maple.example' },
    )
  })

  test('books a credit once, and is asked before one that may be a mistake', async () => {
    const { balance_usd: before } = await show('harvest-retail')
    const visit = { role: 'operator', path: '/accounts', allowed: [/status of 409/] } as const
    await console.withConsole(visit, async (page) => {
      await openAccount(page, 'harvest-retail')
      const book = async (amount: string, reference: string): Promise<void> => {
        await button(page, 'Credit').click()
        await page.getByLabel('Amount').fill(amount)
        await page.getByRole('textbox', { name: 'Reference' }).fill(reference)
        await button(page, 'Book').click()
      }
      await book('20', 'invoice-77')
      await page.getByText(/^Booked \$20\.00\./).waitFor()
      await book('20', 'invoice-77')
      await page.getByText('This reference is booked already.').waitFor()
      await book('500000', 'typing mistake')
      await page.getByText('This is more than 100 times the largest credit').waitFor()
      await button(page, 'Cancel').click()
      await button(page, 'Discard').click()
      await book('-1000', 'correction-77')
      await page.getByText('This takes money back.').waitFor()
      assert.equal((await show('harvest-retail')).balance_usd, String(Number(before) + 20))
      await button(page, 'Take it back').click()
      await page.getByText(/^Booked −\$1,000\.00\./).waitFor()
      await page.getByText('no balance', { exact: true }).waitFor()
    })
    assert.equal((await show('harvest-retail')).balance_usd, String(Number(before) - 980))
  })

  test('suspends, resumes, closes and reopens an account, asked each time', async () => {
    await createAccount(console.gateway.context, { name: 'quiet-cafe', balance_usd: '3' })
    await console.withConsole({ role: 'operator', path: '/accounts' }, async (page) => {
      await openAccount(page, 'quiet-cafe')
      for (const [verb, status] of [
        ['Suspend', 'suspended'],
        ['Resume', 'active'],
        ['Close', 'closed'],
        ['Reopen', 'active'],
      ] as const) {
        await button(page, 'More actions').click()
        await page.getByRole('menuitem', { name: `${verb} account` }).click()
        const dialog = page.getByRole('alertdialog', { name: `${verb} quiet-cafe?` })
        await dialog.getByRole('button', { name: `${verb} account` }).click()
        await page.getByText(`The account quiet-cafe is ${status} now.`).last().waitFor()
        await dialog.waitFor({ state: 'detached' })
        assert.equal((await show('quiet-cafe')).status, status)
      }
    })
  })

  test('edits an account beside another operator, and keeps what both have changed', async () => {
    await console.withConsole(
      { role: 'operator', path: '/accounts', allowed: [/status of 412/] },
      async (page) => {
        await openAccount(page, 'civic-data')
        await button(page, 'Edit').click()
        await page.getByLabel('Daily limit').fill('7')
        await page.getByLabel('Monthly limit').fill('70')
        await changeAccount(console.gateway.context, {
          account: 'civic-data',
          rpm: 33,
          monthly_usd: '90',
        })
        await button(page, 'Save').click()
        await page.getByText('Another operator has changed this meanwhile').waitFor()
        await page.getByText('Requests per minute: 33').waitFor()
        const clash = page.getByRole('listitem').filter({ hasText: 'you have typed 70' })
        await clash.getByRole('button', { name: 'Use theirs' }).click()
        assert.equal(await page.getByLabel('Daily limit').inputValue(), '7')
        assert.equal(await page.getByLabel('Monthly limit').inputValue(), '90')
        assert.equal(await page.getByLabel('Requests per minute').inputValue(), '33')
        await button(page, 'Save').click()
        await page.getByText('The account civic-data is changed.').waitFor()
        await page.getByText('33 rpm').first().waitFor()
      },
    )
    const { limits } = await show('civic-data')
    assert.deepEqual([limits.daily_usd, limits.monthly_usd, limits.rpm], ['7', '90', 33])
  })

  test('asks before it drops what was typed: by Escape, outside, by the cross, and on the way back', async () => {
    await console.withConsole({ role: 'operator', path: '/accounts' }, async (page) => {
      await openAccount(page, 'civic-data')
      const note = page.getByLabel('Note')
      const save = button(page, 'Save')
      const question = page.getByRole('alertdialog', { name: 'Discard what you have typed?' })
      await button(page, 'Edit').click()
      await note.fill('A note that took a while')
      await page.setViewportSize({ width: 1024, height: 420 })
      for (const leave of [
        () => page.keyboard.press('Escape'),
        () => page.mouse.click(4, 4),
        () => button(page, 'Close').click(),
        () => page.goBack(),
      ]) {
        await leave()
        await question.getByRole('button', { name: 'Keep editing' }).click()
        await question.waitFor({ state: 'detached' })
        assert.equal(await note.inputValue(), 'A note that took a while')
        const [box, height] = [await save.boundingBox(), page.viewportSize()?.height ?? 0]
        assert.ok(box !== null && box.y + box.height <= height, 'Save is out of sight')
      }
      await page.keyboard.press('Escape')
      await question.getByRole('button', { name: 'Discard' }).click()
      await note.waitFor({ state: 'detached' })
      await button(page, 'Edit').click()
      assert.equal(await note.inputValue(), '')
      await page.keyboard.press('Escape')
      await note.waitFor({ state: 'detached' })
    })
  })

  test('makes a key with a secret shown once; its request appears and is refunded', async () => {
    const { gateway } = console
    await console.withConsole({ role: 'operator', path: '/accounts' }, async (page) => {
      await openAccount(page, 'sparrow-health')
      await button(page, 'New key').click()
      await page.getByLabel('Name').fill('browser test')
      await page.getByLabel('Per month').fill('5')
      await chooseOption(page.getByRole('combobox', { name: 'Models' }), 'some')
      await page.getByLabel('claude-haiku-5-5').check()
      await button(page, 'Create key').click()
      const secret = await readSecretOnce(page, /^cr_/)
      const row = rowsOf(page, 'Keys').filter({ hasText: 'browser test' })
      await row.getByText('claude-haiku-5-5').waitFor()

      await openTab(page, 'Requests')
      const before = await show('sparrow-health')
      const answer = await post(
        `${gateway.url}/anthropic/v1/messages`,
        secret,
        messagesRequest({ model: 'claude-haiku-5-5' }),
      )
      assert.equal(answer.status, 200, answer.text)
      assert.notEqual((await show('sparrow-health')).balance_usd, before.balance_usd)
      const requests = rowsOf(page, 'Latest requests').filter({ hasText: 'browser test' })
      await requests.locator('[data-open]').click()
      await button(page, 'Refund').click()
      await page.getByRole('button', { name: /^Give back/ }).click()
      await page.getByText(/went back to sparrow-health\.$/).waitFor()
      assert.equal((await show('sparrow-health')).balance_usd, before.balance_usd)
    })
  })

  test('makes and revokes a read-only token', async () => {
    const account = 'sparrow-health'
    const tokens = () => listAccountKeys(console.gateway.context, { account, kind: 'reader' })
    const usage = (secret: string) =>
      send(`${console.gateway.url}/v1/usage/account`, {
        headers: { authorization: `Bearer ${secret}` },
      })
    await console.withConsole({ role: 'operator', path: '/accounts' }, async (page) => {
      await openAccount(page, account)
      await button(page, 'New read-only token').click()
      await page.getByLabel('Name').fill('accounting')
      await button(page, 'Create token').click()
      const secret = await readSecretOnce(page, /^ro_/)
      await rowsOf(page, 'Read-only tokens').filter({ hasText: 'accounting' }).waitFor()
      assert.deepEqual(
        (await tokens()).map(({ name, state }) => [name, state]),
        [['accounting', 'active']],
      )
      assert.equal((await usage(secret)).status, 200)
      await button(page, 'Actions of accounting').click()
      await page.getByRole('menuitem', { name: 'Revoke' }).click()
      await button(page, 'Revoke').last().click()
      await page.getByText('accounting revoked.').waitFor()
      assert.equal((await tokens())[0]?.state, 'revoked')
      // The gateway follows within a second.
      await eventually(
        'the token is refused',
        () => usage(secret),
        ({ status }) => status === 401,
      )
    })
  })

  test('changes the budget of a key and revokes it', async () => {
    const { context } = console.gateway
    const keyOf = async () => {
      const keys = await listAccountKeys(context, { account: 'blue-harbor-legal', kind: 'client' })
      return keys.find(({ name }) => name === 'laptop')
    }
    await console.withConsole({ role: 'operator', path: '/accounts' }, async (page) => {
      await openAccount(page, 'blue-harbor-legal')
      const act = async (item: string): Promise<void> => {
        await button(page, 'Actions of laptop').click()
        await page.getByRole('menuitem', { name: item }).click()
      }
      await act('Edit key')
      await page.getByLabel('Per month').fill('60')
      await chooseOption(page.getByRole('combobox', { name: 'Models' }), 'all')
      await page.getByLabel('Expires').fill('2099-12-31')
      await button(page, 'Save').click()
      await page.getByText('The key is changed.').waitFor()
      await rowsOf(page, 'Keys').getByText('of $60.00').waitFor()
      const edited = await keyOf()
      assert.deepEqual(
        [edited?.monthly_usd, edited?.models, edited?.expires_at],
        ['60', null, '2100-01-01T00:00:00.000Z'],
      )
      await act('Revoke')
      await button(page, 'Revoke').last().click()
      await page.getByText('laptop revoked.').waitFor()
      assert.equal((await keyOf())?.state, 'revoked')
      await page.getByLabel('Show 2 revoked or expired').check()
      await rowsOf(page, 'Keys').filter({ hasText: 'laptop' }).getByText('revoked').waitFor()
    })
    const [last] = await recentActions(context)
    assert.deepEqual([last?.action, last?.actor_name], ['key.revoke', 'on-call'])
  })
})

describe('the statement of an account', () => {
  test('shows its end with each calculation, and is saved as the API gives it', async () => {
    const { context } = console.gateway
    const { id, created_at: created } = await show('northwind-support')
    const period = {
      from: created.slice(0, 10),
      to: new Date(context.clock.now()).toISOString().slice(0, 10),
    }
    const { lines, end, head } = await readStatement(context, { account: id, ...period, last: 200 })
    const path = `/accounts/${id}?tab=statement&from=${period.from}&to=${period.to}`
    await console.withConsole({ role: 'viewer', path }, async (page) => {
      const rows = rowsOf(page, 'Statement')
      await rows.nth(1).waitFor()
      assert.equal(await rows.count(), lines.length + 1)
      const shown = await exactValues(rows.locator('[data-name=Amount] data'))
      assert.deepEqual(shown, lines.map(({ amount }) => amount).toReversed())
      for (const balance of [head.opening_balance, end.closing_balance])
        assert.notEqual(await page.locator(`.figure data[value="${balance}"]`).count(), 0)
      const charge = lines.findLast(({ exchange }) => exchange !== null)
      await page
        .getByText(charge?.exchange?.calculation ?? '')
        .first()
        .waitFor()
      const csv = await savedBy(page, () =>
        page.getByRole('link', { name: 'CSV', exact: true }).click(),
      )
      assert.match(csv, /^at,kind,amount_usd,balance_usd,/)
      assert.match(csv, new RegExp(`closing,,${end.closing_balance},,`))
      const json: unknown = JSON.parse(
        await savedBy(page, () => page.getByRole('link', { name: 'JSON', exact: true }).click()),
      )
      assert.equal((json as { closing_balance: string }).closing_balance, end.closing_balance)
    })
  })
})

describe('the alerts of an account', () => {
  test('are the firing ones about it', async () => {
    const { id } = await show('juniper-studio')
    const title = 'Balance of juniper-studio is low: 1.84 USD'
    await console.withConsole({ role: 'viewer', path: '/accounts' }, async (page) => {
      await openAccount(page, 'juniper-studio')
      await openTab(page, 'Alerts')
      const rows = rowsOf(page, 'Firing')
      await rows.filter({ hasText: title }).waitFor()
      const firing = valueOf(await firingAlerts(console.gateway.context, { account: id }))
      assert.ok(firing.items.some((alert) => alert.title === title))
      assert.equal(await rows.count(), firing.items.length + 1)
    })
  })
})

describe('a viewer', () => {
  test('reads everything and is offered no change', async () => {
    await console.withConsole({ role: 'viewer', path: '/accounts' }, async (page) => {
      await page.getByText('rows').waitFor()
      assert.equal(await button(page, 'New account').count(), 0)
      await openAccount(page, 'juniper-studio')
      await rowsOf(page, 'Keys').nth(1).waitFor()
      for (const name of ['Credit', 'Edit', 'More actions', 'New key', 'New read-only token'])
        assert.equal(await button(page, name).count(), 0, name)
      assert.equal(await page.getByRole('button', { name: /^Actions of/ }).count(), 0)
      await openTab(page, 'Details')
      await page.getByText('hello@juniper.example').waitFor()
    })
  })
})
