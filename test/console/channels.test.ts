/** The board of channels and the page of one channel, by clicking in a browser; the store agrees. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { showChannel } from '../../src/operations/channels/channel-health.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { checkAccessibility, checkFitsWindow, takePicture } from '../support/console/look.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'

/** In the small business nothing listens at its address. */
const unreachable = 'anthropic-eu'
const working = 'openai-azure'

describe('the pages of channels', () => {
  let console: OpenConsole
  before(async () => {
    console = await openConsole({ requests: 200 })
  })
  after(() => console.close())

  async function readEnabled(channel: string): Promise<boolean> {
    return valueOf(await showChannel(console.gateway.context, { channel })).enabled
  }

  function heading(page: Page, name: string): Promise<void> {
    return page.getByRole('heading', { level: 1, name }).waitFor()
  }

  test('show each model with its channels, and keep the filters in the address', async () => {
    await console.withConsole({ role: 'viewer', path: '/channels' }, async (page) => {
      const table = page.getByRole('table', { name: 'Channels of claude-haiku-5-5' })
      await table.getByRole('link', { name: 'anthropic-main' }).waitFor()
      assert.deepEqual(await table.getByRole('link').allTextContents(), [
        'anthropic-eu',
        'anthropic-main',
        'anthropic-reserve',
      ])
      await page.getByLabel('Vendor').selectOption('openai')
      await table.waitFor({ state: 'detached' })
      assert.equal(new URL(page.url()).searchParams.get('vendor'), 'openai')
      await page.reload()
      await page.getByRole('table', { name: 'Channels of gpt-6.1-terra' }).waitFor()
      assert.equal(await table.count(), 0)
    })
  })

  test('check a channel that does not answer, and say what that means', async () => {
    const path = `/channels/${unreachable}`
    await console.withConsole({ role: 'operator', path }, async (page) => {
      await page.getByRole('button', { name: 'Check now' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByRole('button', { name: 'Check now' }).click()
      await dialog.getByText('The channel does not fully work, as seen by 1 gateway.').waitFor()
      assert.equal(await dialog.getByText('Failed', { exact: true }).count(), 3)
      assert.match(await dialog.innerText(), /Check its address and the network/)
    })
  })

  test('disable a channel after a question, and enable it again', async () => {
    const path = `/channels/${working}`
    await console.withConsole({ role: 'operator', path }, async (page) => {
      await page.getByRole('button', { name: 'Disable' }).click()
      const question = page.getByRole('alertdialog')
      await question.getByText('Requests that run on it now are finished').waitFor()
      await question.getByRole('button', { name: 'Cancel' }).click()
      assert.equal(await readEnabled(working), true)

      await page.getByRole('button', { name: 'Disable' }).click()
      await question.getByRole('button', { name: 'Disable channel' }).click()
      await page.getByText('This channel is disabled by on-call.').waitFor()
      assert.equal(await readEnabled(working), false)
      const changes = page.getByRole('table', { name: 'Changes of state' })
      await changes.getByRole('row').filter({ hasText: 'by an operator' }).first().waitFor()

      await page.getByRole('button', { name: 'Enable' }).click()
      await page.getByRole('button', { name: 'Disable' }).waitFor()
      assert.equal(await readEnabled(working), true)
    })
  })

  test('offer a viewer no action', async () => {
    const path = `/channels/${working}`
    await console.withConsole({ role: 'viewer', path }, async (page) => {
      await heading(page, working)
      await page.getByRole('heading', { name: 'Settings' }).waitFor()
      for (const name of ['Credential form', 'Chat path', 'First event timeout', 'Drop betas'])
        await page.getByRole('term').filter({ hasText: name }).waitFor()
      const table = page.getByRole('table', { name: 'Models of this channel' })
      await table.getByRole('columnheader', { name: 'Moved after' }).waitFor()
      for (const name of ['Check now', 'Disable', 'Enable'])
        assert.equal(await page.getByRole('button', { name }).count(), 0, name)
      assert.equal((await page.content()).includes(`credential-of-${working}`), false)
    })
  })

  for (const [width, theme] of [
    ['wide', 'light'],
    ['narrow', 'dark'],
  ] as const)
    test(`are accessible and fit a ${width} ${theme} window`, async () => {
      await console.withConsole({ path: '/channels', width, theme }, async (page) => {
        await page.getByRole('button', { name: /^claude-haiku-5-5/ }).waitFor()
        await checkAccessibility(page)
        await checkFitsWindow(page)
        await takePicture(page, 'channels')
      })
      const path = `/channels/${unreachable}?range=month`
      await console.withConsole({ path, width, theme }, async (page) => {
        await page.getByRole('figure', { name: 'States over time by model' }).waitFor()
        await page.getByRole('figure', { name: 'Requests of this channel by day' }).waitFor()
        await checkAccessibility(page)
        await checkFitsWindow(page)
        await takePicture(page, 'channel')
      })
    })
})
