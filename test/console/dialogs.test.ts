/** Dialogs of the console: a secret that is shown once is not lost, and the first field has the focus. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { choose } from '../support/console/choose.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { checkAccessibility } from '../support/console/look.ts'

describe('dialogs', () => {
  let console: OpenConsole
  before(async () => {
    console = await openConsole({ requests: 20 })
  })
  after(() => console.close())

  const visit = (path: string, work: (page: Page) => Promise<void>): Promise<void> =>
    console.withConsole({ path }, work)

  /** Fills the form for a new secret, and returns the dialog that shows it. */
  async function makeSecret(page: Page, open: string, create: string): Promise<Locator> {
    await page.getByRole('button', { name: open }).click()
    const dialog = page.getByRole('dialog', { name: open })
    await dialog.getByLabel('Name').fill('shown once')
    if (open === 'New target') await dialog.getByLabel('Address').fill('https://hooks.example/in')
    await dialog.getByRole('button', { name: create }).click()
    await dialog.getByText('Copy it now. It is not shown again.').waitFor()
    return dialog
  }

  async function openKeys(page: Page): Promise<void> {
    await page.getByRole('link', { name: 'sparrow-health' }).click()
    const tabs = page.getByRole('navigation', { name: 'About this account' })
    await tabs.getByRole('link', { name: 'Keys' }).click()
  }

  const secrets = [
    ['/accounts', 'New key', 'Create key'],
    ['/accounts', 'New read-only token', 'Create token'],
    ['/settings?tab=access', 'New admin token', 'Create token'],
    ['/alerts?tab=targets', 'New target', 'Create target'],
  ] as const

  for (const [path, open, create] of secrets)
    test(`a secret stays until it was copied: ${open}`, () =>
      visit(path, async (page) => {
        if (path === '/accounts') await openKeys(page)
        const dialog = await makeSecret(page, open, create)
        const done = dialog.getByRole('button', { name: 'Done' })
        assert.ok(await done.isDisabled())
        assert.equal(await dialog.getByRole('button', { name: 'Close' }).count(), 0)
        await page.keyboard.press('Escape')
        await page.mouse.click(5, 5)
        await checkAccessibility(page)
        assert.ok(await dialog.isVisible())
        await dialog.getByRole('button', { name: 'Copy' }).first().click()
        await done.click()
        await dialog.waitFor({ state: 'detached' })
      }))

  test('a secret can be saved as a file, and the way back asks before it is lost', () =>
    visit('/accounts', async (page) => {
      await openKeys(page)
      const dialog = await makeSecret(page, 'New key', 'Create key')
      const secret = await dialog.getByText(/^cr_/).first().innerText()
      await page.goBack()
      const question = page.getByRole('alertdialog', { name: 'Leave without the secret?' })
      await question.getByRole('button', { name: 'Stay' }).click()
      await question.waitFor({ state: 'detached' })
      const download = page.waitForEvent('download')
      await dialog.getByRole('button', { name: 'Download .env' }).click()
      const text = await readFile(await (await download).path(), 'utf8')
      assert.ok(text.includes(`OPENAI_API_KEY=${secret}\n`), text)
      assert.ok(!text.includes('export'))
      await dialog.getByRole('button', { name: 'Done' }).click()
      await dialog.waitFor({ state: 'detached' })
    }))

  test('no button covers the variables of a new key', () =>
    visit('/accounts', async (page) => {
      await openKeys(page)
      const dialog = await makeSecret(page, 'New key', 'Create key')
      const code = await dialog.locator('.snippet code').boundingBox()
      const copy = await dialog.locator('.snippet button').boundingBox()
      assert.ok(code !== null && copy !== null)
      assert.ok(copy.y + copy.height <= code.y, 'the button is above the text')
      await dialog.getByRole('button', { name: 'Copy' }).first().click()
      await dialog.getByRole('button', { name: 'Done' }).click()
    }))

  test('the first field has the focus, also a select, and no tip is open', () =>
    visit('/alerts?tab=targets', async (page) => {
      await page.getByRole('button', { name: 'New target' }).click()
      await page.locator('.select:focus').waitFor()
      assert.equal(await page.locator('.tip').count(), 0)
    }))

  test('check boxes and fields for dates have the size of the others', () =>
    visit('/accounts', async (page) => {
      await openKeys(page)
      await page.getByRole('button', { name: 'New key' }).click()
      const dialog = page.getByRole('dialog')
      await choose(dialog.getByRole('combobox', { name: 'Models' }), 'some')
      await dialog.getByRole('checkbox').first().waitFor()
      const sizes = async (selector: string): Promise<readonly string[]> => [
        ...new Set(
          await dialog
            .locator(selector)
            .evaluateAll((all) => all.map((one) => String(Reflect.get(one, 'offsetHeight')))),
        ),
      ]
      assert.deepEqual(await sizes('input[type=checkbox]'), ['16'])
      assert.deepEqual(await sizes('input.input, .select'), ['34'])
    }))
})
