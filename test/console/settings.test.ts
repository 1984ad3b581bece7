/** The page of settings, by clicking in a browser; gateway, store and commands agree. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { newFolder, run } from '../support/command-line.ts'
import { choose } from '../support/console/choose.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import { listAdminTokens, recentActions } from '../support/operations.ts'

const password = 'password-of-the-mail-server'

describe('the page of settings', () => {
  let console: OpenConsole
  before(async () => {
    console = await openConsole({
      requests: 100,
      settings: {
        node_name: 'counter-1',
        smtp: 'smtp://turnpike@127.0.0.1:2525',
        smtp_password: password,
        smtp_from: 'turnpike@example.com',
      },
    })
  })
  after(() => console.close())

  const table = (page: Page, name: string) => page.getByRole('table', { name })
  async function readStatus(token: string): Promise<number> {
    const headers = { authorization: `Bearer ${token}` }
    return (await send(`${console.gateway.adminUrl}/admin/v1/version`, { headers })).status
  }

  test('shows each setting with its value, source and meaning, and no secret', () =>
    console.withConsole({ role: 'viewer', path: '/settings' }, async (page) => {
      await page.getByRole('searchbox', { name: 'Search' }).fill('smtp')
      const row = page.getByRole('row').filter({ hasText: 'smtp_password' }).first()
      assert.match(
        await row.innerText(),
        /The password of the user in smtp\.\s+\*\*\*\s+environment/,
      )
      await page.getByText('turnpike@example.com').waitFor()
      assert.equal((await page.content()).includes(password), false)
      await page.getByRole('searchbox', { name: 'Search' }).fill('idle_timeout')
      await row.waitFor({ state: 'detached' })
      await page.reload()
      await page.getByRole('row').filter({ hasText: 'idle_timeout' }).first().waitFor()
      assert.equal(await row.count(), 0)
      await page.getByRole('searchbox', { name: 'Search' }).fill('no such word')
      await page.getByText('No setting matches.').waitFor()
    }))

  test('shows the gateways and their version', () =>
    console.withConsole({ role: 'viewer', path: '/settings?tab=gateways' }, async (page) => {
      const row = table(page, 'Gateways of the store').getByRole('row').nth(1)
      await row.waitFor()
      assert.match(await row.innerText(), /counter-1\s+running/)
      const headers = { authorization: `Bearer ${console.tokens.viewer}` }
      const answer = await send(`${console.gateway.adminUrl}/admin/v1/version`, { headers })
      const { version } = JSON.parse(answer.text) as { version: string }
      assert.ok((await row.innerText()).includes(version))
      await page.getByRole('heading', { name: 'This gateway' }).waitFor()
      await page.getByText('None recorded.').waitFor()
    }))

  test('downloads a backup that can be restored', () =>
    console.withConsole({ path: '/settings?tab=backups' }, async (page) => {
      await page.getByText('No backup yet.').waitFor()
      await page.getByRole('button', { name: 'Download a backup' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('The file holds everything in the store').waitFor()
      const downloading = page.waitForEvent('download')
      await dialog.getByRole('link', { name: 'Download' }).click()
      const folder = newFolder()
      const file = join(folder, 'backup.db')
      await (await downloading).saveAs(file)

      const row = table(page, 'Backups, newest first').getByRole('row').nth(1)
      await row.waitFor()
      assert.match(await row.innerText(), /Ada \(owner\)\s+downloaded.*\s+passed/)
      const digest = hash('sha256', await readFile(file), 'base64')
      assert.ok((await row.innerText()).includes(digest.slice(0, 12)))
      const store = { TURNPIKE_STORE: `sqlite:${join(folder, 'restored.db')}` }
      const restored = await run(folder, ['restore', 'backup.db'], store)
      assert.equal(restored.code, 0, restored.error)
      const accounts = await run(folder, ['account', 'list'], store)
      assert.match(accounts.out, /juniper-studio/)
    }))

  test('creates an admin token, shown once, and revokes it', () =>
    console.withConsole({ path: '/settings?tab=access' }, async (page) => {
      await page.getByRole('button', { name: 'New admin token' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('Name').fill('monitoring')
      await choose(dialog.getByLabel('Role'), 'Viewer: reads everything')
      await dialog.getByRole('button', { name: 'Create token' }).click()
      await dialog.getByText('Copy it now. It is not shown again.').waitFor()
      const token = await dialog.getByText(/^ad_/).innerText()
      await dialog.getByRole('button', { name: 'Copy' }).click()
      await dialog.getByRole('button', { name: 'Done' }).click()
      const row = table(page, 'Admin tokens, oldest first')
        .getByRole('row')
        .filter({ hasText: 'monitoring' })
      await row.getByText('active').waitFor()
      assert.equal((await page.content()).includes(token), false)
      assert.equal(await readStatus(token), 200)

      await row.getByRole('button', { name: 'Revoke' }).click()
      const question = page.getByRole('alertdialog', { name: 'Revoke monitoring?' })
      await question.getByText('Within a second its requests are refused').waitFor()
      await question.getByRole('button', { name: 'Revoke token' }).click()
      await row.getByText('revoked').waitFor()
      await eventually(
        'the refusal',
        () => readStatus(token),
        (status) => status === 401,
      )
      const made = (await listAdminTokens(console.gateway.context)).filter(
        ({ name }) => name === 'monitoring',
      )
      assert.deepEqual(
        made.map(({ role, state }) => [role, state]),
        [['viewer', 'revoked']],
      )
    }))

  test('signs out all browsers of the token after a question', () =>
    console.withConsole({ role: 'operator', path: '/settings?tab=access' }, async (page) => {
      await console.withConsole(
        { role: 'operator', path: '/settings?tab=access', allowed: [/ 401 /] },
        async (other) => {
          await table(other, 'Sessions of your admin token').getByText('this browser').waitFor()
          await page.getByRole('button', { name: 'Sign out everywhere' }).click()
          const question = page.getByRole('alertdialog')
          await question.getByRole('button', { name: 'Sign out everywhere' }).click()
          await page.getByRole('heading', { name: 'Sign in to Turnpike' }).waitFor()
          await other.reload()
          await other.getByRole('heading', { name: 'Sign in to Turnpike' }).waitFor()
        },
      )
      const [last] = await recentActions(console.gateway.context, { action: 'session.end-all' })
      assert.equal(last?.actor_name, 'on-call')
      assert.equal(await readStatus(console.tokens.operator), 200)
    }))

  test('examines the installation and says what to do', () =>
    console.withConsole({ role: 'operator', path: '/settings?tab=doctor' }, async (page) => {
      await page.getByText('Not run yet.').waitFor()
      await page.getByRole('button', { name: 'Run now' }).click()
      const findings = table(page, 'Findings').getByRole('row')
      await findings.nth(1).waitFor()
      const vendor = findings.filter({ hasText: 'anthropic-eu' })
      assert.match(await vendor.first().innerText(), /vendors\s+problem/)
      assert.match(await findings.filter({ hasText: /^ledger/ }).innerText(), /ok/)
    }))

  test('offers each role only its actions, and the API refuses the rest', async () => {
    const offers = [
      ['backups', 'Download a backup', 'owner'],
      ['access', 'New admin token', 'owner'],
      ['access', 'Revoke', 'owner'],
      ['doctor', 'Run now', 'operator'],
    ] as const
    for (const role of ['viewer', 'operator'] as const)
      await console.withConsole(
        { role, path: '/settings', allowed: [/status of 403/] },
        async (page) => {
          for (const [tab, name, least] of offers) {
            await page.goto(`${console.gateway.adminUrl}/console/settings?tab=${tab}`)
            await page.getByRole('heading', { level: 2 }).first().waitFor()
            const isOffered = (await page.getByRole('button', { name }).count()) > 0
            assert.equal(isOffered, role === least, `${role}: ${name}`)
          }
          const status = await page.evaluate<number>(
            "fetch('/admin/v1/backup').then(({ status }) => status)",
          )
          assert.equal(status, 403)
        },
      )
  })
})
