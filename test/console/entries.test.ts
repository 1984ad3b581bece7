/**
 * Channels and models by form, by clicking in a browser: a model with a main channel and a reserve from
 * nothing, a credential replaced and taken back, an entry that two operators change. A secret that a form
 * gets is in no address, history, storage or log.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { choose } from '../support/console/choose.ts'
import { checkAccessibility, checkFitsWindow, takePicture } from '../support/console/look.ts'
import { countClicks } from '../support/console/clicks.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { post } from '../support/http-client.ts'
import { applyCatalogue, exportCatalogue } from '../support/operations.ts'
import { variants, volume } from '../support/variants.ts'

/** What the browser's console says about a refusal that the test provokes. */
const refused = { allowed: [/status of 4\d\d/] }
const secrets = {
  main: 'sk-canary-main-3fUq81',
  reserve: 'sk-canary-reserve-77aPd2',
  other: 'sk-canary-other-0Zk4Lm',
}

/** A form keeps its elements when the window changes: one width is checked whole, by default. */
const windows = [380, 768, 1024, 1440].map((width) => ({
  width,
  isRead: volume({ few: 380, all: width }) === width,
}))

describe('the forms of the catalogue', () => {
  const logged: string[] = []
  let console: OpenConsole
  before(async () => {
    console = await openConsole({
      requests: 100,
      sandbox: {
        credentials: {
          'fresh-main': secrets.main,
          'fresh-reserve': secrets.reserve,
          'openai-azure': 'credential-of-openai-azure',
        },
      },
      onLogLine: (line) => logged.push(JSON.stringify(line)),
    })
  })
  after(() => console.close())

  const addressOf = (channel: string): string => `${console.gateway.sandbox.url}/${channel}`
  const form = (page: Page, name: string): Locator => page.getByRole('dialog', { name })
  const stored = (): Promise<string> => exportCatalogue(console.gateway.context)

  async function ask(model: string): Promise<number> {
    const { app, account, url } = console.gateway
    await app.refresh()
    const body = { model, messages: [{ role: 'user', content: 'Hello' }] }
    return (await post(`${url}/openai/v1/chat/completions`, account.key, body)).status
  }

  async function assertNoSecret(page: Page): Promise<void> {
    const kept = await page.evaluate<string>(
      'JSON.stringify([location.href, history.state, { ...localStorage }, { ...sessionStorage }])',
    )
    for (const [where, text] of [
      ['the page', kept],
      ['the log', logged.join('\n')],
      ['the file', await stored()],
    ] as const)
      assert.equal(text.includes('sk-canary'), false, where)
  }

  /** `name` becomes `name-main` and `name-reserve`. */
  async function fillChannel(dialog: Locator, name: string, model: string): Promise<void> {
    await choose(dialog.getByLabel('Kind of vendor'), 'vendor openai')
    await dialog.getByLabel('Name', { exact: true }).fill(`${name}-main`)
    await dialog.getByLabel('Address', { exact: true }).fill(addressOf(`${name}-main`))
    await dialog.getByLabel('Credential', { exact: true }).fill(secrets.main)
    await dialog.getByRole('button', { name: 'Fetch its models' }).click()
    await dialog.getByLabel(model, { exact: true }).check()
    await dialog.getByLabel('Input, per million').fill('3')
    await dialog.getByLabel('Output, per million').fill('4')
    await dialog.getByLabel('Add a reserve').check()
    await dialog.getByLabel('Name of the reserve').fill(`${name}-reserve`)
    await dialog.getByLabel('Address of the reserve').fill(addressOf(`${name}-reserve`))
  }

  test('a new model gets a main channel and a reserve within twelve clicks, tested before it is saved', () =>
    console.withConsole({ path: '/' }, async (page) => {
      assert.equal(await ask('chat-1'), 404)
      const clicks = await countClicks(page)
      await page.getByRole('link', { name: 'Channels', exact: true }).click()
      await page.getByRole('button', { name: 'New channel' }).click()
      const dialog = form(page, 'New channel')
      await fillChannel(dialog, 'fresh', 'chat-1')
      await dialog.getByLabel('Credential of the reserve').fill('sk-canary-wrong')
      await dialog.getByRole('button', { name: 'Test', exact: true }).click()
      await dialog.getByText('fresh-main works.').waitFor()
      await dialog.getByText('it cost $').waitFor()
      await dialog.getByText('fresh-reserve does not work.').waitFor()
      await dialog.getByLabel('Credential of the reserve').fill(secrets.reserve)
      await dialog.getByRole('button', { name: 'Test', exact: true }).click()
      await dialog.getByText('fresh-reserve works.').waitFor()
      await dialog.getByRole('button', { name: 'Show changes' }).click()
      await dialog.getByRole('heading', { name: 'Added model chat-1' }).waitFor()
      await dialog.getByRole('heading', { name: 'Added channel fresh-reserve' }).waitFor()
      assert.equal(await ask('chat-1'), 404)
      await dialog.getByRole('button', { name: 'Save' }).click()
      await page.getByText('The channel fresh-main is saved.').waitFor()
      const count = await clicks()
      assert.ok(count <= 12, `${count} clicks`)
      assert.equal(await ask('chat-1'), 200)
      await page.getByRole('table', { name: 'Channels of chat-1' }).waitFor()
      await assertNoSecret(page)
    }))

  test('a mistake is shown beside its field, and what was typed stays', () =>
    console.withConsole({ path: '/channels', ...refused }, async (page) => {
      await page.getByRole('button', { name: 'New channel' }).click()
      const dialog = form(page, 'New channel')
      await choose(dialog.getByLabel('Kind of vendor'), 'vendor openai')
      await dialog.getByLabel('Address', { exact: true }).fill('not an address')
      await dialog.getByLabel('Credential', { exact: true }).fill(secrets.other)
      await dialog.getByLabel('A model that is not listed').fill('gpt-6.1-terra')
      await dialog.getByRole('button', { name: 'Add' }).click()
      await dialog.getByRole('button', { name: 'Show changes' }).click()
      const address = dialog.getByLabel('Address', { exact: true })
      await dialog.getByText('must be a web address').first().waitFor()
      assert.equal(await address.getAttribute('aria-invalid'), 'true')
      assert.equal(await address.inputValue(), 'not an address')
      await assertNoSecret(page)
    }))

  test('a secret that is pasted into any field stays in the form', () =>
    console.withConsole({ path: '/channels', ...refused }, async (page) => {
      await page.getByRole('button', { name: 'New channel' }).click()
      const dialog = form(page, 'New channel')
      await choose(dialog.getByLabel('Kind of vendor'), 'vendor openai')
      await dialog.getByText('More settings').click()
      await dialog.getByLabel('A model that is not listed').fill('gpt-6.1-terra')
      await dialog.getByRole('button', { name: 'Add' }).click()
      await dialog.getByLabel('Add a reserve').check()
      const inputs = dialog.locator('input:not([type=checkbox], [aria-hidden]), textarea')
      const count = await inputs.count()
      assert.ok(count > 15, `${count} fields`)
      for (let index = 0; index < count; index++) await inputs.nth(index).fill(secrets.other)
      // Two channels of one name are refused before anything is sent.
      await dialog.getByText(`The catalogue has ${secrets.other} already.`).first().waitFor()
      await dialog.getByLabel('Name of the reserve').fill('another-name')
      await dialog.getByRole('button', { name: 'Show changes' }).click()
      await dialog.getByRole('alert').waitFor()
      await assertNoSecret(page)
    }))

  test('a credential is replaced within four clicks, and taken back', () =>
    console.withConsole({ path: '/' }, async (page) => {
      const clicks = await countClicks(page)
      await page.getByRole('link', { name: 'Channels', exact: true }).click()
      await page.getByRole('link', { name: 'openai-main' }).first().click()
      await page.getByRole('button', { name: 'Replace credential' }).click()
      const dialog = form(page, 'Replace the credential of openai-main')
      await dialog.getByLabel('New credential').fill(secrets.other)
      await dialog.getByRole('button', { name: 'Test and replace' }).click()
      await page.getByText('The credential of openai-main is replaced.').waitFor()
      const count = await clicks()
      assert.ok(count <= 4, `${count} clicks`)
      await assertNoSecret(page)
      await page.getByRole('button', { name: 'Restore the former one' }).click()
      const question = page.getByRole('alertdialog')
      await question.getByRole('button', { name: 'Restore' }).click()
      await page.getByText('The former credential of openai-main is in force again.').waitFor()
      await page
        .getByRole('button', { name: 'Restore the former one' })
        .waitFor({ state: 'detached' })
    }))

  test('a credential that serves no request replaces none, unless an owner says so', () =>
    console.withConsole({ path: '/channels/openai-azure', ...refused }, async (page) => {
      const before = await stored()
      await page.getByRole('button', { name: 'Replace credential' }).click()
      const dialog = form(page, 'Replace the credential of openai-azure')
      await dialog.getByLabel('New credential').fill(secrets.other)
      await dialog.getByRole('button', { name: 'Test and replace' }).click()
      await dialog.getByText('did not serve a request').waitFor()
      assert.equal(await stored(), before)
      await dialog.getByRole('button', { name: 'Save it untested' }).click()
      await page.getByText('The credential of openai-azure is replaced.').waitFor()
      assert.notEqual(await stored(), before)
      await assertNoSecret(page)
    }))

  test('a new model is served by channels that there are, at once', () =>
    console.withConsole({ path: '/models' }, async (page) => {
      const model = 'gpt-6.3-luna'
      await page.getByRole('button', { name: 'New model' }).click()
      const dialog = form(page, 'New model')
      await dialog.getByLabel('Id', { exact: true }).fill(model)
      await choose(dialog.getByLabel('Vendor', { exact: true }), 'openai')
      await dialog.getByLabel('Input', { exact: true }).fill('3')
      await dialog.getByLabel('Output', { exact: true }).fill('4')
      await dialog.getByLabel('openai-main').check()
      await dialog.getByLabel('openai-reserve').check()
      await dialog.getByRole('button', { name: 'Show changes' }).click()
      await dialog.getByRole('heading', { name: `Added model ${model}` }).waitFor()
      await dialog.getByRole('heading', { name: 'Changed channel openai-reserve' }).waitFor()
      await dialog.getByRole('button', { name: 'Save' }).click()
      await page.getByText(`The model ${model} is saved.`).waitFor()
      assert.equal(await ask(model), 200)
    }))

  test('two operators change one channel: the form shows both changes, and saves them', () =>
    console.withConsole({ path: '/channels/openai-reserve', ...refused }, async (page) => {
      await page.getByRole('button', { name: 'Edit', exact: true }).click()
      const dialog = form(page, 'Edit openai-reserve')
      await dialog.getByLabel('Weight').fill('7')
      const text = await stored()
      const at = text.indexOf('openai-reserve:')
      const changed = text.slice(0, at) + text.slice(at).replace('rank: 1', 'rank: 5')
      await applyCatalogue(console.gateway.context, { text: changed })
      await dialog.getByRole('button', { name: 'Show changes' }).click()
      await dialog.getByText('Another operator has changed this meanwhile').waitFor()
      await dialog.getByText('Rank: 5').waitFor()
      assert.equal(await dialog.getByLabel('Weight').inputValue(), '7')
      assert.equal(await dialog.getByLabel('Rank').inputValue(), '5')
      await dialog.getByRole('button', { name: 'Show changes' }).click()
      await dialog.getByRole('heading', { name: 'Changed channel openai-reserve' }).waitFor()
      await dialog.getByRole('button', { name: 'Save' }).click()
      await page.getByText('openai-reserve is changed.').waitFor()
      const after = await stored()
      assert.match(after.slice(after.indexOf('openai-reserve:')), /rank: 5\n\s+weight: 7/)
    }))

  test('a model is edited by the fields that the gateway declares, those of every day first', () =>
    console.withConsole({ path: '/models' }, async (page) => {
      await page.getByRole('button', { name: 'Actions for gpt-6.2-sol' }).click()
      await page.getByRole('menuitem', { name: 'Edit model' }).click()
      const dialog = form(page, 'Edit gpt-6.2-sol')
      await dialog.getByLabel('Max output tokens').fill('64000')
      assert.equal(await dialog.getByLabel('Image tokens').isVisible(), false)
      await dialog.getByText('More settings').click()
      await dialog.getByLabel('Image tokens').fill('1200')
      await dialog.getByRole('button', { name: 'Show changes' }).click()
      await dialog.getByText('1200').waitFor()
      await dialog.getByRole('button', { name: 'Save' }).click()
      await page.getByText('gpt-6.2-sol is changed.').waitFor()
      assert.match(await stored(), /max_output_tokens: 64000\n\s+image_tokens: 1200/)
    }))

  test('offer an operator who is no owner none of it', () =>
    console.withConsole({ role: 'operator', path: '/channels/openai-main' }, async (page) => {
      await page.getByRole('heading', { name: 'Settings' }).waitFor()
      for (const name of ['Edit', 'Replace credential'])
        assert.equal(await page.getByRole('button', { name, exact: true }).count(), 0, name)
      await page.goto(`${console.gateway.adminUrl}/console/channels`)
      await page.getByRole('link', { name: 'By channel' }).waitFor()
      assert.equal(await page.getByRole('button', { name: 'New channel' }).count(), 0)
    }))

  for (const theme of variants(['light', 'dark'] as const, (one) => one === 'dark'))
    test(`can be read by everyone, ${theme}, and fit every window`, () =>
      console.withConsole({ path: '/channels', theme }, async (page) => {
        const look = async (name: string): Promise<void> => {
          for (const { width, isRead } of windows) {
            await page.setViewportSize({ width, height: 900 })
            await checkFitsWindow(page)
            if (isRead) await checkAccessibility(page)
            await takePicture(page, name)
          }
        }
        const leave = async (dialog: Locator, isTyped = false): Promise<void> => {
          await dialog.getByRole('button', { name: 'Cancel' }).click()
          if (isTyped) await page.getByRole('button', { name: 'Discard' }).click()
          await dialog.waitFor({ state: 'detached' })
        }
        await page.getByRole('button', { name: 'New channel' }).click()
        await fillChannel(form(page, 'New channel'), 'other', 'chat-mini-1')
        await look('new-channel')
        await leave(form(page, 'New channel'), true)
        await page.goto(`${console.gateway.adminUrl}/console/channels/openai-main`)
        await page.getByRole('button', { name: 'Edit', exact: true }).click()
        const edit = form(page, 'Edit openai-main')
        await edit.getByText('More settings').click()
        await look('edit-channel')
        await leave(edit)
        await page.getByRole('button', { name: 'Replace credential' }).click()
        const credential = form(page, 'Replace the credential of openai-main')
        await credential.getByLabel('New credential').waitFor()
        await look('replace-credential')
        await leave(credential)
        await page.goto(`${console.gateway.adminUrl}/console/models`)
        await page.getByRole('button', { name: 'New model' }).click()
        const model = form(page, 'New model')
        await model.getByLabel('Id', { exact: true }).waitFor()
        await look('new-model')
      }))

  test('are in Chinese for a person who reads it, and fit every window', () =>
    console.withConsole({ path: '/models', language: 'zh-CN', theme: 'dark' }, async (page) => {
      const look = async (name: string, shown: string): Promise<void> => {
        const dialog = page.getByRole('dialog')
        await dialog.getByText(shown).first().waitFor()
        for (const { width, isRead } of windows) {
          await page.setViewportSize({ width, height: 900 })
          await checkFitsWindow(page)
          if (isRead) await checkAccessibility(page)
          await takePicture(page, `${name}-chinese`)
        }
        await page.keyboard.press('Escape')
        await dialog.waitFor({ state: 'detached' })
      }
      await page.getByRole('button', { name: 'gpt-6.2-sol 的操作' }).click()
      await page.getByRole('menuitem', { name: '更改价格' }).click()
      await look('change-price', '缓存读取')
      await page.getByRole('button', { name: '新建模型' }).click()
      await look('new-model', '价格（美元/百万 Token）')
      await page.goto(`${console.gateway.adminUrl}/console/channels/openai-main`)
      await page.getByRole('button', { name: '编辑', exact: true }).click()
      await look('edit-channel', '同一优先级的渠道之间账户的份额。')
    }))
})
