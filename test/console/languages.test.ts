/** Both pages in the language of the browser, or in the one that a person has chosen. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { addresses } from '../support/console/addresses.ts'
import { checkAccessibility, checkFitsWindow, takePicture } from '../support/console/look.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { listRequests } from '../support/operations.ts'
import { variants } from '../support/variants.ts'

describe('the language of the pages', () => {
  let console: OpenConsole
  before(async () => {
    console = await openConsole({ requests: 300 })
  })
  after(() => console.close())

  const languageOf = (page: Page): Promise<string> =>
    page.evaluate<string>('document.documentElement.lang')

  test('is that of the browser, until a person chooses another', async () => {
    const visit = { path: '/channels', language: 'zh-CN' } as const
    await console.withConsole(visit, async (page) => {
      await page.getByRole('heading', { level: 1, name: '渠道' }).waitFor()
      assert.equal(await languageOf(page), 'zh-CN')
      await page.getByRole('button', { name: 'Ada (owner)' }).click()
      await page.getByRole('menuitem', { name: 'English' }).click()
      await page.getByRole('heading', { level: 1, name: 'Channels' }).waitFor()
      assert.equal(await languageOf(page), 'en')
      await page.reload()
      await page.getByRole('heading', { level: 1, name: 'Channels' }).waitFor()
      await page.getByRole('button', { name: 'Ada (owner)' }).click()
      await page.getByRole('menuitem', { name: '简体中文' }).click()
      await page.getByRole('heading', { level: 1, name: '渠道' }).waitFor()
    })
  })

  test('loads the words of that language alone', () =>
    console.withConsole({ path: '/', language: 'zh-CN' }, async (page) => {
      await page.getByRole('heading', { level: 1 }).waitFor()
      const scripts = await page.evaluate<string[]>(
        `performance.getEntriesByType('resource').map(({ name }) => name.split('/').at(-1))`,
      )
      assert.ok(scripts.some((name) => /words.*zh-cn/.test(name)))
      assert.deepEqual(
        scripts.filter((name) => /words.*-en/.test(name)),
        [],
      )
    }))

  test('can be chosen before the sign-in, on both pages', async () => {
    const { gateway, browser } = console
    await browser.withPage({ origin: gateway.adminUrl }, async (page) => {
      await page.goto(`${gateway.adminUrl}/console/`)
      await page.getByRole('button', { name: '简体中文' }).click()
      await page.getByLabel('管理令牌').waitFor()
      assert.equal(await languageOf(page), 'zh-CN')
    })
    await console.withAccountPage({ language: 'zh-CN' }, async (page) => {
      await page.getByRole('button', { name: 'English' }).click()
      await page.getByLabel('Read-only token').waitFor()
    })
  })

  const windows = [
    { width: 'narrow', theme: 'dark' },
    { width: 'middle', theme: 'light' },
    { width: 'laptop', theme: 'dark' },
    { width: 'wide', theme: 'light' },
  ] as const
  // Chinese words are short: where they do not fit, they do so in the narrow window. What accessibility asks
  // for does not depend on the words.
  for (const { width, theme } of variants(windows, (one) => one.width === 'narrow'))
    test(`is Chinese on pages that can be read and fit a ${width} window`, async () => {
      const { items } = await listRequests(console.gateway.context, { limit: 1 })
      const visit = { path: '/', language: 'zh-CN', width, theme } as const
      await console.withConsole(visit, async (page) => {
        for (const address of Object.values(addresses)) {
          const path = address.replace('$request', items[0]?.id ?? '')
          await page.goto(`${console.gateway.adminUrl}/console${path}`)
          await page.getByRole('heading', { level: 1 }).waitFor()
          await page.locator('.loading').first().waitFor({ state: 'detached' })
          await checkFitsWindow(page)
          if (width === 'wide') await checkAccessibility(page)
          const name = address === '/' ? 'overview' : address.slice(1).replaceAll(/\W+/g, '-')
          await takePicture(page, `zh-${name}`)
        }
      })
    })
})
