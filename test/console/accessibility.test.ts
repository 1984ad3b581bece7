/**
 * Every page of the console and of the account page, with each of its tabs: rules of accessibility, light and
 * dark, in a narrow and in a wide window; and the keyboard alone. With TURNPIKE_TEST_PICTURES it also takes
 * pictures of them all.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { addresses } from '../support/console/addresses.ts'
import {
  checkAccessibility,
  checkColours,
  checkFitsWindow,
  takePicture,
} from '../support/console/look.ts'
import { eventually } from '../support/eventually.ts'
import { memberSettings, signInAs } from '../support/console/members.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { listRequests } from '../support/operations.ts'
import { sealEndedHours } from '../support/sealed-books.ts'
import { variants, volume } from '../support/variants.ts'

const sizes = { wide: { width: 1440, height: 900 }, narrow: { width: 380, height: 800 } }
/** Between them, where a table is wider than its place, the page must not become wider too. */
const betweenWidths = variants([660, 768, 900, 1024], (width) => width === 768)

/** Rules that a size does not change are checked in the first one, and in both by `npm run test:long`. */
const looks = [
  { size: 'wide', other: 'dark', isWhole: true },
  { size: 'narrow', other: 'light', isWhole: volume({ few: 0, all: 1 }) === 1 },
] as const

/** Checks the page as it is, in both sizes and both colour schemes, and leaves it as it was. */
async function checkLook(page: Page, name: string): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByText('Loading…').first().waitFor({ state: 'detached' })
  for (const { size, other, isWhole } of looks) {
    await page.setViewportSize(sizes[size])
    await checkFitsWindow(page)
    // On a phone a row has two lines, and says in the first one which it is.
    assert.equal(await page.locator('tr[data-row]:not(:has([data-place=name]))').count(), 0)
    if (isWhole) await checkAccessibility(page)
    await takePicture(page, name)
    await page.emulateMedia({ colorScheme: other })
    if (isWhole) await checkColours(page)
    await takePicture(page, name)
  }
  for (const width of betweenWidths) {
    await page.setViewportSize({ width, height: 900 })
    await checkFitsWindow(page)
  }
  await page.setViewportSize(sizes.wide)
}

/** Checks the page of this address and all its tabs. */
async function checkTabs(page: Page, name: string): Promise<void> {
  await checkLook(page, name)
  const tabs = page.getByRole('navigation').and(page.locator('.tabs')).getByRole('link')
  const names = await tabs.allInnerTexts()
  for (const [index, tab] of names.entries()) {
    if (index === 0) continue
    await tabs.nth(index).click()
    await page.locator('.tabs [aria-current=page]').filter({ hasText: tab }).waitFor()
    await checkLook(page, `${name}-${tab.toLowerCase().replaceAll(/\W+/g, '-')}`)
  }
}

