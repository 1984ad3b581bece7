/** Tasks of an operator, done by clicking, with no more clicks beside typing than a person should need. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { countClicks } from '../support/console/clicks.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'

describe('an operator', () => {
  let console: OpenConsole
  before(async () => {
    console = await openConsole({ requests: 400 })
  })
  after(() => console.close())

  function work(clicksMax: number, task: (page: Page) => Promise<void>): Promise<void> {
    return console.withConsole({ role: 'operator', path: '/' }, async (page) => {
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      const clicks = await countClicks(page)
      await task(page)
      const count = await clicks()
      assert.ok(count <= clicksMax, `${count} clicks`)
    })
  }

  const open = (page: Page, section: string): Promise<void> =>
    page
      .getByRole('navigation', { name: 'Console' })
      .getByRole('link', { name: section, exact: true })
      .click()

  test('reads the margin of the least profitable model', () =>
    work(3, async (page) => {
      await open(page, 'Reports')
      const margin = page.getByRole('button', { name: 'Margin', exact: true })
      await margin.click()
      await margin.click()
      const table = page.getByRole('table', { name: 'Report' })
      await table.locator('[aria-sort=ascending]').getByText('Margin', { exact: true }).waitFor()
      await page.locator('[aria-busy=true]').waitFor({ state: 'detached' })
      const margins = await table
        .locator('tbody td[data-name="Margin"] data')
        .evaluateAll((all) => all.map((one) => Number(Reflect.get(one, 'value'))))
      assert.ok(margins.length > 3)
      assert.deepEqual(
        margins,
        margins.toSorted((one, other) => one - other),
      )
    }))

  test("opens last month's statement of a customer", () =>
    work(3, async (page) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('dialog', { name: 'Search' }).getByRole('combobox').fill('northwind')
      await page
        .getByRole('option', { name: /northwind-support/ })
        .first()
        .click()
      await page.getByRole('heading', { level: 1, name: 'northwind-support' }).waitFor()
      await page
        .getByRole('navigation', { name: 'About this account' })
        .getByRole('link', { name: 'Statement' })
        .click()
      await page.getByRole('button', { name: 'Last month' }).click()
      await page.getByText('Closing balance').waitFor()
      const { searchParams } = new URL(page.url())
      assert.equal(searchParams.get('range'), 'lastMonth')
    }))
})
