/**
 * Models, prices and the catalogue, changed by clicking in a browser: each change is looked at before it is
 * applied, and what the gateway then charges and serves is as the page said.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { countClicks } from '../support/console/clicks.ts'
import { checkAccessibility, checkFitsWindow, takePicture } from '../support/console/look.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { eventually } from '../support/eventually.ts'
import { post, type WireAnswer } from '../support/http-client.ts'
import {
  applyCatalogue,
  exportCatalogue,
  importPrices,
  listPrices,
  showRequest,
} from '../support/operations.ts'
import { variants } from '../support/variants.ts'

const dayMs = 86_400_000
/** What the browser's console says about a refusal that the test provokes. */
const refused = { allowed: [/status of 4\d\d/] }

const catalogueFile = z.looseObject({
  models: z.record(z.string(), z.unknown()),
  channels: z.record(z.string(), z.looseObject({ models: z.array(z.string()) })),
})

describe('the pages of models and prices', () => {
  let console: OpenConsole
  before(async () => {
    console = await openConsole({ requests: 200 })
  })
  after(() => console.close())

  const visit: OpenConsole['withConsole'] = (look, work) => console.withConsole(look, work)

  /** Of a chat model: 1,000 input tokens and 10 output tokens. */
  async function ask(model: string): Promise<WireAnswer> {
    const { app, account, url } = console.gateway
    await app.refresh()
    return post(
      `${url}/openai/v1/chat/completions`,
      account.key,
      { model, messages: [{ role: 'user', content: 'Hello' }] },
      { 'x-sandbox': 'input=1000; output=10' },
    )
  }

  /** Returns the charge of a request, which its caller has when the answer is complete. */
  async function costOf(model: string): Promise<string> {
    const answer = await ask(model)
    assert.equal(answer.status, 200, answer.text)
    const request = String(answer.headers['x-turnpike-request-id'])
    return (await showRequest(console.gateway.context, { request })).cost_usd
  }

  /** `[state, input price]` of each version, the oldest first. */
  async function versionsOf(model: string): Promise<readonly (readonly [string, unknown])[]> {
    const all = await listPrices(console.gateway.context)
    return all.filter((one) => one.model === model).map(({ state, price }) => [state, price.input])
  }

  const row = (page: Page, model: string): Locator =>
    page.getByRole('table', { name: 'Models' }).getByRole('row').filter({ hasText: model })

  test('a price changes at once, after its difference is shown, and the next request costs it', () =>
    visit({ path: '/models' }, async (page) => {
      assert.equal(await costOf('gpt-6.1-terra'), '0.00105')
      await page.getByRole('searchbox', { name: 'Model' }).fill('terra')
      await row(page, 'gpt-6.2-sol').waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Actions for gpt-6.1-terra' }).click()
      await page.getByRole('menuitem', { name: 'Change price' }).click()
      const dialog = page.getByRole('dialog', { name: 'Change the price of gpt-6.1-terra' })
      await dialog.getByLabel('Input').fill('one')
      await dialog.getByText('A number with at most six decimals').waitFor()
      await dialog.getByLabel('Input').fill('1.25')
      await dialog.getByRole('button', { name: 'Show changes' }).click()
      await dialog.getByText('In force at once').waitFor()
      const [change = '', ...others] = await dialog.getByRole('definition').allTextContents()
      assert.equal(change.replaceAll(/\s+/g, ' '), '$1.00 → becomes $1.25 (+25%)')
      assert.deepEqual(others, [])
      assert.deepEqual(await versionsOf('gpt-6.1-terra'), [
        ['past', 1.25],
        ['in_force', 1],
      ])
      await dialog.getByRole('button', { name: 'Apply' }).click()
      await page.getByText('The price of gpt-6.1-terra is changed.').waitFor()
      await row(page, 'gpt-6.1-terra').getByText('$1.25', { exact: true }).waitFor()
      assert.deepEqual(await versionsOf('gpt-6.1-terra'), [
        ['past', 1.25],
        ['past', 1],
        ['in_force', 1.25],
      ])
      assert.equal(await costOf('gpt-6.1-terra'), '0.0013')
    }))

  test('a price from a later day becomes a later version, and requests cost the old price until then', () =>
    visit({ path: '/models?tab=prices&model=gpt-6.2-sol', ...refused }, async (page) => {
      const day = (offset: number): string =>
        new Date(console.gateway.context.clock.now() + offset * dayMs).toISOString().slice(0, 10)
      await page.getByRole('button', { name: 'Change price' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Output').fill('12.5')
      await dialog.getByLabel('In force from').fill(day(-2))
      await dialog.getByRole('button', { name: 'Show changes' }).click()
      await dialog.getByText('must not be in the past').first().waitFor()
      await dialog.getByLabel('In force from').fill(day(10))
      await dialog.getByRole('button', { name: 'Show changes' }).click()
      await dialog.getByText(/^In force from .*, 00:00 UTC:$/).waitFor()
      await dialog.getByRole('button', { name: 'Apply' }).click()
      const versions = page.getByRole('listitem').filter({ hasText: 'Cache read' })
      await versions.filter({ hasText: 'Later' }).waitFor()
      assert.match(await versions.nth(0).innerText(), /\$10\.00.*\$12\.50 \(\+25%\)/s)
      assert.match(await versions.nth(1).innerText(), /In force/)
      const found = await listPrices(console.gateway.context)
      const later = found.find(({ model, state }) => model === 'gpt-6.2-sol' && state === 'later')
      assert.deepEqual([later?.valid_from, later?.price.output], [`${day(10)}T00:00:00.000Z`, 12.5])
      assert.equal(await costOf('gpt-6.2-sol'), '0.0021')
      await page.getByRole('link', { name: 'Models', exact: true }).click()
      await row(page, 'gpt-6.2-sol').getByText('New price later').waitFor()
    }))

  const priceList = JSON.stringify({
    'claude-haiku-5-5': {
      input_cost_per_token: 2e-7,
      output_cost_per_token: 1e-6,
      cache_read_input_token_cost: 1e-8,
      litellm_provider: 'anthropic',
      max_input_tokens: 1_000_000,
      thinking_on_by_default: true,
    },
    'claude-opus-5-5': { input_cost_per_token: 9e-6, output_cost_per_token: 4e-5 },
    'vendor/embedding': { input_cost_per_token: 4e-8, mode: 'embedding' },
  })

  async function choosePriceList(page: Page, text: string): Promise<void> {
    const buffer = Buffer.from(text)
    const file = { name: 'prices.json', mimeType: 'application/json', buffer }
    await page.getByLabel('Price list').setInputFiles(file)
    await page.getByRole('button', { name: 'Show changes' }).click()
  }

  test('a price list is looked at, chosen from and imported; the rest stays', () =>
    visit({ path: '/models?tab=import', ...refused }, async (page) => {
      await choosePriceList(page, 'not a list')
      await page.getByText('The file is not a price list').waitFor()
      await choosePriceList(page, priceList)
      await page.getByText('2 of 2 listed models change').waitFor()
      const changes = page.getByRole('table', { name: 'Changes of the import' }).getByRole('row')
      const haiku = changes.filter({ hasText: 'claude-haiku-5-5' })
      assert.match(await haiku.innerText(), /max input tokens.*1000000.*dated.*thinks.*true/s)
      assert.match(await haiku.innerText(), /\$0\.10.*\$0\.20 \(\+100%\)/s)
      await page.getByLabel('Import claude-opus-5-5').uncheck()
      await page.getByLabel('text-embedding-4').fill('vendor/embedding')
      await page.getByRole('button', { name: 'Look up' }).nth(-1).click()
      await page.getByText('3 of 3 listed models change').waitFor()
      await page.getByLabel('Import claude-opus-5-5').uncheck()
      await page.getByRole('button', { name: 'Import 2 models' }).click()
      await page.getByText('Imported the prices of 2 models.').waitFor()
      assert.deepEqual((await versionsOf('claude-haiku-5-5')).at(-1), ['in_force', 0.2])
      assert.deepEqual((await versionsOf('text-embedding-4')).at(-1), ['in_force', 0.04])
      assert.deepEqual((await versionsOf('claude-opus-5-5')).at(-1), ['in_force', 4])
    }))

  test('an import does not overwrite prices that another operator has changed meanwhile', () =>
    visit({ path: '/models?tab=import', ...refused }, async (page) => {
      const list = (input: number): string =>
        JSON.stringify({
          'claude-sonnet-5-5': { input_cost_per_token: input, output_cost_per_token: 1e-5 },
          'claude-opus-5-5': { input_cost_per_token: 9e-6, output_cost_per_token: 4e-5 },
        })
      await choosePriceList(page, list(6e-6))
      await page.getByRole('cell', { name: '$2.00' }).waitFor()
      await page.getByLabel('Import claude-opus-5-5').uncheck()
      const models = ['claude-sonnet-5-5']
      await importPrices(console.gateway.context, { text: list(3e-6), models })
      await page.getByRole('button', { name: 'Import 1 model' }).click()
      await page.getByText('Another operator has changed the catalogue').waitFor()
      await page.getByText('$2.00 → becomes $3.00').waitFor()
      assert.deepEqual((await versionsOf('claude-sonnet-5-5')).at(-1), ['in_force', 3])
      await page.getByRole('cell', { name: '$3.00' }).waitFor()
      await page.getByRole('button', { name: 'Import 1 model' }).click()
      await page.getByText('Imported the prices of 1 model.').waitFor()
      assert.deepEqual((await versionsOf('claude-sonnet-5-5')).at(-1), ['in_force', 6])
    }))

  test('the price of one model is not changed over the head of another operator', () =>
    visit({ path: '/models?tab=prices&model=claude-opus-5-5', ...refused }, async (page) => {
      await page.getByRole('button', { name: 'Change price' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Input').fill('7')
      await dialog.getByRole('button', { name: 'Show changes' }).click()
      await dialog.getByText('In force at once').waitFor()
      const text = '{"claude-opus-5-5":{"input_cost_per_token":5e-6,"output_cost_per_token":2e-5}}'
      await importPrices(console.gateway.context, { text })
      await dialog.getByRole('button', { name: 'Apply' }).click()
      await dialog.getByText('Another operator has changed the catalogue').waitFor()
      await dialog.getByText('$4.00 → becomes $5.00').waitFor()
      assert.deepEqual((await versionsOf('claude-opus-5-5')).at(-1), ['in_force', 5])
      assert.equal(await dialog.getByLabel('Input').inputValue(), '7')
      await dialog.getByRole('button', { name: 'Show changes' }).click()
      await dialog.getByText('In force at once').waitFor()
      await dialog.getByRole('button', { name: 'Apply' }).click()
      await page.getByText('The price of claude-opus-5-5 is changed.').waitFor()
      assert.deepEqual((await versionsOf('claude-opus-5-5')).at(-1), ['in_force', 7])
    }))

  const editor = (page: Page): Locator =>
    page.getByRole('textbox', { name: 'Catalogue file', exact: true })

  /** Only the lines in sight are in the page; the editor itself has all of them, as `state`. */
  async function ofEditor(page: Page, expression: string): Promise<string> {
    await editor(page).waitFor()
    return page.evaluate<string>(
      `((state) => ${expression})(document.querySelector('.models-code').shadowRoot
        .querySelector('.cm-content').cmTile.root.view.state)`,
    )
  }

  const readFile = (page: Page): Promise<string> => ofEditor(page, 'state.doc.toString()')

  async function writeFile(page: Page, text: string): Promise<void> {
    await editor(page).press('ControlOrMeta+a')
    await page.keyboard.insertText(text)
    assert.equal(await readFile(page), text)
  }

  async function editFile(
    page: Page,
    change: (file: z.output<typeof catalogueFile>) => void,
  ): Promise<void> {
    const file = catalogueFile.parse(parse(await readFile(page)))
    change(file)
    await writeFile(page, stringify(file))
  }

  test('a model that is added to the file serves, and one that is removed does not, after a question', () =>
    visit({ path: '/models?tab=catalogue', ...refused }, async (page) => {
      const model = 'gpt-6.3-luna'
      assert.equal((await ask(model)).status, 404)
      await editFile(page, ({ models, channels }) => {
        models[model] = { vendor: 'openai', price: { input: 3, output: 4 } }
        channels['openai-main']?.models.push(model)
      })
      await page.getByText('Edited, not applied').waitFor()
      await page.getByRole('button', { name: 'Show changes' }).click()
      await page.getByText('1 added, 1 changed').waitFor()
      await page.getByRole('heading', { name: `Added model ${model}` }).waitFor()
      await page.getByRole('heading', { name: 'Changed channel openai-main' }).waitFor()
      assert.equal((await ask(model)).status, 404)
      await page.getByRole('button', { name: 'Apply' }).click()
      await page.getByText('The catalogue is applied.').waitFor()
      await page.getByText('As applied').waitFor()
      assert.equal(await costOf(model), '0.00304')

      await editFile(page, ({ models, channels }) => {
        delete models[model]
        for (const channel of Object.values(channels))
          channel.models = channel.models.filter((one) => one !== model)
      })
      await page.getByRole('button', { name: 'Show changes' }).click()
      await page.getByRole('button', { name: 'Apply' }).click()
      const question = page.getByRole('alertdialog', { name: 'Retire entries?' })
      await question.getByText(`model ${model}`).waitFor()
      await question.getByRole('button', { name: 'Cancel' }).click()
      assert.equal((await ask(model)).status, 200)
      await page.getByRole('button', { name: 'Apply' }).click()
      await question.getByRole('button', { name: 'Apply' }).click()
      await page.getByText('As applied').waitFor()
      assert.equal((await ask(model)).status, 404)
    }))

  test('a mistake in the file is shown with its line, which it leads to, and nothing is applied', () =>
    visit({ path: '/models?tab=catalogue', ...refused }, async (page) => {
      const stored = await exportCatalogue(console.gateway.context)
      const text = await readFile(page)
      await writeFile(page, text.replace('max_output_tokens: 128000', 'max_output_tokens: many'))
      await page.getByRole('button', { name: 'Show changes' }).click()
      await page.getByText('One mistake in the file.').waitFor()
      const line = text.split('\n').findIndex((each) => each.includes('max_output_tokens')) + 1
      await page.getByText('models.claude-haiku-5-5.max_output_tokens:').waitFor()
      await page.getByRole('button', { name: `Line ${line}` }).click()
      const { from, to } = {
        from: 'state.selection.main.from',
        to: 'state.selection.main.to',
      }
      assert.equal(await ofEditor(page, `state.sliceDoc(${from}, ${to})`), 'many')
      await page.locator('.cm-lintRange-error').filter({ hasText: 'many' }).waitFor()
      assert.equal(await page.getByRole('button', { name: 'Apply' }).count(), 0)
      assert.equal(await exportCatalogue(console.gateway.context), stored)
      await page.getByRole('button', { name: 'Discard edits' }).click()
      await page.getByText('As applied').waitFor()
    }))

  test('the file opens at the entry asked for, finds, folds, completes, and marks mistakes while one types', () =>
    visit({ path: '/channels/openai-azure', ...refused }, async (page) => {
      await page.getByRole('link', { name: 'Open the catalogue' }).click()
      await editor(page).getByText('openai-azure:').waitFor()
      assert.equal(new URL(page.url()).search, '?tab=catalogue&section=channels&entry=openai-azure')
      const line = 'state.doc.lineAt(state.selection.main.head).text'
      assert.equal(await ofEditor(page, line), '  openai-azure:')
      const folded = page.locator('.cm-foldPlaceholder')
      const fold = async (): Promise<number> => {
        await editor(page).press('Control+Shift+BracketLeft')
        return folded.count()
      }
      // It folds nothing that it has not read yet, and reads while it has nothing else to do.
      await eventually('the fold', fold, (count) => count > 0)
      await folded.first().click()
      await editor(page).press('ControlOrMeta+f')
      await page.getByRole('textbox', { name: 'Find' }).fill('')
      await page.keyboard.type('openai-reserve:')
      await page.keyboard.press('Enter')
      await page.keyboard.press('Escape')
      assert.equal(await ofEditor(page, line), '  openai-reserve:')
      for (const key of ['End', 'Enter']) await editor(page).press(key)
      await page.keyboard.type('max_c')
      const take = async (): Promise<unknown> => {
        await page.getByRole('option', { name: 'max_concurrent' }).click()
        return ofEditor(page, line)
      }
      // The editor takes no choice in the first moment of its list.
      await eventually('the completion', take, (text) => String(text).includes('max_concurrent'))
      await page.keyboard.type('many')
      await page.locator('.cm-lintRange-error').first().hover()
      await page.locator('.cm-tooltip').getByText('openai-reserve.max_concurrent').waitFor()
      await page.getByRole('button', { name: 'Discard edits' }).click()
    }))

  test('edits are not applied over a change of another operator, and are not lost without a question', () =>
    visit({ path: '/models?tab=catalogue', ...refused }, async (page) => {
      const limit = (text: string, tokens: number): string =>
        text.replace(/max_output_tokens: \d+/, `max_output_tokens: ${tokens}`)
      const text = await readFile(page)
      await writeFile(page, limit(text, 1_000))
      await page.getByRole('button', { name: 'Show changes' }).click()
      await page.getByText('1 changed').waitFor()
      const stored = await exportCatalogue(console.gateway.context)
      await applyCatalogue(console.gateway.context, { text: limit(stored, 2_000) })
      await page.getByRole('button', { name: 'Apply' }).click()
      await page.getByText('Nothing was applied.').waitFor()
      assert.match(await exportCatalogue(console.gateway.context), /max_output_tokens: 2000/)
      await page.getByRole('link', { name: 'Reports' }).click()
      const question = page.getByRole('alertdialog', { name: 'Leave without applying?' })
      await question.getByRole('button', { name: 'Cancel' }).click()
      assert.match(await readFile(page), /max_output_tokens: 1000/)
      await page.getByRole('button', { name: 'Take their changes' }).click()
      await page.getByText('Both of you have changed models claude-haiku-5-5').waitFor()
      await page.getByLabel('Their version of').getByText('max_output_tokens: 2000').waitFor()
      assert.match(await readFile(page), /max_output_tokens: 1000/)
      await page.getByRole('button', { name: 'Show changes' }).click()
      await page.getByRole('button', { name: 'Apply' }).click()
      await page.getByText('As applied').waitFor()
      assert.match(await exportCatalogue(console.gateway.context), /max_output_tokens: 1000/)
    }))

  test("another operator's change of another entry is taken into the edited file", () =>
    visit({ path: '/models?tab=catalogue', ...refused }, async (page) => {
      const text = await readFile(page)
      await writeFile(page, text.replace('rank: 1', 'rank: 7'))
      await page.getByText('Edited, not applied').waitFor()
      const other = (await exportCatalogue(console.gateway.context)).replace(
        'weight: 1',
        'weight: 9',
      )
      await applyCatalogue(console.gateway.context, { text: other })
      await page.getByRole('button', { name: 'Show changes' }).click()
      await page.getByRole('button', { name: 'Take their changes' }).click()
      await page.getByText('Taken from the other operator: channels anthropic-eu.').waitFor()
      await page.getByRole('button', { name: 'Show changes' }).click()
      await page.getByRole('button', { name: 'Apply' }).click()
      await page.getByText('As applied').waitFor()
      const both = await exportCatalogue(console.gateway.context)
      assert.match(both, /weight: 9/)
      assert.match(both, /rank: 7/)
    }))

  test('the least profitable model is at most three clicks away', () =>
    visit({ path: '/' }, async (page) => {
      const clicks = await countClicks(page)
      await page.getByRole('link', { name: 'Models and prices' }).click()
      for (const order of ['descending', 'ascending']) {
        await page.getByRole('button', { name: 'Margin %' }).click()
        await page.locator(`th[aria-sort=${order}]`).waitFor()
      }
      assert.ok((await clicks()) <= 3)
      const cells = await page.locator('td[data-name="Margin %"]').allInnerTexts()
      const shares = cells.map((text) => Number(text.replace('−', '-').replace(/%.*/s, '')))
      const known = shares.filter((share) => !Number.isNaN(share))
      assert.ok(known.length > 1)
      assert.equal(shares[0], Math.min(...known), cells.join())
    }))

  test('a viewer sees models with their margin, prices and the file, and can change none of them', () =>
    visit({ role: 'viewer', path: '/models' }, async (page) => {
      const url = `${console.gateway.adminUrl}/admin/v1/reports?by=model&model=gpt-6.2-sol`
      const report = await page.request.get(url)
      const { items } = z
        .object({
          items: z.array(
            z.object({
              revenue_usd: z.string(),
              refunded_usd: z.string(),
              unknown_cost_revenue_usd: z.string(),
              known_margin_usd: z.string(),
            }),
          ),
        })
        .parse(await report.json())
      const [figures] = items
      assert.ok(figures !== undefined && Number(figures.known_margin_usd) > 0)
      await row(page, 'gpt-6.2-sol').waitFor()
      const cells = await row(page, 'gpt-6.2-sol').locator('data').all()
      const values = await Promise.all(cells.map((cell) => cell.getAttribute('value')))
      assert.deepEqual(values.slice(-2), [figures.revenue_usd, figures.known_margin_usd])
      const refunded = Number(figures.refunded_usd)
      const knownRevenue =
        Number(figures.revenue_usd) - refunded - Number(figures.unknown_cost_revenue_usd)
      const share = (Number(figures.known_margin_usd) / knownRevenue) * 100
      await row(page, 'gpt-6.2-sol')
        .getByText(`${Number(share.toFixed(1))}%`, { exact: true })
        .waitFor()
      assert.equal(await page.getByRole('button', { name: /^Actions for/ }).count(), 0)

      await page.getByRole('link', { name: 'gpt-6.2-sol' }).click()
      await page.getByRole('heading', { name: 'Prices of gpt-6.2-sol' }).waitFor()
      assert.equal(await page.getByRole('button', { name: 'Change price' }).count(), 0)
      await page.getByRole('link', { name: 'Import prices' }).click()
      await page.getByText('Only an owner imports prices.').waitFor()
      await page.getByRole('link', { name: 'Catalogue file' }).click()
      assert.equal(await editor(page).isEditable(), false)
      const sealed = await exportCatalogue(console.gateway.context)
      const [secret = ''] = /sealed:\S+/.exec(sealed) ?? []
      assert.notEqual(secret, '')
      assert.equal((await readFile(page)).includes(secret), false)
    }))

  const looks = [
    ['wide', 'light'],
    ['narrow', 'dark'],
  ] as const
  for (const [width, theme] of variants(looks, ([one]) => one === 'narrow'))
    test(`can be read by everyone, ${theme}, and fit a ${width} window`, () =>
      visit({ path: '/models', width, theme }, async (page) => {
        for (const [tab, name, shown] of [
          ['Models', 'models', 'Prices in force'],
          ['Price versions', 'prices', 'All versions'],
          ['Import prices', 'import', 'listed models change'],
          ['Catalogue file', 'catalogue', 'As applied'],
        ] as const) {
          await page.getByRole('link', { name: tab, exact: true }).click()
          if (name === 'import') await choosePriceList(page, priceList)
          await page.getByText(shown).first().waitFor()
          await checkAccessibility(page)
          await checkFitsWindow(page)
          await takePicture(page, name)
        }
      }))
})
