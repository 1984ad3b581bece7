/** Charts that lead on: a tip with the sum, a drag that chooses days, a click that opens the requests. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { z } from 'zod'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { eventually } from '../support/eventually.ts'

const reportRow = z.record(z.string(), z.unknown())
type ReportRow = z.output<typeof reportRow>

const dayMs = 86_400_000

describe('a chart', () => {
  let console: OpenConsole
  before(async () => {
    console = await openConsole({ requests: 400 })
  })
  after(() => console.close())

  const visit: OpenConsole['withConsole'] = (look, work) => console.withConsole(look, work)

  const isoDay = (offset: number): string =>
    new Date(console.gateway.context.clock.now() + offset * dayMs).toISOString().slice(0, 10)

  /** The report of the last seven days. */
  async function readReport(page: Page, by: string): Promise<readonly ReportRow[]> {
    const question = new URLSearchParams({ by, limit: '1000', from: isoDay(-6), to: isoDay(0) })
    const url = `${console.gateway.adminUrl}/admin/v1/reports?${question.toString()}`
    const answer = await page.request.get(url)
    return z.object({ items: z.array(reportRow) }).parse(await answer.json()).items
  }

  const lastDays = Array.from({ length: 7 }, (_, index) => index - 6)
  const requestsByDay = async (page: Page): Promise<readonly number[]> => {
    const byDay = new Map((await readReport(page, 'day')).map((row) => [row['day'], row]))
    return lastDays.map((day) => Number(byDay.get(isoDay(day))?.['requests'] ?? 0))
  }

  /** The place of a day of the week in the chart: the middle of its bar. */
  async function placeOf(page: Page, day: number): Promise<{ x: number; y: number }> {
    const plot = page.locator('.u-over')
    await plot.waitFor()
    await plot.scrollIntoViewIfNeeded()
    const box = await plot.boundingBox()
    assert.ok(box !== null)
    return { x: box.x + (box.width * (day + 0.5)) / 7, y: box.y + box.height / 2 }
  }

  test('has the figures of each day as a table', () =>
    visit({ path: '/reports?by=total&range=7d&chart=requests' }, async (page) => {
      const chart = page.getByRole('figure', { name: 'Requests by day' })
      await chart.getByRole('button', { name: 'Show as table' }).click()
      const values = await chart.getByRole('cell').allInnerTexts()
      assert.deepEqual(values.map(Number), await requestsByDay(page))
    }))

  test('by account has the seven largest, and all others as one, by one question', () =>
    visit({ path: '/requests' }, async (page) => {
      const questions: string[] = []
      page.on('request', (request) => questions.push(new URL(request.url()).search))
      await page.goto(
        `${console.gateway.adminUrl}/console/reports?by=account&range=7d&chart=requests`,
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

  test('has a tip at the pointer with the largest values of the day first, and their sum', () =>
    visit({ path: '/reports?by=account&range=7d&chart=requests' }, async (page) => {
      const { x, y } = await placeOf(page, 4)
      await page.mouse.move(x, y)
      const tip = page.getByRole('figure', { name: 'Requests by day' }).getByRole('status')
      await tip.getByText('Total').waitFor()
      const values = (await tip.locator('li b').allInnerTexts()).map(Number)
      const total = values.pop()
      assert.equal(total, (await requestsByDay(page))[4])
      assert.ok(values.length > 1)
      assert.equal(
        values.reduce((sum, value) => sum + value, 0),
        total,
      )
      // All but the others, which are no account.
      const names = (await tip.locator('.chart-tip-name').allInnerTexts()).slice(0, -1)
      assert.ok(!names.includes('Total'))
      assert.deepEqual(
        values,
        values.toSorted((one, other) => other - one),
      )
      const box = await tip.locator('.chart-tip').boundingBox()
      assert.ok(box !== null && Math.min(Math.abs(box.x - x), Math.abs(box.x + box.width - x)) < 30)
    }))

  test('loses a series, and its part of the sum, with a click on its name', () =>
    visit({ path: '/reports?by=account&range=7d&chart=requests' }, async (page) => {
      const chart = page.getByRole('figure', { name: 'Requests by day' })
      const name = chart.getByRole('list', { name: 'Series' }).getByRole('button').first()
      const shown = async (): Promise<readonly string[]> => {
        const { x, y } = await placeOf(page, 4)
        await page.mouse.move(x - 2, y)
        await page.mouse.move(x, y)
        await chart.getByRole('status').getByText('Total').waitFor()
        return chart.getByRole('status').locator('.chart-tip-name').allInnerTexts()
      }
      const before = await shown()
      const text = await name.innerText()
      await name.click()
      assert.equal(await name.getAttribute('aria-pressed'), 'false')
      assert.deepEqual(
        await shown(),
        before.filter((each) => each !== text),
      )
    }))

  test('chooses days for the whole page by a drag', () =>
    visit({ path: '/reports?by=account&range=7d' }, async (page) => {
      const [from, to] = [await placeOf(page, 1), await placeOf(page, 4)]
      await page.mouse.move(from.x, from.y)
      await page.mouse.down()
      await page.mouse.move(to.x, to.y, { steps: 5 })
      await page.mouse.up()
      await page.waitForURL((url) => url.searchParams.get('from') === isoDay(-5))
      const { searchParams } = new URL(page.url())
      assert.deepEqual(
        [searchParams.get('to'), searchParams.get('range')],
        [isoDay(-2), null],
        page.url(),
      )
      await page
        .getByText(/ to .*, UTC$/)
        .first()
        .waitFor()
    }))

  test('chooses days by the keys, too', () =>
    visit({ path: '/reports?by=model&range=7d' }, async (page) => {
      const plot = page.getByRole('group', { name: /^Spend by day\. Use the arrow keys/ })
      await page.locator('.u-over').waitFor()
      await plot.focus()
      for (const keys of ['ArrowLeft', 'ArrowLeft', 'Shift+ArrowLeft', 'Enter'])
        await page.keyboard.press(keys)
      await page.waitForURL((url) => url.searchParams.get('from') === isoDay(-2))
      assert.equal(new URL(page.url()).searchParams.get('to'), isoDay(-1))
    }))

  test('leads from a day to its requests, with the filter of the report', () =>
    visit({ path: '/reports?by=model&range=7d&channel=openai-main' }, async (page) => {
      const { x, y } = await placeOf(page, 3)
      await page.mouse.move(x, y)
      await page.mouse.click(x, y)
      await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor()
      assert.deepEqual(Object.fromEntries(new URL(page.url()).searchParams), {
        channel: 'openai-main',
        from: isoDay(-3),
        to: isoDay(-3),
      })
    }))

  test('has each label once on its axes, and none of them is cut', () =>
    visit({ path: '/reports?by=total&range=7d&chart=requests', isChanged: true }, async (page) => {
      await page.addInitScript(`{
        const { fillText, clearRect } = CanvasRenderingContext2D.prototype
        window.labels = []
        CanvasRenderingContext2D.prototype.clearRect = function (...box) {
          window.labels = []
          return clearRect.apply(this, box)
        }
        CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
          const { a, e } = this.getTransform()
          const half = this.textAlign === 'center' ? this.measureText(text).width / 2 : 0
          if (text !== '')
            window.labels.push({ text, side: this.textAlign, end: a * (place[0] + half) + e, width: this.canvas.width })
          return fillText.call(this, text, ...place)
        }
      }`)
      const form = z.array(
        z.object({ text: z.string(), side: z.string(), end: z.number(), width: z.number() }),
      )
      for (const search of [
        'by=total&range=7d&chart=requests',
        'by=total&range=7d&chart=requests&account=juniper-studio',
        'by=total&range=yesterday&chart=requests',
        'by=total&range=30d&chart=tokens',
      ]) {
        await page.goto(`${console.gateway.adminUrl}/console/reports?${search}`)
        await page.locator('.u-over').waitFor()
        const labels = await eventually(
          'the axes are drawn',
          async () => form.parse(await page.evaluate('window.labels')),
          (drawn) => drawn.length > 3,
        )
        for (const side of new Set(labels.map((label) => label.side))) {
          const texts = labels.filter((label) => label.side === side).map(({ text }) => text)
          assert.deepEqual(texts, [...new Set(texts)], search)
        }
        for (const { text, end, width } of labels) assert.ok(end <= width, `${search}: ${text}`)
      }
    }))

  test('of hours leads from an hour to its requests', () =>
    visit({ path: '/?metric=requests' }, async (page) => {
      const plot = page.getByRole('figure', { name: 'Requests by hour' }).locator('.u-over')
      await plot.waitFor()
      await plot.scrollIntoViewIfNeeded()
      const box = await plot.boundingBox()
      assert.ok(box !== null)
      // 24 hours from edge to edge; the sixth of them.
      const x = box.x + (box.width * 5) / 23
      await page.mouse.move(x, box.y + 20)
      await page.mouse.click(x, box.y + 20)
      await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor()
      const { searchParams } = new URL(page.url())
      assert.deepEqual(
        [searchParams.get('from'), searchParams.get('to')],
        [`${isoDay(0)}T05:00:00.000Z`, `${isoDay(0)}T06:00:00.000Z`],
      )
    }))
})
