/** The page of audits and actions, by clicking in a browser; the store agrees. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { storeEndpoints } from '../../src/operations/store/endpoints.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { choose } from '../support/console/choose.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { changeAccount, recentActions } from '../support/operations.ts'

describe('the page of audits', () => {
  let console: OpenConsole
  before(async () => {
    console = await openConsole({ requests: 200 })
  })
  after(() => console.close())

  const audits = (page: Page) =>
    page.getByRole('table', { name: 'Audits of the books, newest first' }).getByRole('row')
  const actions = (page: Page) =>
    page.getByRole('table', { name: 'Actions of operators, newest first' }).getByRole('row')

  async function filter(page: Page, label: string, text: string): Promise<void> {
    await page.getByLabel(label, { exact: true }).fill(text)
    await page.getByLabel(label, { exact: true }).press('Enter')
  }

  async function newestFullAudit() {
    const { items } = valueOf(await storeEndpoints.audits.operation(console.gateway.context, {}))
    const newest = items.find(({ scope }) => scope === 'full')
    assert.ok(newest !== undefined)
    return newest
  }

  test('audits the books now, and shows the result of each audit', () =>
    console.withConsole({ role: 'operator', path: '/audit' }, async (page) => {
      await page.getByRole('button', { name: 'Audit everything now' }).click()
      await page.getByText('The books are right.').waitFor()
      const row = audits(page).filter({ hasText: 'on-call' })
      await row.waitFor()
      assert.match(await row.innerText(), /passed\s+everything\s+on-call/)
      const newest = await newestFullAudit()
      assert.equal(newest.result, 'passed')
      await row.locator('[data-open]').click()
      await page.getByText(`No difference in ${newest.counts.entries} entries`).waitFor()
      assert.equal(new URL(page.url()).searchParams.get('audit'), newest.id)
    }))

  test('shows each difference, which leads to its account', async () => {
    const { database } = console.gateway.context
    const setBalance = (change: string) =>
      database.query(`UPDATE account SET balance_picos = balance_picos ${change} WHERE name = $1`, [
        'civic-data',
      ])
    await setBalance('+ 17')
    try {
      await console.withConsole({ role: 'operator', path: '/audit' }, async (page) => {
        await page.getByRole('button', { name: 'Audit everything now' }).click()
        await page.getByText('The audit has found 1 difference.').waitFor()
        // A regular audit of the gateway may have found it too.
        await audits(page).filter({ hasText: 'failed' }).first().locator('[data-open]').click()
        const differences = page.getByRole('table', { name: 'Differences' })
        await differences.getByRole('link').click()
        await page.getByRole('heading', { level: 1, name: 'civic-data' }).waitFor()
      })
      const { id } = await newestFullAudit()
      await console.withConsole(
        { role: 'operator', path: `/audit?audit=${id}`, language: 'zh-CN' },
        async (page) => {
          await page.getByText(/^余额与其账目之和不一致：存储值 .* USD，推算值 .* USD$/).waitFor()
        },
      )
    } finally {
      await setBalance('- 17')
    }
    assert.equal((await newestFullAudit()).counts.differences, 1)
  })

  test('filters actions by name, actor, subject and day, and hides sign-ins', () =>
    console.withConsole({ role: 'operator', path: '/audit' }, async (page) => {
      await page.goto(`${console.gateway.adminUrl}/console/accounts/civic-data`)
      await page.getByRole('heading', { level: 1, name: 'civic-data' }).waitFor()
      await page.evaluate(`fetch('/admin/v1/accounts/civic-data', {
        method: 'PATCH',
        headers: { 'content-type': 'application/json', 'x-turnpike-console': 'user' },
        body: JSON.stringify({ note: 'called us' }),
      })`)
      await page.getByRole('link', { name: 'Audit', exact: true }).click()
      await page.getByRole('link', { name: 'Actions', exact: true }).click()
      await actions(page).nth(1).waitFor()
      assert.equal(await actions(page).filter({ hasText: 'Signed in' }).count(), 0)
      await choose(page.getByLabel('Sign-ins'), 'Shown')
      await actions(page).filter({ hasText: 'Signed in' }).first().waitFor()
      await filter(page, 'By', 'on-call')
      await filter(page, 'Action', 'account.edit')
      await page.getByText('1 row', { exact: true }).waitFor()
      const text = await actions(page).nth(1).innerText()
      assert.match(text, /on-call\s+Changed the profile\s+civic-data/)
      assert.match(text, /note: .* → called us/)

      await filter(page, 'Subject', 'lumen-labs')
      await page.getByText('No action matches.').waitFor()
      await filter(page, 'Subject', 'civic-data')
      await page.getByText('1 row', { exact: true }).waitFor()
      const period = page.getByRole('button', { name: /^Period: / })
      await period.click()
      await page.getByRole('button', { name: 'Last month' }).click()
      await page.getByText('No action matches.').waitFor()
      await period.click()
      await page.getByRole('button', { name: 'Last 7 days' }).click()
      await page.getByText('1 row', { exact: true }).waitFor()
      await page.reload()
      await page.getByText('1 row', { exact: true }).waitFor()
    }))

  test('exports the filtered actions, with no cell that a spreadsheet would compute', () =>
    console.withConsole(
      { role: 'viewer', path: '/audit?tab=actions&action=account.edit' },
      async (page) => {
        const { context } = console.gateway
        const note = '=HYPERLINK("http://example.com")'
        await changeAccount({ ...context, actor: '=1+1' }, { account: 'internal-tools', note })
        await page.reload()
        await page.getByRole('cell', { name: '=1+1' }).waitFor()
        const download = page.waitForEvent('download')
        await page.getByRole('link', { name: 'Export CSV' }).click()
        const text = await readFile(await (await download).path(), 'utf8')
        const [heading, first, ...others] = text.trimEnd().split('\r\n')
        assert.equal(heading, 'at,sequence,actor,actor_name,action,subject,subject_name,detail')
        assert.match(first ?? '', /,'=1\+1,,account\.edit,/)
        const all = await recentActions(context, { action: 'account.edit', limit: 1_000 })
        assert.equal(others.length + 1, all.length)
      },
    ))

  test('offers a viewer no audit', () =>
    console.withConsole(
      { role: 'viewer', path: '/audit', allowed: [/status of 403/] },
      async (page) => {
        await audits(page).nth(1).waitFor()
        assert.equal(await page.getByRole('button', { name: 'Audit everything now' }).count(), 0)
        const status = await page.evaluate<number>(`fetch('/admin/v1/audits', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-turnpike-console': 'user' },
        }).then(({ status }) => status)`)
        assert.equal(status, 403)
      },
    ))
})
