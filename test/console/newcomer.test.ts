/**
 * The path of a newcomer as README.md shows it, on the real `npm start`: the printed link, an account and a
 * key made by clicking, a call of an SDK with the copied program, the request in the open console and on the
 * account page. Nothing is read again by hand.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import type { Page } from 'playwright-core'
import { startBrowser, type TestBrowser } from '../support/console/browser.ts'
import { gather } from '../support/gather.ts'

const root = join(import.meta.dirname, '..', '..')

let folder: string
let gateway: Gateway
let browser: TestBrowser

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turnpike-newcomer-'))
  gateway = await startGateway()
  browser = await startBrowser()
})
after(async () => {
  await browser.close()
  await gateway.close()
  await rm(folder, { recursive: true, force: true })
})

interface Gateway {
  /** Where clients connect, as printed. */
  readonly url: string
  /** The link that signs in once, as printed. */
  readonly link: string
  close(): Promise<void>
}

async function startGateway(): Promise<Gateway> {
  const child = spawn('npm', ['start'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      ...process.env,
      TURNPIKE_STORE: `sqlite:${join(folder, 'turnpike.db')}`,
      TURNPIKE_LISTEN: '127.0.0.1:0',
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

/** Returns the secret that a dialog shows once. */
async function takeSecret(page: Page, kind: 'cr_' | 'ro_'): Promise<string> {
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Copy it now. It is not shown again.').waitFor()
  const secret = await dialog.locator('code').filter({ hasText: kind }).first().innerText()
  await dialog.getByRole('button', { name: 'Done' }).click()
  return secret
}

/** Makes an account with ten dollars, a key and a read-only token. */
async function setUpAccount(page: Page): Promise<{ readonly key: string; readonly token: string }> {
  await page.getByRole('link', { name: 'Accounts', exact: true }).click()
  await page.getByRole('button', { name: 'New account' }).click()
  const form = page.getByRole('dialog', { name: 'New account' })
  await form.getByLabel('Name').fill('northwind')
  await form.getByLabel('First credit').fill('10')
  await form.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('heading', { level: 1, name: 'northwind' }).waitFor()
  await page.getByRole('link', { name: 'Keys' }).click()
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('Name').fill('laptop')
  await page.getByRole('button', { name: 'Create key' }).click()
  const key = await takeSecret(page, 'cr_')
  await page.getByRole('button', { name: 'New read-only token' }).click()
  await page.getByLabel('Name').fill('account page')
  await page.getByRole('button', { name: 'Create token' }).click()
  return { key, token: await takeSecret(page, 'ro_') }
}

/** Copies a client's program from the account page. */
async function copyProgram(page: Page, { token }: { readonly token: string }): Promise<string> {
  await page.goto(`${gateway.url}/account`)
  await page.getByLabel('Read-only token').fill(token)
  await page.getByRole('button', { name: 'Show my account' }).click()
  await page.getByRole('link', { name: 'Set up', exact: true }).click()
  await page.getByLabel('Client', { exact: true }).selectOption('OpenAI SDK, TypeScript')
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const part = page.getByRole('region', { name: 'ask.mts' })
  await part.getByRole('button', { name: 'Copy' }).click()
  await part.getByText('Copied').waitFor()
  return page.evaluate<string>('navigator.clipboard.readText()')
}

/** Runs the program beside the installed SDK, as its reader would. */
async function runProgram(text: string, key: string): Promise<string> {
  const program = join(folder, 'ask.mts')
  await symlink(join(root, 'test', 'clients', 'node_modules'), join(folder, 'node_modules'))
  await writeFile(program, text)
  const env = { ...process.env, GATEWAY_KEY: key }
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env })
  return stdout
}

test('a newcomer sees the first request of an SDK in the console and on the account page', async () => {
  const { origin } = new URL(gateway.link)
  await browser.withPage({ origin }, async (operator) => {
    await operator.goto(gateway.link)
    await operator.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    const { key, token } = await setUpAccount(operator)
    await operator.getByRole('link', { name: 'Requests', exact: true }).first().click()
    await operator.getByRole('heading', { level: 1, name: 'Requests' }).waitFor()
    const live = operator.getByRole('table', { name: 'Requests' }).getByRole('row')

    await browser.withPage({ origin: gateway.url }, async (holder) => {
      const program = await copyProgram(holder, { token })
      assert.ok(program.includes(`baseURL: '${gateway.url}/beta/v1'`), program)
      assert.notEqual((await runProgram(program, key)).trim(), '')

      const seen = live.filter({ hasText: 'northwind' }).filter({ hasText: 'laptop' })
      await seen.waitFor()
      await holder
        .getByRole('navigation', { name: 'Views' })
        .getByRole('link', { name: 'Requests' })
        .click()
      const rows = holder.getByRole('table', { name: 'Requests of the account' }).getByRole('row')
      const own = rows.filter({ hasText: 'laptop' }).filter({ hasText: 'Completed' })
      const cost = await own.locator('data').last().getAttribute('value')
      assert.ok(Number(cost) > 0, `the request cost ${cost}`)
      assert.equal(await seen.locator(`data[value="${cost}"]`).count(), 1)
    })
  })
})