describe('by everyone', () => {
  let console: OpenConsole
  before(async () => {
    console = await openConsole({ requests: 300, settings: await memberSettings() })
    // A statement then has signed heads.
    await sealEndedHours(console.gateway.context)
  })
  after(() => console.close())

  /** Reads from the element that has the focus. */
  const active = (page: Page, expression: string): Promise<string> =>
    page.evaluate<string>(`String(document.activeElement?.${expression})`)
  /** Waits until the focus is there: dialogs and menus move it a moment later. */
  const focusOn = (page: Page, expression: string, value: string): Promise<string> =>
    eventually(
      `focus: ${expression}`,
      () => active(page, expression),
      (now) => now === value,
    )

  test('the list of addresses has each route of the console', () => {
    const router = join(import.meta.dirname, '../../console/src/router.tsx')
    const paths = [...readFileSync(router, 'utf8').matchAll(/\b(?:path: |pageAt\()'([^']+)'/g)].map(
      ([, path]) => path ?? '',
    )
    assert.deepEqual(new Set(paths), new Set([...Object.keys(addresses), '/sign-in']))
  })

  test('each page of the console can be read, and fits the window', async () => {
    const { items } = await listRequests(console.gateway.context, { limit: 1_000 })
    const failedOver = items.find(({ attempt_count: count }) => count === 2)
    assert.ok(failedOver !== undefined)
    await console.withConsole({ path: '/' }, async (page) => {
      for (const address of Object.values(addresses)) {
        const path = address.replace('$request', failedOver.id)
        await page.goto(`${console.gateway.adminUrl}/console${path}`)
        const name = address === '/' ? 'overview' : address.slice(1).replaceAll(/\W+/g, '-')
        await checkTabs(page, name)
      }
    })
  })

  test('the sign-in can be read, and fits the window', () =>
    console.browser.withPage({ origin: console.gateway.adminUrl }, async (page) => {
      await page.goto(`${console.gateway.adminUrl}/console/`)
      await page.getByLabel('Admin token').waitFor()
      await checkLook(page, 'sign-in')
    }))

  test('each view of the account page can be read, and fits the window', () =>
    console.withAccountPage({}, async (page) => {
      await checkLook(page, 'account-sign-in')
      await page.getByLabel('Read-only token').fill(console.gateway.account.token)
      await page.getByRole('button', { name: 'Show my account' }).click()
      await page.getByRole('heading', { level: 1, name: 'northwind-support' }).waitFor()
      await checkTabs(page, 'account')
    }))

  test('each view of an owner can be read, and fits the window', () =>
    console.browser.withContext({ origin: console.gateway.url }, async (context) => {
      await signInAs(context, console.gateway, 'owner')
      const page = await context.newPage()
      await page.goto(`${console.gateway.url}/account/?view=receipts`)
      await page.locator('td[data-place=name] a').first().click()
      await page.getByRole('button', { name: 'Print' }).waitFor()
      await checkLook(page, 'owner-receipt')
      await page.goto(`${console.gateway.url}/account/?view=people`)
      await checkTabs(page, 'owner')
      await page.getByRole('button', { name: 'Theme and language' }).click()
      await page.getByRole('menuitem', { name: 'Sign out everywhere' }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('link', { name: 'Keys', exact: true }).click()
      await page.getByRole('button', { name: 'New key' }).click()
      await page.getByRole('dialog', { name: 'New key' }).waitFor()
      await checkAccessibility(page)
    }))

  test('the keyboard reaches the content first, and shows where it is', () =>
    console.withConsole({ path: '/' }, async (page) => {
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      await page.keyboard.press('Tab')
      assert.equal(await active(page, 'textContent'), 'Skip to content')
      const skip = await page.getByRole('link', { name: 'Skip to content' }).boundingBox()
      assert.ok(skip !== null && skip.x >= 0 && skip.y >= 0, 'the link is out of sight')
      await page.keyboard.press('Enter')
      assert.equal(await active(page, 'id'), 'content')
      const seen = new Set<string>()
      for (let stop = 0; stop < 8; stop++) {
        await page.keyboard.press('Tab')
        seen.add(await active(page, 'outerHTML'))
        const outline = await page.evaluate<string>(
          'getComputedStyle(document.activeElement).outlineStyle',
        )
        assert.notEqual(outline, 'none', await active(page, 'outerHTML'))
      }
      assert.ok(seen.size > 4, 'the focus does not move')
    }))

  test('a dialog keeps the focus until Escape closes it', () =>
    console.withConsole({ path: '/accounts' }, async (page) => {
      const opener = page.getByRole('button', { name: 'New account' })
      await opener.focus()
      await page.keyboard.press('Enter')
      const dialog = page.getByRole('dialog', { name: 'New account' })
      await dialog.waitFor()
      const fields = await dialog.getByRole('textbox').count()
      for (let stop = 0; stop < fields + 8; stop++) {
        await page.keyboard.press('Tab')
        await focusOn(page, "closest('[role=dialog]')?.tagName", 'DIV')
      }
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      await focusOn(page, 'textContent.trim()', 'New account')
    }))

  test('a menu works by arrow keys, and Escape leaves it', () =>
    console.withConsole({ path: '/' }, async (page) => {
      await page.getByRole('button', { name: 'Ada (owner)' }).focus()
      await page.keyboard.press('Enter')
      const menu = page.getByRole('menu')
      await menu.waitFor()
      await page.keyboard.press('End')
      await focusOn(page, 'textContent.trim()', 'Sign out everywhere')
      await page.keyboard.press('ArrowUp')
      await focusOn(page, 'textContent.trim()', 'Sign out')
      await page.keyboard.press('Escape')
      await menu.waitFor({ state: 'detached' })
      await page.keyboard.press('Enter')
      await menu.getByRole('menuitem', { name: 'Dark theme' }).waitFor()
      await page.keyboard.press('Home')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await menu.waitFor({ state: 'detached' })
      const scheme = await page.evaluate<string>(
        'getComputedStyle(document.documentElement).colorScheme',
      )
      assert.equal(scheme, 'dark')
    }))
})
