/**
 * The account page for an account that begins: lines to copy that work as they are, hostile names as text,
 * and files without anything of the operator's side.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { choose } from '../support/console/choose.ts'
import { startBrowser, type TestBrowser } from '../support/console/browser.ts'
import { send } from '../support/http-client.ts'
import { createAccount, createClientKey, createReaderToken } from '../support/operations.ts'
import { failoverDefaults, scenario, type Scenario } from '../support/scenario.ts'

const run = promisify(execFile)
const clientsFolder = join(import.meta.dirname, '..', '..', 'docs', 'clients')

let gateway: Scenario
let browser: TestBrowser

before(async () => {
  gateway = await scenario(failoverDefaults)
  browser = await startBrowser()
})
after(async () => {
  await browser.close()
  await gateway.close()
})

function visit(token: string, work: (page: Page) => Promise<void>): Promise<void> {
  return browser.withPage({ origin: gateway.url }, async (page) => {
    await page.goto(`${gateway.url}/account/`)
    await page.getByLabel('Read-only token').fill(token)
    await page.getByRole('button', { name: 'Show my account' }).click()
    await page.getByRole('navigation', { name: 'Views' }).waitFor()
    await work(page)
  })
}

/** The lines that the page shows for a client. */
async function snippetsOf(page: Page, client: string, model: string): Promise<readonly string[]> {
  await choose(page.getByLabel('Client', { exact: true }), client)
  await choose(page.getByLabel('Model', { exact: true }), model)
  const shown = page.locator('pre')
  await shown.first().waitFor()
  return shown.allInnerTexts()
}

/** The blocks of a page of docs/clients, for this gateway. */
async function blocksOf(page: string): Promise<readonly string[]> {
  const text = await readFile(join(clientsFolder, `${page}.md`), 'utf8')
  return [...text.matchAll(/^```\w+\n(.*?)\n```$/gms)].map(([, block = '']) =>
    block.replaceAll('http://127.0.0.1:8080', gateway.url),
  )
}

