/** The page of keys: a leaked key is found by its head or its secret, and revoked, without a trace of it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { makeSecret } from '../../src/access/key.ts'
import { choose } from '../support/console/choose.ts'
import { countClicks } from '../support/console/clicks.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'
import { createClientKey, createReaderToken, listAllKeys } from '../support/operations.ts'

let console: OpenConsole
before(async () => {
  console = await openConsole({ requests: 50 })
})
after(() => console.close())

const search = (page: Page) => page.getByRole('searchbox', { name: 'Secret or name' })
const rows = (page: Page) =>
  page.getByRole('table', { name: 'Keys' }).locator('tbody').getByRole('row')
const question = (page: Page) => page.getByRole('alertdialog')

async function aLeakedKey(): Promise<{ readonly secret: string; readonly id: string }> {
  const { account } = console.gateway
  const { secret, key } = await createClientKey(console.gateway.context, {
    account: account.id,
    name: 'leaked',
  })
  return { secret, id: key.id }
}

async function stateOf(id: string): Promise<string | undefined> {
  const { items } = await listAllKeys(console.gateway.context, { key: id })
  return items[0]?.state
}

describe('a leaked key', () => {
  test('is revoked from its head, in three clicks beside typing', async () => {
    const { secret, id } = await aLeakedKey()
    await console.withConsole({ role: 'operator', path: '/' }, async (page) => {
      const clicks = await countClicks(page)
      await page.getByRole('link', { name: 'Keys', exact: true }).click()
      await search(page).fill(secret.slice(0, 7))
      await page.getByText('1 row', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Revoke leaked' }).click()
      await question(page).getByText('never used').waitFor()
      await question(page).getByRole('button', { name: 'Revoke', exact: true }).click()
      await rows(page).getByText('revoked').waitFor()
      assert.ok((await clicks()) <= 3, `${await clicks()} clicks`)
    })
    assert.equal(await stateOf(id), 'revoked')
  })

  test('is found by its whole secret, which leaves no trace and the field at once', async () => {
    const { secret, id } = await aLeakedKey()
    await console.withConsole({ path: '/keys' }, async (page) => {
      const sent: string[] = []
      page.on('request', (request) => sent.push(`${request.url()} ${request.postData() ?? ''}`))
      await search(page).fill(secret)
      assert.equal(await search(page).inputValue(), '')
      await page.waitForURL(new RegExp(`key=${id}`))
      await page.getByText('1 row', { exact: true }).waitFor()
      await rows(page).getByText('leaked').waitFor()
      assert.ok(sent.some((request) => request.includes('/keys/find')))
      assert.ok(!sent.some((request) => request.includes(secret.slice(8))))
      await search(page).fill(makeSecret('client'))
      await page.getByText('No key of this gateway has this secret.').waitFor()
    })
  })

  test('is found from the page of requests too, where people paste it', async () => {
    const { secret, id } = await aLeakedKey()
    await console.withConsole({ path: '/requests' }, async (page) => {
      const find = page.getByRole('searchbox', { name: /Id of a request/ })
      await find.fill(secret)
      await page.waitForURL(new RegExp(`/keys\\?key=${id}`))
      await page.goBack()
      await find.fill(secret.slice(0, 20))
      await find.press('Enter')
      await page.waitForURL(/\/keys\?q=cr_.{4}$/)
    })
  })

  test('is not sent where the browser cannot hash: the head is asked for', async () => {
    const { secret } = await aLeakedKey()
    await console.withConsole({ path: '/keys' }, async (page) => {
      await page.evaluate("Object.defineProperty(window, 'isSecureContext', { value: false })")
      const sent: string[] = []
      page.on('request', (request) => sent.push(request.url()))
      await search(page).fill(secret)
      await page.getByText('Type its first 7 characters.').waitFor()
      assert.equal(await search(page).inputValue(), '')
      assert.ok(!sent.some((url) => url.includes('/keys/find')))
    })
  })
})

describe('the list of keys', () => {
  test('filters and sorts, and keeps both in its address', async () => {
    const { context, account } = console.gateway
    await createReaderToken(context, { account: account.id, name: 'of-the-holder' })
    await console.withConsole({ path: '/keys' }, async (page) => {
      await choose(page.getByRole('combobox', { name: 'Kind' }), 'Read-only tokens')
      await choose(page.getByRole('combobox', { name: 'State' }), 'Active')
      await search(page).fill('holder')
      await page.getByText('1 row', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Last used', exact: true }).click()
      await page.waitForURL(/sort=last_used/)
      assert.deepEqual(Object.fromEntries(new URL(page.url()).searchParams), {
        q: 'holder',
        kind: 'reader',
        state: 'active',
        sort: 'last_used',
        order: 'asc',
      })
      await page.reload()
      await rows(page).getByText('of-the-holder').waitFor()
    })
  })

  test('revokes several after one question that says what stops', async () => {
    const { context, account } = console.gateway
    for (const name of ['bulk-1', 'bulk-2'])
      await createClientKey(context, { account: account.id, name })
    await console.withConsole({ role: 'operator', path: '/keys?q=bulk-' }, async (page) => {
      await page.getByText('2 rows', { exact: true }).waitFor()
      await page.getByRole('checkbox', { name: 'Select bulk-1' }).check()
      await page.getByText('1 selected').waitFor()
      await page.getByRole('button', { name: 'Select none' }).click()
      await page.getByRole('checkbox', { name: 'Select all' }).check()
      await page.getByRole('button', { name: 'Revoke selected' }).click()
      await question(page).getByText('Revoke 2 keys?').waitFor()
      assert.equal(await question(page).getByRole('listitem').count(), 2)
      await question(page).getByRole('button', { name: 'Revoke', exact: true }).click()
      await page.getByText('2 keys revoked.').waitFor()
      await rows(page).getByText('revoked').nth(1).waitFor()
    })
    const { items } = await listAllKeys(context, { name_contains: 'bulk-', state: 'revoked' })
    assert.equal(items.length, 2)
  })

  test('offers nothing that its reader may not do', async () => {
    await console.withConsole({ role: 'viewer', path: '/keys' }, async (page) => {
      await rows(page).first().waitFor()
      assert.equal(await page.getByRole('button', { name: /Revoke/ }).count(), 0)
    })
    await console.withConsole({ role: 'operator', path: '/keys?kind=admin' }, async (page) => {
      await rows(page).first().waitFor()
      assert.equal(await page.getByRole('button', { name: /Revoke/ }).count(), 0)
    })
  })
})
