/**
 * The path of a newcomer as README.md shows it, on the real `npm start`: the printed link, an account and a
 * key made by clicking, a call of an SDK with the copied program, the request in the open console and on the
 * account page. Nothing is read again by hand.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { choose } from '../support/console/choose.ts'
import { startBrowser, type TestBrowser } from '../support/console/browser.ts'
import { gather } from '../support/gather.ts'
import { makeSdkFolder, shortProgram, type SdkFolder } from '../support/sdk-folder.ts'

const root = join(import.meta.dirname, '..', '..')

let folder: SdkFolder
let gateway: Gateway
let browser: TestBrowser

before(async () => {
  folder = await makeSdkFolder()
  gateway = await startGateway()
  browser = await startBrowser()
})
after(async () => {
  await browser.close()
  await gateway.close()
  await folder.close()
})

interface Gateway {
  /** Where clients connect, as printed. */
  readonly url: string
  /** The link that signs in once, as printed. */
  readonly link: string
  close(): Promise<void>
}

/** Not 0: the console shows the address that the settings have. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function startGateway(): Promise<Gateway> {
  const child = spawn('npm', ['start'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      TURNPIKE_STORE: `sqlite:${join(folder.path, 'turnpike.db')}`,
      TURNPIKE_LISTEN: `127.0.0.1:${await findFreePort()}`,
      TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0',
    },
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const text = await gather(child.stdout).until(/[^]*Press Ctrl-C.*\n/)
  const printed = (pattern: RegExp): string =>
    pattern.exec(text)?.[1] ?? assert.fail(`${pattern.source} is not in: ${text}`)
  return {
    url: printed(/^Turnpike is running at (\S+)$/m),
    link: printed(/^Console: (\S+)/m),
    async close() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Reads the secret that a dialog shows once. */
async function readSecret(dialog: Locator): Promise<string> {
  await dialog.getByText('Copy it now. It is not shown again.').waitFor()
  return dialog.locator('.secret code').innerText()
}

/** The lines for a shell that the dialog of a new key has. */
async function readVariables(dialog: Locator): Promise<string> {
  await dialog.getByText(`OPENAI_BASE_URL=${gateway.url}/beta/v1`).waitFor()
  return dialog.getByLabel('Variables for a shell').innerText()
}

interface Made {
  readonly key: string
  /** Lines for a shell, which SDKs read. */
  readonly variables: string
  readonly token: string
}

/** Makes an account with ten dollars, a key and a read-only token. */
async function setUpAccount(page: Page): Promise<Made> {
  await page.getByRole('link', { name: 'Accounts', exact: true }).click()
  await page.getByRole('button', { name: 'New account' }).click()
  const form = page.getByRole('dialog', { name: 'New account' })
  await form.getByLabel('Name').fill('northwind')
  await form.getByLabel('First credit').fill('10')
  await form.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('heading', { level: 1, name: 'northwind' }).waitFor()
  const views = page.getByRole('navigation', { name: 'About this account' })
  await views.getByRole('link', { name: 'Keys' }).click()
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('Name').fill('laptop')
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog')
  const key = await readSecret(dialog)
  const variables = await readVariables(dialog)
  await dialog.getByRole('button', { name: 'Copy' }).first().click()
  await dialog.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'New read-only token' }).click()
  await page.getByLabel('Name').fill('account page')
  await page.getByRole('button', { name: 'Create token' }).click()
  return { key, variables, token: await readSecret(dialog) }
}

/** Copies a client's program from the account page. */
async function copyProgram(page: Page, { token }: { readonly token: string }): Promise<string> {
  await page.goto(`${gateway.url}/account`)
  await page.getByLabel('Read-only token').fill(token)
  await page.getByRole('button', { name: 'Show my account' }).click()
  await page.getByRole('link', { name: 'Set up', exact: true }).click()
  await choose(page.getByLabel('Client', { exact: true }), 'OpenAI SDK, TypeScript')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const part = page.getByRole('region', { name: 'ask.mts' })
  await part.getByRole('button', { name: 'Copy' }).click()
  await part.getByText('Copied').waitFor()
  return page.evaluate<string>('navigator.clipboard.readText()')
}

test('a newcomer sees the first request of an SDK in the console and on the account page', async () => {
  const { origin } = new URL(gateway.link)
  await browser.withPage({ origin }, async (operator) => {
    await operator.goto(gateway.link)
    await operator.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    const { key, variables, token } = await setUpAccount(operator)
    await operator.getByRole('dialog').getByRole('button', { name: 'Copy' }).click()
    await operator.getByRole('button', { name: 'Done' }).click()
    await operator.getByRole('link', { name: 'Requests', exact: true }).first().click()
    await operator.getByRole('heading', { level: 1, name: 'Requests' }).waitFor()
    const live = operator.getByRole('table', { name: 'Requests' }).getByRole('row')

    await browser.withPage({ origin: gateway.url }, async (holder) => {
      const program = await copyProgram(holder, { token })
      assert.ok(program.includes(`baseURL: '${gateway.url}/beta/v1'`), program)
      await folder.write('ask.mts', program)
      assert.match(await folder.run(`GATEWAY_KEY=${key} node ask.mts`), /\S/)
      await folder.write('short.mts', shortProgram)
      assert.match(await folder.run(`${variables}\nnode short.mts`), /\S/)

      const made = live.filter({ hasText: 'northwind' })
      await made.filter({ hasText: 'chat-mini-1' }).waitFor()
      const seen = made.filter({ hasText: 'chat-1' })
      await seen.waitFor()
      await holder
        .getByRole('navigation', { name: 'Views' })
        .getByRole('link', { name: 'Requests' })
        .click()
      const rows = holder.getByRole('table', { name: 'Requests of the account' }).getByRole('row')
      const own = rows.filter({ hasText: 'chat-1' }).filter({ hasText: 'Completed' })
      const cost = await own.locator('data').last().getAttribute('value')
      assert.ok(Number(cost) > 0, `the request cost ${cost}`)
      assert.equal(await seen.locator(`data[value="${cost}"]`).count(), 1)
    })
  })
})
