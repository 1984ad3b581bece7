/** Reports, made by clicking in a browser: every figure on the page and in the file is that of the API. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'csv-parse/sync'
import type { Page } from 'playwright-core'
import { z } from 'zod'
import { choose } from '../support/console/choose.ts'
import { checkAccessibility, checkFitsWindow, takePicture } from '../support/console/look.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { eventually } from '../support/eventually.ts'
import { variants } from '../support/variants.ts'

const reportRow = z.record(z.string(), z.union([z.string(), z.number()]).nullable())
const csvRow = z.array(z.record(z.string(), z.string()))
type ReportRow = z.output<typeof reportRow>

/** The figures that the page shows where the reader has chosen no columns. */
const usualFigures = [
  'requests',
  'errors',
  'revenue_usd',
  'refunded_usd',
  'own_cost_usd',
  'estimated_cost_usd',
  'unknown_cost_revenue_usd',
  'known_margin_usd',
  'margin_rate',
  'input_tokens',
  'output_tokens',
]
/** The exact value of each cell, and the text of those without one. */
const shownRows = (part: 'tbody' | 'tfoot'): string =>
  `[...document.querySelectorAll('table[role=table] > ${part} > tr')].map((row) =>
    [...row.cells].map((cell) => cell.querySelector('data')?.value ?? cell.innerText.split('\\n')[0]))`

async function choosePeriod(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /^Period \(UTC\): / }).click()
  await page
    .getByRole('dialog', { name: 'Period (UTC)' })
    .getByRole('button', { name, exact: true })
    .click()
}

