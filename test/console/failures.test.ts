/**
 * What a person reads where something is missing or refused: within the frame of the console, with a way
 * on.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { eventually } from '../support/eventually.ts'
import { checkAccessibility, checkFitsWindow } from '../support/console/look.ts'

const missing = [/status of 404/, /There is no (?:account|channel) no-such-/]

describe('a person who meets a failure', () => {
  let console: OpenConsole
  before(async () => {
    console = await openConsole({ requests: 20 })
  })
  after(() => console.close())

  const frame = (page: Page) => page.getByRole('navigation', { name: 'Console' })

  test('keeps the frame at an address without a page', () =>
    console.withConsole({ path: '/no/such/page' }, async (page) => {
      await page.getByRole('heading', { level: 1, name: 'Page not found' }).waitFor()
      await frame(page).waitFor()
      await page.getByRole('link', { name: 'Go to the overview' }).click()
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    }))

  for (const [path, section] of [
    ['/accounts/no-such-account', 'Accounts'],
    ['/channels/no-such-channel', 'Channels'],
  ] as const)
    test(`reads that a thing does not exist, and where the others are: ${path}`, () =>
      console.withConsole({ path, allowed: missing }, async (page) => {
        await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor()
        await frame(page).waitFor()
        const main = page.getByRole('main')
        assert.ok(!(await main.innerText()).includes('turnpike'), 'no command line')
        assert.equal(await main.getByRole('button', { name: 'Try again' }).count(), 0)
        await main.getByRole('link', { name: `Go to ${section.toLowerCase()}` }).click()
        await page.getByRole('heading', { level: 1, name: section }).waitFor()
      }))

  test('reads in plain words that a token is not valid', () =>
    console.browser.withPage(
      { origin: console.gateway.adminUrl, allowed: [/ 401 /] },
      async (page) => {
        await page.goto(`${console.gateway.adminUrl}/console/`)
        await page.getByLabel('Admin token').fill(`ad_${'x'.repeat(40)}`)
        await page.getByRole('button', { name: 'Sign in' }).click()
        const told = await page.getByRole('alert').innerText()
        assert.match(told, /^This admin token is not valid/)
        assert.doesNotMatch(told, /Authorization/)
      },
    ))

  test('gets no field for a token over plain http, but the ways in, with the real port', () =>
    console.browser.withPage(
      { origin: console.gateway.adminUrl, width: 'narrow', isChanged: true },
      async (page) => {
        await page.addInitScript(
          "Object.defineProperty(window, 'isSecureContext', { value: false })",
        )
        await page.goto(`${console.gateway.adminUrl}/console/`)
        const { port } = new URL(console.gateway.adminUrl)
        await page.getByText(`ssh -L ${port}:127.0.0.1:${port}`).waitFor()
        await page.getByText('Open the console over https').waitFor()
        assert.equal(await page.locator('input').count(), 0)
        await checkAccessibility(page)
        await checkFitsWindow(page)
      },
    ))

  test('reads what to do while the page does not start', () =>
    console.browser.withPage(
      { origin: console.gateway.adminUrl, allowed: [/index\.js/] },
      async (page) => {
        await page.route('**/assets/index.js', (route) => route.abort())
        await page.goto(`${console.gateway.adminUrl}/console/`)
        await page.getByText('If nothing follows, load it again.').waitFor()
      },
    ))

  test('finds every page of an open console after the gateway behind it was replaced', () =>
    console.withConsole({ path: '/' }, async (page) => {
      await eventually(
        'all scripts are here',
        () =>
          page.evaluate<string[]>(`performance.getEntriesByType('resource')
            .filter(({ responseEnd }) => responseEnd > 0).map(({ name }) => name)`),
        (loaded) =>
          ['later', 'plot', 'forms', 'code-editor'].every((script) =>
            loaded.some((address) => address.endsWith(`/assets/${script}.js`)),
          ),
      )
      // No script of this release is there any more.
      await page.route('**/assets/**', (route) => route.abort())
      for (const [section, title] of [
        ['Accounts', 'Accounts'],
        ['Requests', 'Requests'],
        ['Channels', 'Channels'],
        ['Models and prices', 'Models and prices'],
        ['Reports', 'Reports'],
        ['Settings', 'Settings'],
      ] as const) {
        await frame(page).getByRole('link', { name: section, exact: true }).click()
        await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()
      }
      await frame(page).getByRole('link', { name: 'Reports', exact: true }).click()
      await page.locator('.u-over').waitFor()
    }))

  test('can load again where a part of the page is missing', () =>
    console.withConsole(
      { path: '/', allowed: [/code-editor/, /dynamically imported module/, /error/i] },
      async (page) => {
        await page.route('**/assets/code-editor.js', (route) => route.abort())
        await page.goto(`${console.gateway.adminUrl}/console/models?tab=catalogue`)
        await page.getByText('This page has failed.').waitFor()
        await frame(page).waitFor()
        await page.unroute('**/assets/code-editor.js')
        await page.getByRole('button', { name: 'Load again' }).click()
        await page.getByText('This page has failed.').waitFor({ state: 'detached' })
      },
    ))
})
