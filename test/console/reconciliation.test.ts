/** Reconciliation with a vendor's file that is chosen in a browser; its words and figures are the API's. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import { parse } from 'csv-parse/sync'
import type { Page } from 'playwright-core'
import { z } from 'zod'
import { choose } from '../support/console/choose.ts'
import { checkAccessibility, checkFitsWindow, takePicture } from '../support/console/look.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { reconcileChannel } from '../support/operations.ts'
import { variants } from '../support/variants.ts'

const channel = 'openai-main'
const model = 'gpt-6.2-sol'
const csvRow = z.array(z.record(z.string(), z.string()))

describe('the page of reconciliation', () => {
  let console: OpenConsole
  before(async () => {
    console = await openConsole({ requests: 300 })
  })
  after(() => console.close())

  const visit: OpenConsole['withConsole'] = (look, work) => console.withConsole(look, work)

  /** The last ten days: their requests are of one version of the prices. */
  function period(): { readonly from: string; readonly to: string } {
    const nowMs = console.gateway.context.clock.now()
    const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10)
    return { from: day(nowMs - 9 * 86_400_000), to: day(nowMs) }
  }

  function path(): string {
    const { from, to } = period()
    return `/reconciliation?channel=${channel}&from=${from}&to=${to}`
  }

  /** What a vendor would export that counted as the gateway did, `more` output tokens apart. */
  async function vendorFile(more: Readonly<Record<string, number>> = {}): Promise<string> {
    const { models } = await reconcileChannel(console.gateway.context, { channel, ...period() })
    assert.ok(models.length > 2)
    const lines = models.map(({ model: id, counts }) => {
      const of = (name: string): number =>
        counts.find(({ figure }) => figure === name)?.expected ?? 0
      const added = more[String(id)] ?? 0
      return [id, of('requests'), of('input'), of('output') + added, of('cache_read')].join(',')
    })
    return ['model,requests,input,output,cache_read', ...lines].join('\r\n')
  }

  async function compare(page: Page, text: string, name = 'usage.csv'): Promise<void> {
    const file = { name, mimeType: 'text/csv', buffer: Buffer.from(text) }
    await page.getByLabel('Files of the vendor').setInputFiles(file)
    await page.getByRole('button', { name: 'Compare' }).click()
  }

  const countsOf = (page: Page) => page.getByRole('table', { name: 'Counts' }).getByRole('row')

  test('shows that counts agree, figure by figure', () =>
    visit({ role: 'operator', path: path() }, async (page) => {
      const text = await vendorFile()
      await compare(page, text)
      await countsOf(page).nth(1).waitFor()
      const count = text.split('\r\n').length - 1
      const differences = (await countsOf(page).allInnerTexts())
        .slice(1)
        .map((line) => line.split(/\s+/).at(-1))
      assert.ok(differences.length > count)
      assert.deepEqual([...new Set(differences)], ['0'])
    }))

  test('says the bill and the difference in one line, and exports it by model', () =>
    visit({ role: 'operator', path: path() }, async (page) => {
      const usage = await vendorFile({ [model]: 1_000_000 })
      const text = `${usage}\r\nunheard-of-1,3,1000,20,0`
        .split('\r\n')
        .map((line, index) => `${line},${index === 0 ? 'cost_usd' : '0.5'}`)
        .join('\r\n')
      await compare(page, text)
      const result = await reconcileChannel(console.gateway.context, {
        channel,
        ...period(),
        vendor_counts: text,
      })
      const line = page.getByRole('heading', { name: /^Vendor bills .* we expect .* unexplained$/ })
      await line.waitFor()
      for (const usd of [result.vendor_usd, result.expected_usd, result.difference_usd])
        assert.equal(await line.locator(`data[value="${usd}"]`).count(), 1, String(usd))
      const models = page.getByRole('table', { name: 'Models' }).getByRole('row')
      await models.filter({ hasText: 'unheard-of-1' }).waitFor()
      await countsOf(page).filter({ hasText: model }).getByText('+1,000,000').waitFor()

      const expected = result.models.find((one) => one.model === model)
      assert.ok(expected !== undefined)
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Export CSV' }).first().click()
      const file = await readFile(await (await download).path(), 'utf8')
      const row = csvRow.parse(parse(file, { columns: true })).find((one) => one['Model'] === model)
      assert.deepEqual(
        [row?.['Vendor bills'], row?.['Expected'], row?.['Difference']],
        ['0.5', expected.expected_usd, expected.difference_usd],
      )
    }))

  test('keeps a result as accepted, with its note, and lists the runs', () =>
    visit({ role: 'operator', path: path() }, async (page) => {
      await compare(page, await vendorFile(), 'invoice.csv')
      const run = page
        .getByRole('table', { name: 'Earlier runs' })
        .getByRole('row')
        .filter({ hasText: 'invoice.csv' })
      await run.getByText('open', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Accept' }).first().click()
      await page.getByLabel('Note').fill('agreed with the vendor')
      await page.getByRole('dialog').getByRole('button', { name: 'Accept' }).click()
      await run.getByText('agreed with the vendor').waitFor()
      assert.match(await run.innerText(), /on-call/)
      assert.equal(await run.getByRole('button', { name: 'Accept' }).count(), 0)
    }))

  test('names the mistake in a file, and takes another one', () =>
    visit({ path: path(), allowed: [/status of 400/] }, async (page) => {
      await compare(page, '{"rows": [1]}', 'usage.json')
      await page
        .getByText("The vendor's counts cannot be read: it must be an array of objects")
        .waitFor()
      await compare(page, 'model,requests,input\r\ngpt-6.2-sol,two,3')
      await page
        .getByText("The vendor's counts cannot be read: it must be an array")
        .waitFor({ state: 'detached' })
      await page.getByText(/The vendor's counts cannot be read: .*requests/).waitFor()
      await compare(page, await vendorFile())
      await countsOf(page).filter({ hasText: model }).first().waitFor()
    }))

  test('shows the charges alone without a file, for the channel and days in the address', () =>
    visit({ role: 'operator', path: '/reconciliation' }, async (page) => {
      const { from, to } = period()
      await choose(page.getByLabel('Channel'), channel)
      await page.getByRole('button', { name: /^Period \(UTC\): Last 30 days$/ }).click()
      await page.getByLabel('To').fill(to)
      await page.getByLabel('From').fill(from)
      await page.getByRole('button', { name: 'Show this period' }).click()
      await page.getByRole('button', { name: 'Show the charges' }).click()
      const charges = page.getByRole('table', { name: 'Models' })
      await charges.waitFor()
      const { models } = await reconcileChannel(console.gateway.context, { channel, from, to })
      for (const { model: id, charged_usd: charged } of models) {
        const row = charges.getByRole('row').filter({ hasText: String(id) })
        assert.equal((await row.locator(`data[value="${charged}"]`).count()) > 0, true, String(id))
      }
      const asked = new URL(page.url()).searchParams
      assert.deepEqual(
        [asked.get('channel'), asked.get('from'), asked.get('to')],
        [channel, from, to],
      )
    }))

  test('is not offered to a viewer', () =>
    visit({ role: 'viewer', path: path() }, async (page) => {
      await page.getByText('Your role does not compare with a vendor’s files.').waitFor()
      assert.equal(await page.getByRole('button', { name: 'Compare' }).count(), 0)
    }))

  const looks = [
    ['wide', 'light'],
    ['narrow', 'dark'],
  ] as const
  for (const [width, theme] of variants(looks, ([one]) => one === 'narrow'))
    test(`can be read by everyone, ${theme}, and fits a ${width} window`, () =>
      visit({ path: path(), width, theme }, async (page) => {
        await compare(page, await vendorFile({ [model]: 1_000_000 }))
        await page.getByRole('table', { name: 'Models' }).waitFor()
        await checkAccessibility(page)
        await checkFitsWindow(page)
        await takePicture(page, 'reconciliation')
      }))
})