describe('an account that begins', () => {
  test('copies lines for curl that work, and sees the request', async () => {
    const { key, token } = gateway.account
    await visit(token, async (page) => {
      await page.getByText('Nothing was spent in these days.').first().waitFor()
      await page.getByRole('link', { name: 'Set up a client' }).first().click()
      await page.getByText(`${gateway.url}/alpha`, { exact: true }).waitFor()
      await page.getByText(`${gateway.url}/beta/v1`, { exact: true }).waitFor()
      for (const [client, model, answer] of [
        ['curl, messages', 'small-1', /"type":"message"/],
        ['curl, chat completions', 'chat-1', /"object":"chat\.completion"/],
      ] as const) {
        const [lines = ''] = await snippetsOf(page, client, model)
        const { stdout } = await run('sh', ['-euc', lines.replace('cr_…', key)])
        assert.match(stdout, answer)
      }
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      const [lines] = await snippetsOf(page, 'curl, messages', 'large-1')
      await page.getByRole('button', { name: 'Copy' }).last().click()
      await page.getByText('Copied').waitFor()
      assert.equal(await page.evaluate('navigator.clipboard.readText()'), lines)
      await page
        .getByRole('navigation', { name: 'Views' })
        .getByRole('link', { name: 'Requests' })
        .click()
      const table = page.getByRole('table', { name: 'Requests of the account' })
      await table.getByText('small-1').waitFor()
      await table.getByText('chat-1').waitFor()
    })
  })

  test('gets the lines of docs/clients, which tests run with the real programs', async () => {
    await visit(gateway.account.token, async (page) => {
      await page.getByRole('link', { name: 'Set up' }).first().click()
      for (const [client, document, model] of [
        ['Claude Code', 'claude-code', 'large-1'],
        ['Codex CLI', 'codex', 'chat-1'],
        ['opencode', 'opencode', 'chat-1'],
        ['Cline', 'cline', 'chat-1'],
        ['Continue', 'continue', 'chat-1'],
        ['Qwen Code', 'qwen-code', 'chat-1'],
        ['aider', 'aider', 'chat-1'],
        ['Open WebUI', 'open-webui', 'chat-1'],
      ] as const)
        assert.deepEqual(
          await snippetsOf(page, client, model),
          await blocksOf(document),
          `${client} is as in docs/clients/${document}.md`,
        )
      for (const [client, model, address] of [
        ['Anthropic SDK, Python', 'large-1', `base_url="${gateway.url}/alpha"`],
        ['Anthropic SDK, TypeScript', 'large-1', `baseURL: '${gateway.url}/alpha'`],
        ['OpenAI SDK, Python', 'chat-1', `base_url="${gateway.url}/beta/v1"`],
        ['OpenAI SDK, TypeScript', 'chat-1', `baseURL: '${gateway.url}/beta/v1'`],
      ] as const) {
        const text = (await snippetsOf(page, client, model)).join('\n')
        assert.ok(text.includes(address) && text.includes('cr_…'), text)
      }
      await page.getByLabel('Model', { exact: true }).click()
      await page.getByRole('option').first().waitFor()
      const models = await page.getByRole('option').allInnerTexts()
      assert.deepEqual(models, ['chat-1', 'chat-mini-1'])
    })
  })

  test('sees hostile names as text', async () => {
    const { context } = gateway
    const hostile = '<img src=x onerror=alert(1)>'
    const account = await createAccount(context, { name: hostile, balance_usd: '1' })
    const formula = '=cmd|"/c calc"!A1'
    const key = await createClientKey(context, { account: account.id, name: formula })
    const { secret } = await createReaderToken(context, { account: account.id, name: 'x' })
    await gateway.ask({ format: 'chat', isStream: false, key: key.secret })
    await visit(secret, async (page) => {
      await page.getByRole('heading', { level: 1, name: hostile, exact: true }).waitFor()
      await page.getByRole('list', { name: 'Spend by key' }).getByText(formula).click()
      await page.waitForURL(/key=key_/)
      const table = page.getByRole('table', { name: 'Requests of the account' })
      await table.getByText(formula).waitFor()
      const [saved] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export CSV' }).click(),
      ])
      const text = await readFile(await saved.path(), 'utf8')
      assert.ok(text.includes(`"'=cmd|""/c calc""!A1"`), text)
    })
  })

  test('loads nothing of the operator in any view', async () => {
    const loaded = new Set<string>()
    await browser.withPage({ origin: gateway.url }, async (page) => {
      page.on('request', (request) => loaded.add(new URL(request.url()).pathname))
      await page.goto(`${gateway.url}/account/`)
      await page.getByLabel('Read-only token').fill(gateway.account.token)
      await page.getByRole('button', { name: 'Show my account' }).click()
      for (const [view, part] of [
        ['Overview', 'Spend by key'],
        ['Requests', 'Requests'],
        ['Keys', 'Keys'],
        ['Prices', 'Prices'],
        ['Statement', 'Statement'],
        ['Set up', 'Set up a client'],
      ] as const) {
        await page
          .getByRole('navigation', { name: 'Views' })
          .getByRole('link', { name: view })
          .click()
        await page.getByRole('heading', { level: 2, name: part, exact: true }).waitFor()
      }
    })
    const scripts = [...loaded].filter((path) => path.endsWith('.js'))
    assert.ok(scripts.includes('/account/assets/account.js'), scripts.join())
    for (const path of scripts) {
      const { status, text } = await send(`${gateway.url}${path}`)
      assert.equal(status, 200)
      for (const word of ['/admin/', 'channels/', 'own_cost', 'x-turnpike-console'])
        assert.ok(!text.includes(word), `${path} has ${word}`)
    }
    for (const path of loaded) assert.match(path, /^\/(account\/|v1\/usage\/|favicon)/)
  })
})