describe('the page of reports', () => {
  let console: OpenConsole
  before(async () => {
    console = await openConsole({ requests: 400 })
  })
  after(() => console.close())

  const visit: OpenConsole['withConsole'] = (look, work) => console.withConsole(look, work)

  /** The rows of the report that the address of the page asks for. */
  async function readReport(page: Page, by: string): Promise<readonly ReportRow[]> {
    const day = (offset: number): string =>
      new Date(console.gateway.context.clock.now() - offset * 86_400_000).toISOString().slice(0, 10)
    const asked = new URL(page.url()).searchParams
    const question = new URLSearchParams({ by, limit: '1000', from: day(6), to: day(0) })
    for (const name of ['account', 'model', 'channel']) {
      const value = asked.get(name)
      if (value !== null) question.set(name, value)
    }
    const url = `${console.gateway.adminUrl}/admin/v1/reports?${question.toString()}`
    const answer = await page.request.get(url)
    return z.object({ items: z.array(reportRow) }).parse(await answer.json()).items
  }

  /** As cells of the page: its keys, then its figures. */
  function cellsOf(rows: readonly ReportRow[], keys: readonly string[]): readonly string[][] {
    return rows.map((row) => [
      ...keys.map((key) => String(row[key] ?? '')),
      ...usualFigures.map((name) => String(row[name] ?? '–')),
    ])
  }

  const sorted = (rows: readonly string[][]): readonly string[] =>
    rows.map((row) => row.join(' ')).sort()

  test('shows one row for each pair of chosen keys, with the figures of the API and their sum', () =>
    visit({ role: 'viewer', path: '/reports' }, async (page) => {
      const keys = page.getByRole('group', { name: 'One row for each' })
      await choosePeriod(page, 'Last 7 days')
      await keys.getByRole('button', { name: 'Account' }).click()
      await keys.getByRole('button', { name: 'Model' }).click()
      await keys.getByRole('button', { name: 'Channel' }).click()
      const rows = await readReport(page, 'account,channel')
      assert.ok(rows.length > 5)
      await page.getByText(`${rows.length} rows`).waitFor()
      const shown = await page.evaluate<string[][]>(shownRows('tbody'))
      assert.deepEqual(sorted(shown), sorted(cellsOf(rows, ['account', 'channel'])))
      await page.getByRole('row', { name: 'Total' }).waitFor()
      const [total = []] = await page.evaluate<string[][]>(shownRows('tfoot'))
      const [all = []] = cellsOf(await readReport(page, 'total'), [])
      assert.deepEqual(total, ['Total', '', ...all])

      const spendOf = async (): Promise<readonly number[]> =>
        (await page.evaluate<string[][]>(shownRows('tbody'))).map((row) => Number(row[4]))
      const spend = await spendOf()
      assert.deepEqual(
        spend,
        spend.toSorted((one, other) => other - one),
      )
      await page.getByRole('button', { name: 'Spend' }).click()
      await page.locator('[aria-sort=ascending]').getByText('Spend').waitFor()
      await page.locator('[aria-busy=true]').waitFor({ state: 'detached' })
      assert.deepEqual(await spendOf(), spend.toReversed())
    }))

  test('its address keeps keys, period, filters and columns', () =>
    visit({ path: '/reports?by=model&range=7d', allowed: [/status of 404/] }, async (page) => {
      await page.getByLabel('Channel', { exact: true }).fill('openai-main')
      await page.getByLabel('Account', { exact: true }).fill('no-such-account')
      await page.getByLabel('Account', { exact: true }).press('Enter')
      await page.getByText('There is no account no-such-account').first().waitFor()
      await page.getByLabel('Account', { exact: true }).fill('northwind-support')
      await page.getByLabel('Account', { exact: true }).press('Enter')
      const rows = await readReport(page, 'model')
      assert.ok(rows.length > 0)
      await page.getByText(rows.length === 1 ? '1 row' : `${rows.length} rows`).waitFor()
      await page.getByRole('button', { name: 'Columns' }).click()
      const columns = page.getByRole('dialog', { name: 'Columns' })
      await columns.getByLabel('Failovers').check()
      await columns.getByLabel('Own cost', { exact: true }).uncheck()
      await page.keyboard.press('Escape')
      await page.reload()
      await page.getByText(rows.length === 1 ? '1 row' : `${rows.length} rows`).waitFor()
      await page.getByRole('columnheader', { name: 'Failovers' }).waitFor()
      assert.equal(
        await page.getByRole('columnheader', { name: 'Own cost', exact: true }).count(),
        0,
      )
      assert.equal(await page.getByLabel('Channel', { exact: true }).inputValue(), 'openai-main')
      const shown = await page.evaluate<string[][]>(shownRows('tbody'))
      const expected = rows.map((row) => [String(row['model']), String(row['requests'])])
      assert.deepEqual(sorted(shown.map((row) => row.slice(0, 2))), sorted(expected))
    }))

  test('the file has the whole report, exactly', () =>
    visit({ role: 'viewer', path: '/reports?by=day,key&range=7d' }, async (page) => {
      const rows = await readReport(page, 'day,key')
      const download = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Export CSV' }).click()
      const text = await readFile(await (await download).path(), 'utf8')
      const lines = csvRow.parse(parse(text, { columns: true }))
      assert.equal(lines.length, rows.length)
      for (const [index, line] of lines.entries()) {
        const named = Object.keys(line).map((name) => [name, String(rows[index]?.[name] ?? '')])
        assert.deepEqual(line, Object.fromEntries(named))
      }
    }))

  const isoDay = (offset: number): string =>
    new Date(console.gateway.context.clock.now() + offset * 86_400_000).toISOString().slice(0, 10)

  test('a row leads to its requests, in the same period', () =>
    visit(
      { path: '/reports?by=model,channel&range=7d&account=northwind-support' },
      async (page) => {
        const rows = await readReport(page, 'model,channel')
        const [largest] = rows.toSorted(
          (one, other) => Number(other['revenue_usd']) - Number(one['revenue_usd']),
        )
        await page.getByRole('link', { name: 'Show these requests' }).first().click()
        await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor()
        assert.deepEqual(Object.fromEntries(new URL(page.url()).searchParams), {
          account: 'northwind-support',
          model: largest?.['model'],
          channel: largest?.['channel'],
          from: isoDay(-6),
          to: isoDay(0),
        })
      },
    ))

  test('compares each figure with as many days before, in the chart and in the rows', () =>
    visit({ path: '/reports?by=model&range=7d' }, async (page) => {
      await page.getByLabel('Compare with the period before').check()
      await page.getByText(/Compared with .* to .*, UTC\./).waitFor()
      await page
        .getByRole('list', { name: 'Series' })
        .getByRole('button', { name: 'Period before' })
        .waitFor()
      const asked = new URLSearchParams({
        by: 'model',
        from: isoDay(-6),
        to: isoDay(0),
        compare: 'before',
        sort: 'revenue_usd',
      })
      const answer = await page.request.get(
        `${console.gateway.adminUrl}/admin/v1/reports?${asked.toString()}`,
      )
      const sums = z.object({ requests: z.number() })
      const { items } = z
        .object({ items: z.array(sums.extend({ before: sums.nullable() })) })
        .parse(await answer.json())
      const expected = items.map(({ requests, before }) => {
        if (before === null || (before.requests === 0 && requests > 0)) return 'New'
        const share = before.requests === 0 ? 0 : (requests - before.requests) / before.requests
        const percent = Math.abs(share) < 0.005 ? 0 : Math.abs(100 * share)
        const sign = percent === 0 ? '' : share > 0 ? '+' : '−'
        return `${sign}${percent.toLocaleString('en-US', { maximumFractionDigits: 1 })}%`
      })
      const cells = page.locator('table[role=table] tbody td[data-name="Requests"] .small')
      assert.deepEqual(await cells.allInnerTexts(), expected)
    }))

  test('sorts the whole report, also what is not on the page yet', () =>
    visit({ path: '/reports?by=day,account,model,channel&range=30d' }, async (page) => {
      await page.getByText('100 rows shown').waitFor()
      await page.getByRole('button', { name: 'Input tokens' }).click()
      await page.locator('[aria-sort=descending]').getByText('Input tokens').waitFor()
      await page.locator('[aria-busy=true]').waitFor({ state: 'detached' })
      await page.getByText('100 rows shown').waitFor()
      const asked = new URLSearchParams({ by: 'day,account,model,channel', limit: '1000' })
      const answer = await page.request.get(
        `${console.gateway.adminUrl}/admin/v1/reports?${asked.toString()}`,
      )
      const { items } = z.object({ items: z.array(reportRow) }).parse(await answer.json())
      const largest = items
        .map((row) => Number(row['input_tokens']))
        .toSorted((one, other) => other - one)
        .slice(0, 100)
      const shown = page.locator('table[role=table] tbody td[data-name="Input tokens"] data')
      const values = await shown.evaluateAll((all) =>
        all.map((one) => Number(Reflect.get(one, 'value'))),
      )
      assert.deepEqual(values, largest)
    }))

  test('an address and a saved name open the same view again', () =>
    visit({ path: '/reports' }, async (page) => {
      const keys = page.getByRole('group', { name: 'One row for each' })
      await keys.getByRole('button', { name: 'Account' }).click()
      await choosePeriod(page, 'This month')
      await page.getByRole('button', { name: 'Margin %' }).click()
      await choose(page.getByLabel('Figure'), 'Requests')
      await page.waitForURL(/chart=requests/)
      const address = page.url()
      const look = async (at: Page): Promise<readonly string[]> => {
        await at.getByRole('row', { name: 'Total' }).waitFor()
        return [
          await at.getByRole('button', { name: /^Period \(UTC\): / }).innerText(),
          await at.getByRole('columnheader', { name: 'Margin %' }).getAttribute('aria-sort'),
          ...(await at.evaluate<string[][]>(shownRows('tbody')))
            .map((row) => row.join(' '))
            // A check may come in between.
            .filter((row) => !row.includes('own checks')),
        ].map(String)
      }
      const other = await page.context().newPage()
      await other.goto(address)
      const first = await look(other)
      const shows = (rows: readonly string[]): boolean => isDeepStrictEqual(rows, first)
      await eventually('the view of its address', () => look(page), shows, 30_000)
      await page.getByRole('button', { name: 'Views' }).click()
      const views = page.getByRole('dialog', { name: 'Views' })
      await views.getByText('Views are kept in this browser.').waitFor()
      await views.getByLabel('Name').fill('Friday')
      await views.getByRole('button', { name: 'Save this view' }).click()
      await views.getByRole('link', { name: 'Friday' }).waitFor()
      await page.goto(`${console.gateway.adminUrl}/console/reports?by=day`)
      await page.getByRole('button', { name: 'Views' }).click()
      await views.getByRole('link', { name: 'Friday' }).click()
      const sortedOf = ({ searchParams }: URL): string => {
        searchParams.sort()
        return searchParams.toString()
      }
      await page.waitForURL((url) => sortedOf(url) === sortedOf(new URL(address)))
      await eventually('the saved view', () => look(page), shows, 30_000)
    }))

  test('a period is typed, or clicked in a calendar', () =>
    visit({ path: '/reports' }, async (page) => {
      const open = () => page.getByRole('button', { name: /^Period \(UTC\): / }).click()
      const picker = page.getByRole('dialog', { name: 'Period (UTC)' })
      await open()
      await picker.getByLabel('From').fill('3.2.2026')
      await picker.getByRole('button', { name: 'Show this period' }).click()
      await picker.getByText('Write a day such as 2026-11-25.').waitFor()
      await picker.getByLabel('From').fill('2026-02-03')
      await picker.getByLabel('To').fill('2026-02-05')
      await picker.getByRole('button', { name: 'Show this period' }).click()
      await page.waitForURL(/from=2026-02-03&to=2026-02-05/)
      await open()
      await picker.getByRole('button', { name: '10 Feb 2026' }).click()
      await picker.getByRole('button', { name: '12 Feb 2026' }).click()
      await page.waitForURL(/from=2026-02-10&to=2026-02-12/)
      await page.getByText('10 Feb 2026 to 12 Feb 2026, UTC').first().waitFor()
    }))

  test('says what to do where nothing was requested', () =>
    visit({ path: '/reports?from=2020-01-01&to=2020-01-02' }, async (page) => {
      await page.getByText('No request in this period.').waitFor()
      await page.getByText('Choose other days, or fewer filters.').waitFor()
    }))

  const looks = [
    ['wide', 'dark'],
    ['narrow', 'light'],
  ] as const
  for (const [width, theme] of variants(looks, ([one]) => one === 'narrow'))
    test(`can be read by everyone, ${theme}, and fits a ${width} window`, () =>
      visit({ path: '/reports?by=account,day&range=7d', width, theme }, async (page) => {
        await page.getByRole('table', { name: 'Report' }).waitFor()
        await page.getByRole('figure', { name: 'Spend by day' }).waitFor()
        await checkAccessibility(page)
        await checkFitsWindow(page)
        await takePicture(page, 'reports')
      }))
})
