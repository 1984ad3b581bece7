/** A vendor account keeps its newest responses, and no more than its memory allows. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VendorAccounts } from './accounts.ts'
import type { VendorAccount } from './accounts.ts'

function keep(account: VendorAccount, number: number, bytes = 10): void {
  const own = [{ id: `msg_${number}` }]
  const id = `resp_${number}`
  account.keepResponse({ id, shown: {}, later: undefined, input: [], output: [], own, bytes })
}

test('drops the oldest responses with their items', () => {
  const account = new VendorAccounts().of('secret', 'beta-main')
  for (let number = 0; number <= 2_000; number++) keep(account, number)
  assert.deepEqual(
    [account.findResponse('resp_0'), account.findItem('msg_0')],
    [undefined, undefined],
  )
  assert.ok(account.findResponse('resp_1') !== undefined)
  keep(account, 3_000, 64 * 1024 * 1024 - 15)
  assert.equal(account.findResponse('resp_1999'), undefined)
  assert.ok(account.findItem('msg_2000') !== undefined)
  assert.ok(account.findItem('msg_3000') !== undefined)
})

test('is one account for each credential, whatever the channel', () => {
  const accounts = new VendorAccounts()
  assert.equal(accounts.of('one', 'a'), accounts.of('one', 'b'))
  assert.notEqual(accounts.of('one', 'a'), accounts.of('two', 'a'))
  assert.notEqual(accounts.of(undefined, 'a'), accounts.of(undefined, 'b'))
})
