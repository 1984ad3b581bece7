/** The palette and the shortcuts of the console: all by the keyboard, and nothing while a person types. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { checkAccessibility, checkFitsWindow } from '../support/console/look.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { eventually } from '../support/eventually.ts'
import { createClientKey, listRequests, showRequest } from '../support/operations.ts'

let console: OpenConsole
before(async () => {
  console = await openConsole({ requests: 100 })
})
after(() => console.close())

const titleOf = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
const palette = (page: Page) => page.getByRole('combobox', { name: 'Search everything' })

async function openPalette(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('Control+k')
  await eventually(
    'focus in the palette',
    () => page.evaluate<string>('document.activeElement?.role ?? ""'),
    (role) => role === 'combobox',
  )
}

/** Types a text, waits until the first entry has this name, and opens it. */
async function open(page: Page, text: string, first: string): Promise<void> {
  await openPalette(page)
  await page.keyboard.type(text)
  await page
    .getByRole('option', { selected: true })
    .filter({ has: page.getByText(first, { exact: true }) })
    .waitFor()
  await page.keyboard.press('Enter')
  await palette(page).waitFor({ state: 'detached' })
}

describe('the palette', () => {
  test('opens pages, accounts, channels, models and actions by the keyboard alone', async () => {
    await console.withConsole({ path: '/' }, async (page) => {
      await open(page, 'recon', 'Reconciliation')
      await titleOf(page, 'Reconciliation')
      await open(page, 'northw', 'northwind-support')
      await titleOf(page, 'northwind-support')
      await open(page, 'anthropic-eu', 'anthropic-eu')
      await titleOf(page, 'anthropic-eu')
      await open(page, 'new acc', 'New account')
      await page.getByRole('dialog', { name: 'New account' }).waitFor()
      assert.doesNotMatch(page.url(), /new=/)
      await page.keyboard.press('Escape')
      await open(page, 'apply', 'Apply catalogue')
      await page.waitForURL(/tab=catalogue/)
    })
  })

  test('opens a request by its id and by that of the vendor, and a key by its id and head', async () => {
    const { context, account } = console.gateway
    const { items } = await listRequests(context, { limit: 1, status: '2xx' })
    const request = await showRequest(context, { request: items[0]?.id })
    const vendorId = request.vendor_request_id
    assert.ok(vendorId !== null)
    const { key, secret } = await createClientKey(context, { account: account.id, name: 'shown' })
    await console.withConsole({ path: '/' }, async (page) => {
      for (const id of [request.id, vendorId]) {
        await open(page, id, request.model ?? '')
        await page.waitForURL(new RegExp(`/requests/${request.id}`))
        await page.goto(`${console.gateway.adminUrl}/console/`)
      }
      for (const text of [key.id, secret.slice(0, 7)]) {
        await open(page, text, 'shown')
        await page.waitForURL(new RegExp(`key=${key.id}`))
      }
      await openPalette(page)
      await palette(page).fill(secret)
      await palette(page).waitFor({ state: 'detached' })
      await page.waitForURL(new RegExp(`key=${key.id}`))
    })
  })

  test('moves by arrows, says where nothing fits, and gives the focus back', async () => {
    await console.withConsole({ path: '/accounts' }, async (page) => {
      await page.getByRole('searchbox', { name: 'Name' }).focus()
      await openPalette(page)
      const selected = page.getByRole('option', { selected: true })
      await page.keyboard.press('ArrowDown')
      await selected.getByText('Accounts', { exact: true }).waitFor()
      await page.keyboard.press('ArrowUp')
      await page.keyboard.press('ArrowUp')
      assert.equal(
        await palette(page).getAttribute('aria-activedescendant'),
        await selected.getAttribute('id'),
      )
      await page.keyboard.type('no such thing')
      await page.getByText('Nothing fits.').waitFor()
      await page.keyboard.press('Escape')
      await palette(page).waitFor({ state: 'detached' })
      await eventually(
        'focus in the field that had it',
        () => page.evaluate<string>('document.activeElement?.placeholder ?? ""'),
        (text) => text === 'Part of the name',
      )
    })
  })

  test('can be read, and fits the window', async () => {
    await console.withConsole({ path: '/', width: 'narrow' }, async (page) => {
      await page.getByRole('button', { name: 'Search', exact: true }).first().click()
      await palette(page).fill('n')
      await page.getByRole('option').first().waitFor()
      await checkFitsWindow(page)
      await checkAccessibility(page)
    })
    await console.withConsole({ path: '/', theme: 'dark' }, async (page) => {
      await page.getByRole('heading', { level: 1 }).waitFor()
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
      await checkAccessibility(page)
    })
  })
})

describe('shortcuts', () => {
  test('open pages and the search of a page', async () => {
    await console.withConsole({ path: '/' }, async (page) => {
      await titleOf(page, 'Overview')
      for (const [letter, title] of [
        ['a', 'Accounts'],
        ['k', 'Keys'],
        ['r', 'Requests'],
        ['c', 'Channels'],
        ['m', 'Models and prices'],
        ['o', 'Overview'],
      ] as const) {
        await page.keyboard.press('g')
        await page.keyboard.press(letter)
        await titleOf(page, title)
      }
      await page.keyboard.press('g')
      await page.keyboard.press('k')
      await titleOf(page, 'Keys')
      await page.keyboard.press('/')
      await page.keyboard.type('gr?/')
      const field = page.getByRole('searchbox', { name: 'Secret or name' })
      assert.equal(await field.inputValue(), 'gr?/')
      await titleOf(page, 'Keys')
    })
  })

  test('do nothing while a dialog is open', async () => {
    await console.withConsole({ path: '/accounts' }, async (page) => {
      await page.getByRole('button', { name: 'New account' }).click()
      const dialog = page.getByRole('dialog', { name: 'New account' })
      await dialog.getByRole('button', { name: 'Cancel' }).focus()
      for (const key of ['Control+k', '?', 'g', 'k']) await page.keyboard.press(key)
      await dialog.waitFor()
      assert.equal(await page.getByRole('dialog').count(), 1)
      assert.match(page.url(), /\/accounts$/)
    })
  })
})
