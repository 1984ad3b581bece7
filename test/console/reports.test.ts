/** Reports, made by clicking in a browser: every figure on the page and in the file is that of the API. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import type { Page } from 'playwright-core'
import { z } from 'zod'
import { choose } from '../support/console/choose.ts'
import { checkAccessibility, checkFitsWindow, takePicture } from '../support/console/look.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'

const reportRow = z.record(z.string(), z.union([z.string(), z.number()]).nullable())
const csvRow = z.array(z.record(z.string(), z.string()))
type ReportRow = z.output<typeof reportRow>

/** The figures that the page shows where the reader has chosen no columns. */
const usualFigures = [
  'requests',
  'errors',
  'input_tokens',
  'output_tokens',
  'revenue_usd',
  'refunded_usd',
  'own_cost_usd',
  'estimated_cost_usd',
  'unknown_cost_revenue_usd',
  'known_margin_usd',
]
/** The exact value of each cell, and the text of those without one. */
const shownRows = (part: 'tbody' | 'tfoot'): string =>
  `[...document.querySelectorAll('table[role=table] > ${part} > tr')].map((row) =>
    [...row.cells].map((cell) => cell.querySelector('data')?.value ?? cell.innerText))`

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
      await choose(page.getByLabel('Period (UTC)'), 'Last 7 days')
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

      await page.getByRole('button', { name: 'Spend' }).click()
      await page.getByRole('columnheader', { name: 'Spend' }).waitFor()
      const spend = (await page.evaluate<string[][]>(shownRows('tbody'))).map((row) =>
        Number(row[6]),
      )
      assert.deepEqual(
        spend,
        spend.toSorted((one, other) => other - one),
      )
    }))

  test('its address keeps keys, period, filters and columns', () =>
    visit({ path: '/reports?by=model&period=7d', allowed: [/status of 404/] }, async (page) => {
      await choose(page.getByLabel('Channel'), 'openai-main')
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
      await page.getByRole('combobox', { name: 'Channel' }).getByText('openai-main').waitFor()
      const shown = await page.evaluate<string[][]>(shownRows('tbody'))
      const expected = rows.map((row) => [String(row['model']), String(row['requests'])])
      assert.deepEqual(sorted(shown.map((row) => row.slice(0, 2))), sorted(expected))
    }))

  test('the file has the whole report, exactly', () =>
    visit({ role: 'viewer', path: '/reports?by=day,key&period=7d' }, async (page) => {
      const rows = await readReport(page, 'day,key')
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Export CSV' }).click()
      const text = await readFile(await (await download).path(), 'utf8')
      const lines = csvRow.parse(parse(text, { columns: true }))
      assert.equal(lines.length, rows.length)
      for (const [index, line] of lines.entries()) {
        const named = Object.keys(line).map((name) => [name, String(rows[index]?.[name] ?? '')])
        assert.deepEqual(line, Object.fromEntries(named))
      }
    }))

  const lastDays = Array.from({ length: 7 }, (_, index) => index - 6)
  const requestsByDay = async (page: Page): Promise<readonly number[]> => {
    const byDay = new Map((await readReport(page, 'day')).map((row) => [row['day'], row]))
    const nowMs = console.gateway.context.clock.now()
    const days = lastDays.map((day) =>
      new Date(nowMs + day * 86_400_000).toISOString().slice(0, 10),
    )
    return days.map((day) => Number(byDay.get(day)?.['requests'] ?? 0))
  }

  test('the chart has the figures of each day', () =>
    visit({ path: '/reports?by=total&period=7d&chart=requests' }, async (page) => {
      const chart = page.getByRole('figure', { name: 'Requests by day' })
      await chart.getByRole('button', { name: 'Show as table' }).click()
      const values = await chart.getByRole('cell').allInnerTexts()
      assert.deepEqual(values.map(Number), await requestsByDay(page))
    }))

  test('the chart by account has the seven largest, and all others as one, by one question', () =>
    visit({ path: '/requests' }, async (page) => {
      const questions: string[] = []
      page.on('request', (request) => questions.push(new URL(request.url()).search))
      await page.goto(
        `${console.gateway.adminUrl}/console/reports?by=account&period=7d&chart=requests`,
      )
      const chart = page.getByRole('figure', { name: 'Requests by day' })
      await chart.getByRole('button', { name: 'Show as table' }).click()
      const names = await chart.getByRole('columnheader').allInnerTexts()
      const totals = new Map<string, number>()
      for (const row of await readReport(page, 'account'))
        totals.set(String(row['account']), Number(row['requests']))
      const largest = [...totals.values()].toSorted((one, other) => other - one).slice(0, 7)
      assert.deepEqual(
        names.slice(1, 8).map((name) => totals.get(name)),
        largest,
      )
      assert.deepEqual(names.slice(8), ['Others'])
      const cells = (await chart.getByRole('cell').allInnerTexts()).map(Number)
      const sums = lastDays.map((_, day) =>
        cells.slice(day * 8, day * 8 + 8).reduce((sum, value) => sum + value, 0),
      )
      assert.deepEqual(sums, await requestsByDay(page))
      assert.equal(questions.filter((question) => question.includes('by=day')).length, 1)
    }))

  test('says what to do where nothing was requested', () =>
    visit({ path: '/reports?period=custom&from=2020-01-01&to=2020-01-02' }, async (page) => {
      await page.getByText('No request in this period.').waitFor()
      await page.getByText('Choose other days, or fewer filters.').waitFor()
    }))

  for (const [width, theme] of [
    ['wide', 'dark'],
    ['narrow', 'light'],
  ] as const)
    test(`can be read by everyone, ${theme}, and fits a ${width} window`, () =>
      visit({ path: '/reports?by=account,day&period=7d', width, theme }, async (page) => {
        await page.getByRole('table', { name: 'Report' }).waitFor()
        await page.getByRole('figure', { name: 'Spend by day' }).waitFor()
        await checkAccessibility(page)
        await checkFitsWindow(page)
        await takePicture(page, 'reports')
      }))
})
