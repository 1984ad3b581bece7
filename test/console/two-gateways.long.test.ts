/**
 * The consoles of two gateways on one PostgreSQL: a change on one shows on the other while its page is open,
 * and a session of one is valid at the other. Then the tasks of the other pages, in a short round.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { listAuditRuns } from '../../src/operations/store/audit-runs.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { eventually } from '../support/eventually.ts'
import { post } from '../support/http-client.ts'
import { showAccount, showRequest } from '../support/operations.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()

const channel = 'openai-azure'

describe('on PostgreSQL with two gateways', () => {
  let console: OpenConsole
  let north: Scenario
  let south: Scenario
  before(async () => {
    console = await openConsole({ requests: 200, settings: { node_name: 'north' } })
    north = console.gateway
    south = await scenario({
      storeUrl: north.storeUrl,
      settings: { node_name: 'south' },
      fill: () => Promise.resolve(north.account),
    })
  })
  after(async () => {
    await south.close()
    await console.close()
  })

  /** Opens `path` on both consoles with one session, which the first has begun. */
  function withBoth(
    path: string,
    work: (north: Page, south: Page) => Promise<void>,
    role: 'operator' | 'owner' = 'operator',
  ): Promise<void> {
    return console.withConsole({ role, path }, async (page) => {
      const cookies = await page.context().cookies()
      await console.browser.withContext({ origin: south.adminUrl }, async (context) => {
        await context.addCookies(cookies)
        const other = await context.newPage()
        await other.goto(`${south.adminUrl}/console${path}`)
        await work(page, other)
      })
    })
  }

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
  const heading = (page: Page, name: string): Promise<void> =>
    page.getByRole('heading', { level: 1, name }).waitFor()

  async function ask(gateway: Scenario, key = north.account.key): Promise<string> {
    const body = { model: 'gpt-6.1-terra', messages: [{ role: 'user', content: 'Hello' }] }
    const answer = await post(`${gateway.url}/openai/v1/chat/completions`, key, body)
    assert.equal(answer.status, 200, answer.text)
    return String(answer.headers['x-turnpike-request-id'])
  }

  test('each console shows both gateways, in the session of the first', () =>
    withBoth('/settings?tab=gateways', async (...pages) => {
      for (const page of pages) {
        const rows = page.getByRole('table', { name: 'Gateways of the store' }).getByRole('row')
        for (const name of ['north', 'south'])
          await rows.filter({ hasText: name }).getByText('running').waitFor()
      }
    }))

  test('a channel that is disabled on one is disabled on the open page of the other', () =>
    withBoth(`/channels/${channel}`, async (page, other) => {
      await button(other, 'Disable').waitFor()
      await button(page, 'Disable').click()
      await page.getByRole('button', { name: 'Disable channel' }).click()
      await other.getByText('This channel is disabled by on-call.').waitFor()
      await eventually(
        'the other gateway',
        () => Promise.resolve(south.grade(channel, 'gpt-6.1-terra')),
        (grade) => grade === 'disabled',
      )
      await button(other, 'Enable').click()
      await button(page, 'Disable').waitFor()
    }))

  test('a check shows what each gateway has found', () =>
    withBoth(`/channels/${channel}`, async (page) => {
      await button(page, 'Check now').click()
      const dialog = page.getByRole('dialog')
      await button(page, 'Check now').last().click()
      await dialog.getByText('as seen by 2 gateways.').waitFor()
      for (const name of ['north', 'south'])
        await dialog.getByRole('heading', { level: 3, name: new RegExp(`^${name}`) }).waitFor()
    }))

  test('a request through one appears on the open page of the other', () =>
    withBoth('/requests', async (page, other) => {
      for (const [gateway, shown] of [
        [south, page],
        [north, other],
      ] as const) {
        await shown.getByRole('table', { name: 'Requests' }).getByRole('row').nth(1).waitFor()
        const id = await ask(gateway)
        await shown.locator(`a[href$="/requests/${id}"]`).first().click()
        await heading(shown, 'gpt-6.1-terra')
        const { cost_usd: cost } = await showRequest(north.context, { request: id })
        await shown.getByRole('row', { name: `Cost $${cost}` }).waitFor()
        await shown.goBack()
      }
    }))

  test('an account and a key that are made on one work at the other', () =>
    withBoth('/accounts', async (page, other) => {
      await page.getByText('11 rows').waitFor()
      await button(page, 'New account').click()
      await page.getByLabel('Name').last().fill('maple-bakery')
      await page.getByLabel('First credit').fill('12.5')
      await button(page, 'Create account').click()
      await heading(page, 'maple-bakery')
      await other.getByRole('link', { name: 'maple-bakery' }).click()
      await other.getByText('$12.50').first().waitFor()

      await button(page, 'New key').click()
      await page.getByLabel('Name').last().fill('till')
      await button(page, 'Create key').click()
      const secret = await page.getByRole('dialog').getByText(/^cr_/).first().innerText()
      await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).first().click()
      await button(page, 'Done').click()
      const known = () => showAccount(south.context, { account: 'maple-bakery' })
      assert.equal((await known()).balance_usd, '12.5')
      await ask(south, secret)
      await eventually('the charge', known, ({ balance_usd: left }) => left !== '12.5')

      await button(page, 'More actions').click()
      await page.getByRole('menuitem', { name: 'Suspend' }).click()
      await button(page, 'Suspend account').click()
      await other.getByText('suspended').first().waitFor()
    }))

  test('an audit on one appears on the open page of the other', () =>
    withBoth('/audit', async (page, other) => {
      const rows = other.getByRole('table', { name: 'Audits of the books, newest first' })
      await rows.getByRole('row').nth(1).waitFor()
      await button(page, 'Audit everything now').click()
      await page.getByText('The books are right.').waitFor()
      await rows.getByRole('row').filter({ hasText: 'on-call' }).getByText('passed').waitFor()
      const { items } = valueOf(await listAuditRuns(north.context, {}))
      assert.ok(items.some(({ scope, result }) => scope === 'full' && result === 'passed'))
    }))

  test('a token that one revokes is shown as revoked on the open page of the other', () =>
    withBoth(
      '/settings?tab=access',
      async (page, other) => {
        const row = other.getByRole('row').filter({ hasText: 'finance' })
        await row.getByText('active').waitFor()
        await page
          .getByRole('row')
          .filter({ hasText: 'finance' })
          .getByRole('button', { name: 'Revoke' })
          .click()
        await button(page, 'Revoke token').click()
        await row.getByText('revoked').waitFor()
      },
      'owner',
    ))

  test('a backup says which tool makes it', () =>
    withBoth(
      '/settings?tab=backups',
      async (page) => {
        await page.getByText('A store on PostgreSQL is backed up with its own tools.').waitFor()
        assert.equal(await page.getByRole('button', { name: 'Download a backup' }).count(), 0)
      },
      'owner',
    ))
})
