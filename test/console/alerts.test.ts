/** The pages of alerts, by clicking in a browser, with a receiver of messages on a real socket. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { alertEndpoints } from '../../src/operations/alerts/endpoints.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { answers, startReceiver, type Received, type Receiver } from '../alerts/harness.ts'
import { choose as chooseOption } from '../support/console/choose.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'

describe('the pages of alerts', () => {
  let console: OpenConsole
  let receiver: Receiver
  before(async () => {
    receiver = await startReceiver()
    console = await openConsole({ requests: 200, settings: { alert_networks: '127.0.0.0/8' } })
  })
  after(async () => {
    await console.close()
    await receiver.close()
  })

  const targetNames = async (): Promise<readonly string[]> =>
    valueOf(await alertEndpoints.list.operation(console.gateway.context, {})).items.map(
      ({ name }) => name,
    )
  const targetRow = (page: Page, name: string) =>
    page.getByRole('table', { name: 'Alert targets' }).getByRole('row').filter({ hasText: name })

  /** Fills the form of a new webhook and returns the secret that the page shows. */
  async function createWebhook(page: Page, name: string): Promise<string> {
    await page.getByRole('button', { name: 'New target' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill(name)
    await dialog.getByLabel('Address').fill(`${receiver.url}/${name}`)
    await dialog.getByRole('button', { name: 'Create target' }).click()
    await dialog.getByText('Copy it now. It is not shown again.').waitFor()
    const secret = await dialog.getByText(/^whsec_/).innerText()
    await dialog.getByRole('button', { name: 'Copy' }).click()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await targetRow(page, name).waitFor()
    return secret
  }

  async function choose(page: Page, name: string, item: string): Promise<void> {
    await page.getByRole('button', { name: `Actions of ${name}` }).click()
    await page.getByRole('menuitem', { name: item }).click()
  }

  /** Sends a test by its button and returns what the receiver got. */
  async function sendTest(page: Page, name: string): Promise<Received> {
    await targetRow(page, name).getByRole('button', { name: 'Send test' }).click()
    const deliveries = page.getByRole('table', { name: 'Deliveries of alerts, newest first' })
    await deliveries.getByText('delivered', { exact: true }).first().waitFor()
    await chooseOption(page.getByLabel('State', { exact: true }), 'failed')
    await page.getByText('No delivery is in this state.').waitFor()
    await chooseOption(page.getByLabel('State', { exact: true }), '')
    await deliveries.getByText('delivered', { exact: true }).first().waitFor()
    const message = receiver.received.findLast(({ path }) => path.endsWith(`/${name}`))
    assert.ok(message !== undefined, `the receiver got nothing for ${name}`)
    return message
  }

  test('show what fires, with its next step, and lead to its page', () =>
    console.withConsole({ role: 'viewer', path: '/alerts' }, async (page) => {
      const firing = page.getByRole('table', { name: 'Alerts that are firing' })
      const row = firing.getByRole('row').filter({ hasText: 'Balance of juniper-studio is low' })
      await row.waitFor()
      assert.match(await row.innerText(), /Book a credit\./)
      assert.doesNotMatch(await row.innerText(), /turnpike/, 'a button does it')
      assert.equal(await row.getByRole('button').count(), 0, 'a viewer handles nothing')
      await row.getByRole('link', { name: 'juniper-studio' }).click()
      await page.getByRole('heading', { level: 1, name: 'juniper-studio' }).waitFor()
    }))

  test('acknowledge an alert, snooze it, and show who has it', () =>
    console.withConsole({ role: 'operator', path: '/alerts' }, async (page) => {
      const title = 'Balance of juniper-studio is low'
      const row = page.getByRole('row').filter({ hasText: title })
      const button = row.getByRole('button', { name: 'Acknowledge' })
      await button.click()
      await row.getByText('Acknowledged by').waitFor()
      assert.equal(await button.count(), 0)
      await row.getByRole('button', { name: `Snooze ${title}` }).click()
      await page.getByRole('menuitem', { name: 'Snooze for 4 hours' }).click()
      await row.getByText('Snoozed by').waitFor()
      await button.waitFor()
      await row.getByRole('button', { name: `Snooze ${title}` }).click()
      await page.getByRole('menuitem', { name: 'With a note' }).click()
      await page.getByLabel('Note').fill('the invoice is on its way')
      await page.getByLabel('Snooze until').fill('2099-01-31T08:30')
      await page.getByRole('button', { name: 'Save' }).click()
      await row.getByText('the invoice is on its way').waitFor()
      assert.match(await row.innerText(), /Snoozed by on-call until/)
      await row.getByRole('button', { name: `Snooze ${title}` }).click()
      await page.getByRole('menuitem', { name: 'Snooze for 4 hours' }).click()
      await row.getByText('the invoice is on its way').waitFor({ state: 'detached' })
      const { items } = valueOf(
        await alertEndpoints.firing.operation(console.gateway.context, { limit: 100 }),
      )
      const alert = items.find((one) => one.title.startsWith(title))
      assert.ok(alert !== undefined)
      const lasts = Date.parse(alert.snoozed_until ?? '') - Date.parse(alert.acknowledged_at ?? '')
      assert.equal(lasts, 4 * 3_600_000)
    }))

  test('make a webhook, and show how the receiver answers a test', () =>
    console.withConsole({ path: '/alerts?tab=targets' }, async (page) => {
      const secret = await createWebhook(page, 'pager')
      assert.equal((await page.content()).includes(secret), false)
      const message = await sendTest(page, 'pager')
      new Webhook(secret).verify(message.body, message.headers)

      receiver.behave(answers(500))
      await page.getByRole('link', { name: 'Targets' }).click()
      await targetRow(page, 'pager').getByRole('button', { name: 'Send test' }).click()
      const row = page.getByRole('row').filter({ hasText: '500' })
      await row.getByText('retrying', { exact: true }).waitFor()
      await row.getByText('Next attempt').waitFor()
      receiver.behave(answers(200))
      assert.match(await row.innerText(), /pager/)
      assert.equal(new URL(page.url()).searchParams.get('target'), 'pager')
      await chooseOption(page.getByLabel('Target'), 'team-chat')
      await page
        .getByRole('row')
        .filter({ hasText: 'pager' })
        .first()
        .waitFor({ state: 'detached' })
    }))

  test('show the mistake in an address beside it', () =>
    console.withConsole(
      { path: '/alerts?tab=targets', allowed: [/status of 400/] },
      async (page) => {
        await page.getByRole('button', { name: 'New target' }).click()
        const dialog = page.getByRole('dialog')
        await dialog.getByLabel('Name').fill('ftp')
        await dialog.getByLabel('Address').fill('ftp://files.example')
        await dialog.getByRole('button', { name: 'Create target' }).click()
        await dialog.locator('[aria-invalid]').waitFor()
        assert.equal(await dialog.locator('[aria-invalid]').count(), 1)
        await dialog.getByRole('button', { name: 'Cancel' }).click()
        assert.equal((await targetNames()).includes('ftp'), false)
      },
    ))

  test('delete a target after a question', () =>
    console.withConsole({ path: '/alerts?tab=targets' }, async (page) => {
      await createWebhook(page, 'short-lived')
      await choose(page, 'short-lived', 'Delete')
      const question = page.getByRole('alertdialog', { name: 'Delete short-lived?' })
      await question.getByText('It gets no more messages.').waitFor()
      await question.getByRole('button', { name: 'Cancel' }).click()
      assert.ok((await targetNames()).includes('short-lived'))
      await choose(page, 'short-lived', 'Delete')
      await question.getByRole('button', { name: 'Delete target' }).click()
      await page.getByText('short-lived is deleted.').waitFor()
      await targetRow(page, 'short-lived').waitFor({ state: 'detached' })
      assert.equal((await targetNames()).includes('short-lived'), false)
    }))

  test('offer each role only its actions', async () => {
    for (const [role, tests, menus] of [
      ['viewer', 0, 0],
      ['operator', 1, 0],
      ['owner', 1, 1],
    ] as const)
      await console.withConsole({ role, path: '/alerts?tab=targets' }, async (page) => {
        await targetRow(page, 'on-call').waitFor()
        const count = (name: string) => page.getByRole('button', { name }).count()
        const offered = await targetRow(page, 'on-call').getByRole('button').allInnerTexts()
        assert.equal(offered.length, tests + menus, role)
        assert.equal(await count('New target'), menus)
      })
  })

  test('of an operator who makes the page offer more are refused by the API', () =>
    console.withConsole(
      { role: 'operator', path: '/requests', allowed: [/status of 403/] },
      async (page) => {
        await page.route('**/admin/v1/session', async (route) => {
          const answer = await route.fetch()
          const session = (await answer.json()) as Record<string, unknown>
          await route.fulfill({ response: answer, json: { ...session, role: 'owner' } })
        })
        await page.goto(`${console.gateway.adminUrl}/console/alerts?tab=targets`)
        await choose(page, 'on-call', 'Delete')
        const question = page.getByRole('alertdialog')
        await question.getByRole('button', { name: 'Delete target' }).click()
        await question.getByText(/owner/).waitFor()
        assert.ok((await targetNames()).includes('on-call'))
      },
    ))
})
