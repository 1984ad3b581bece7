/** The board of channels and the page of one channel, by clicking in a browser; the store agrees. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { showChannel } from '../../src/operations/channels/channel-health.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { choose } from '../support/console/choose.ts'
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
      await choose(page.getByLabel('Vendor'), 'openai')
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
      const question = page.getByRole('dialog', { name: `Disable ${working}?` })
      await question.getByText('Requests that run now are finished').waitFor()
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

  test('list the channels, one row for each, by name, state and figures of the address', async () => {
    const path = '/channels?view=channels&channel=ANTHROPIC&sort=channel&order=desc'
    await console.withConsole({ role: 'viewer', path }, async (page) => {
      const names = page.getByRole('table', { name: 'Channels', exact: true }).getByRole('link')
      await names.first().waitFor()
      assert.deepEqual(await names.allTextContents(), [
        'anthropic-reserve',
        'anthropic-main',
        'anthropic-eu',
      ])
      assert.equal(await page.getByRole('checkbox').count(), 0)
      await choose(page.getByLabel('State'), 'trouble')
      await page.getByRole('heading', { name: '1 channel', exact: true }).waitFor()
      assert.deepEqual(await names.allTextContents(), ['anthropic-eu'])
      await page.getByRole('searchbox', { name: 'Channel' }).fill('none of this name')
      await page.getByRole('link', { name: 'Show all channels' }).click()
      await page.getByRole('heading', { name: '6 channels' }).waitFor()
      assert.equal(new URL(page.url()).search, '?view=channels')
    })
  })

  test('disable several channels after one question that names what would fail, and enable them', async () => {
    const path = '/channels?view=channels&channel=openai'
    const changed = ['openai-azure', 'openai-main', 'openai-reserve']
    await console.withConsole({ role: 'operator', path }, async (page) => {
      await page.getByLabel('Select all').check()
      await page.getByText('3 selected').waitFor()
      await page.getByRole('button', { name: 'Disable' }).click()
      const dialog = page.getByRole('dialog', { name: 'Disable 3 channels?' })
      await dialog.getByText('No other channel could serve').waitFor()
      for (const channel of changed) assert.equal(await readEnabled(channel), true, channel)
      await dialog.getByRole('button', { name: 'Disable' }).click()
      await page.getByText('3 channels: disabled.').waitFor()
      for (const channel of changed) assert.equal(await readEnabled(channel), false, channel)
      await page.getByRole('button', { name: 'Enable' }).click()
      const question = page.getByRole('dialog', { name: 'Enable 3 channels?' })
      await question.getByRole('button', { name: 'Enable' }).click()
      await page.getByText('3 channels: enabled.').waitFor()
      for (const channel of changed) assert.equal(await readEnabled(channel), true, channel)
    })
  })

  test('check several channels, and say which of them do not work', async () => {
    const path = '/channels?view=channels'
    await console.withConsole({ role: 'operator', path }, async (page) => {
      await page.getByLabel(`Select ${unreachable}`).check()
      await page.getByLabel(`Select ${working}`).check()
      await page.getByRole('button', { name: 'Check' }).click()
      const dialog = page.getByRole('dialog', { name: 'Check 2 channels?' })
      await dialog.getByRole('button', { name: 'Check' }).click()
      const outcome = (name: string) => dialog.getByRole('listitem').filter({ hasText: name })
      await outcome(working).getByText('works', { exact: true }).waitFor()
      await outcome(unreachable).getByText('It does not fully work.').waitFor()
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
        await page.getByRole('link', { name: 'By channel' }).click()
        await page.getByRole('checkbox').first().waitFor()
        await checkAccessibility(page)
        await checkFitsWindow(page)
        await takePicture(page, 'channel-list')
      })
      const path = `/channels/${unreachable}?range=30d`
      await console.withConsole({ path, width, theme }, async (page) => {
        await page.getByRole('figure', { name: 'States over time by model' }).waitFor()
        await page.getByRole('figure', { name: 'Requests of this channel by day' }).waitFor()
        await checkAccessibility(page)
        await checkFitsWindow(page)
        await takePicture(page, 'channel')
      })
    })
})
