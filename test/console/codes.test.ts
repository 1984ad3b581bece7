/** The page of top-up codes: a batch is made and shown once, and what is not redeemed is revoked. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { redeemCode } from '../../src/operations/codes/redeem.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { openConsole, type OpenConsole } from '../support/console/open-console.ts'

let console: OpenConsole
before(async () => {
  console = await openConsole({ requests: 50 })
})
after(() => console.close())

test('a batch is made, seen once, redeemed and revoked', async () => {
  const { context, account } = console.gateway
  await console.withConsole({ role: 'operator', path: '/codes' }, async (page) => {
    await page.getByText('There are no top-up codes.').waitFor()
    await page.getByRole('button', { name: 'Make codes' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Amount of each code').fill('2.5')
    await dialog.getByLabel('Number of codes').fill('3')
    await dialog.getByLabel('Note').fill('spring fair')
    await dialog.getByRole('button', { name: 'Make codes' }).click()
    const codes = (await dialog.locator('.secret code').innerText()).trim().split('\n')
    assert.equal(codes.length, 3)
    await dialog.getByRole('button', { name: 'Copy' }).click()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.waitFor({ state: 'detached' })
    valueOf(await redeemCode(context, { accountId: account.id, code: codes[0] ?? '' }))
    await page.getByRole('link', { name: 'spring fair' }).click()
    const rows = page.getByRole('table', { name: 'Codes of this batch' }).locator('tbody tr')
    await rows.filter({ hasText: 'redeemed' }).getByText(account.name).waitFor()
    assert.equal(await rows.count(), 3)
    await rows.filter({ hasText: 'open' }).first().getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click()
    await rows.filter({ hasText: 'revoked' }).waitFor()
    for (const code of codes) assert.equal(await page.getByText(code).count(), 0)
    await page.getByRole('link', { name: 'Top-up codes' }).last().click()
    const batch = page.getByRole('table', { name: 'Batches' }).locator('tbody tr')
    await batch.getByRole('button', { name: 'Revoke' }).click()
    await page.getByText('Revoke 1 open code of this batch?').waitFor()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click()
    await batch.getByRole('button', { name: 'Revoke' }).waitFor({ state: 'detached' })
  })
})

test('a viewer sees batches and changes none', async () => {
  await console.withConsole({ role: 'viewer', path: '/codes' }, async (page) => {
    await page.getByRole('link', { name: 'spring fair' }).waitFor()
    assert.equal(await page.getByRole('button', { name: 'Make codes' }).count(), 0)
    assert.equal(await page.getByRole('button', { name: 'Revoke' }).count(), 0)
  })
})
