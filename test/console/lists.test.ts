/** What every list of the console can do: keyboard, sheet, chips, columns, two lines on a phone, file. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { newId } from '../../src/base/id.ts'
import { saveFreeExchanges } from '../../src/ledger/free-exchange-store.ts'
import { checkAccessibility, checkFitsWindow } from '../support/console/look.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { eventually } from '../support/eventually.ts'
import { countRequests, listRequests } from '../support/operations.ts'

type Box = NonNullable<Awaited<ReturnType<Locator['boundingBox']>>>

describe('a list', () => {
  let console: OpenConsole
  before(async () => {
    console = await openConsole({ requests: 400 })
  })
  after(() => console.close())

  const table = (page: Page) => page.getByRole('table', { name: 'Requests' })
  const rows = (page: Page) => table(page).locator('tbody tr')
  const sheet = (page: Page) => page.getByRole('dialog')
  const openOf = (page: Page): string | null => new URL(page.url()).searchParams.get('open')

  async function ids(count: number): Promise<readonly string[]> {
    const { items } = await listRequests(console.gateway.context, { limit: count })
    return items.map(({ id }) => id)
  }

  test('keeps its heads in sight, and its rows low', () =>
    console.withConsole({ path: '/requests' }, async (page) => {
      const wait = (place: Locator, fits: (box: Box) => boolean): Promise<Box | null> =>
        eventually(
          'the box',
          () => place.boundingBox(),
          (box) => box !== null && fits(box),
        )
      const row = rows(page).nth(40)
      await row.scrollIntoViewIfNeeded()
      await wait(table(page).getByRole('columnheader').first(), ({ y }) => Math.abs(y) < 2)
      await wait(row, ({ height }) => height <= 40)
      await page.getByRole('button', { name: 'Higher rows' }).click()
      await wait(row, ({ height }) => height > 44)
    }))

  test('moves by j and k, opens a row by Enter, and closes it by Escape', async () => {
    const [first, second, third] = await ids(3)
    await console.withConsole({ path: '/requests' }, async (page) => {
      await rows(page).first().waitFor()
      for (const key of ['j', 'j', 'k', 'j', 'Enter']) await page.keyboard.press(key)
      await sheet(page).getByRole('heading', { name: 'What happened' }).waitFor()
      assert.equal(openOf(page), second)
      await checkAccessibility(page)
      await page.keyboard.press('j')
      await sheet(page)
        .getByText(third ?? '')
        .first()
        .waitFor()
      assert.equal(openOf(page), third)
      await page.keyboard.press('k')
      await page.keyboard.press('k')
      await sheet(page)
        .getByText(first ?? '')
        .first()
        .waitFor()
      await page.keyboard.press('Escape')
      await sheet(page).waitFor({ state: 'detached' })
      assert.equal(openOf(page), null)
    })
  })

  test('opens a row at its side, which the address keeps and going back closes', async () => {
    const [first, second] = await ids(2)
    await console.withConsole({ path: '/requests' }, async (page) => {
      await rows(page).nth(1).getByRole('cell').nth(2).click()
      await sheet(page)
        .getByText(second ?? '')
        .first()
        .waitFor()
      await rows(page).first().getByRole('cell').nth(2).click()
      await sheet(page)
        .getByText(first ?? '')
        .first()
        .waitFor()
      await page.reload()
      await sheet(page)
        .getByText(first ?? '')
        .first()
        .waitFor()
      await page.goBack()
      await sheet(page).waitFor({ state: 'detached' })
      assert.match(page.url(), /\/requests$/)
      await page.goForward()
      await sheet(page).waitFor()
      await sheet(page).getByRole('link', { name: 'Open as a page' }).click()
      await page.waitForURL(new RegExp(`/requests/${first}$`))
    })
  })

  test('shows set filters as chips, and takes each away', () =>
    console.withConsole({ path: '/requests?account=civic-data&status=2xx' }, async (page) => {
      await rows(page).first().waitFor()
      await page.getByRole('button', { name: 'Remove the filter Status' }).click()
      await page.waitForURL(/\/requests\?account=civic-data$/)
      assert.equal(await page.getByLabel('Status').inputValue(), '')
      await page.getByRole('button', { name: 'Remove the filter Account' }).click()
      await page.waitForURL(/\/requests$/)
    }))

  test('remembers the columns that a person has chosen', () =>
    console.withConsole({ path: '/requests' }, async (page) => {
      const head = (name: string) => table(page).getByRole('columnheader', { name, exact: true })
      await head('Tokens').waitFor()
      await page.getByRole('button', { name: 'Columns' }).click()
      await page.getByRole('checkbox', { name: 'Key', exact: true }).check()
      await page.getByRole('checkbox', { name: 'Tokens', exact: true }).uncheck()
      await page.reload()
      await head('Key').waitFor()
      assert.equal(await head('Tokens').count(), 0)
      await page.getByRole('button', { name: 'Columns' }).click()
      await page.getByRole('button', { name: 'Usual columns' }).click()
      await head('Tokens').waitFor()
    }))

  test('has rows of two lines on a phone, and the rest of a row in its sheet', () =>
    console.withConsole({ path: '/requests', width: 'narrow' }, async (page) => {
      const row = rows(page).first()
      const { items } = await listRequests(console.gateway.context, { limit: 1 })
      await row.getByText(items[0]?.account ?? '').waitFor()
      const box = await row.boundingBox()
      assert.ok(box !== null && box.height < 75, `a row is ${box?.height} px high`)
      assert.equal(await row.getByText(items[0]?.model ?? '').isVisible(), false)
      await row.locator('[data-place=amount]').click()
      await sheet(page)
        .getByText(items[0]?.model ?? '')
        .first()
        .waitFor()
      await checkFitsWindow(page)
      await checkAccessibility(page)
      await sheet(page).getByRole('button', { name: 'Close' }).click()
      await sheet(page).waitFor({ state: 'detached' })
    }))

  test('counts the requests of its period above it, and leads to those of a step', () =>
    console.withConsole({ path: '/requests?range=30d' }, async (page) => {
      const figure = page.getByRole('img', { name: /requests, \d+ failed/ })
      await figure.waitFor()
      const from = await page.evaluate<number>('new Date().setHours(0, 0, 0, 0)')
      const counted = await countRequests(console.gateway.context, {
        from: new Date(from - 29 * 86_400_000).toISOString(),
      })
      const name = (await figure.getAttribute('aria-label')) ?? ''
      assert.equal(Number(/^[\d,]+/.exec(name)?.[0].replace(',', '')), counted.requests)
      const busiest = counted.buckets.findIndex(({ requests }) => requests > 0)
      await figure.locator(`[data-index="${busiest}"]`).click()
      await page.waitForURL(/from=/)
      const at = counted.buckets[busiest]?.at
      assert.equal(new URL(page.url()).searchParams.get('from'), at)
      const count = counted.buckets[busiest]?.requests ?? 0
      await page
        .getByText(count === 1 ? '1 row' : `${Math.min(count, 50)} rows`)
        .first()
        .waitFor()
    }))

  test('writes all rows of its filter into a file, however many there are', async () => {
    const { context, account } = console.gateway
    const count = 10_050
    const startedAtMs = Date.parse('2026-01-05T00:00:00Z')
    const lines = Array.from({ length: count }, (_, index) => ({
      accountId: account.id,
      exchangeId: newId('ex', startedAtMs + index),
      keyId: 'key_1',
      vendor: 'openai',
      model: '=1+1',
      askedModel: undefined,
      operation: 'chat.completions.create',
      channel: undefined,
      startedAtMs: startedAtMs + index,
      endedAtMs: startedAtMs + index,
      ending: 'not_admitted' as const,
      status: 429,
      code: 'ledger.monthly_limit_reached',
      vendorRequestId: undefined,
      attempts: [],
      client: 'curl',
      address: '',
      label: '',
      standsFor: 1,
    }))
    await saveFreeExchanges(context.database, lines)
    const path = '/requests?code=ledger.monthly_limit_reached'
    await console.withConsole({ path }, async (page) => {
      const download = page.waitForEvent('download')
      await page.getByRole('link', { name: 'Export CSV' }).click()
      const text = await readFile(await (await download).path(), 'utf8')
      const [head = '', ...written] = text.trimEnd().split('\r\n')
      assert.match(head, /^id,started_at,account_id,account,key_id,key,vendor,model,/)
      assert.equal(written.length, count)
      assert.equal(new Set(written.map((line) => line.split(',')[0])).size, count)
      assert.ok(written.every((line) => line.includes(",'=1+1,")))
    })
  })
})
