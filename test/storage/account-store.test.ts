import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { openEmbedded, type EmbeddedHarness } from './embedded-harness.ts'
import { noLimits } from './ledger-harness.ts'
import { picos, zeroPicos } from '../../src/base/money.ts'
import {
  changeLimits,
  changeStatus,
  findAccount,
  findAccountByName,
  insertAccount,
  listAccounts,
  type Account,
} from '../../src/ledger/account-store.ts'

describe('accounts', () => {
  let harness: EmbeddedHarness
  beforeEach(async () => {
    harness = await openEmbedded()
  })
  afterEach(() => harness.close())
  const account: Account = {
    ...noLimits,
    id: 'acc_1',
    name: 'north',
    status: 'active',
    balancePicos: picos(0n),
    hasPaid: false,
    note: '',
    billTo: '',
    contact: '',
    language: 'en',
    externalId: undefined,
    alertBelowPicos: zeroPicos,
    createdAtMs: 1_795_260_000_000,
    closedAtMs: undefined,
  }
  const insert = (changes: Partial<Account> = {}): Promise<boolean> =>
    harness.database.transact((transaction) =>
      insertAccount(transaction, { ...account, ...changes }),
    )

  it('are found by id and by name, as they were made', async () => {
    assert.equal(await insert(), true)
    assert.deepEqual(await findAccount(harness.database, 'acc_1'), account)
    assert.deepEqual(await findAccountByName(harness.database, 'north'), account)
    assert.equal(await findAccount(harness.database, 'north'), undefined)
    assert.equal(await findAccountByName(harness.database, 'North'), undefined)
  })

  it('share no name', async () => {
    await insert()
    assert.equal(await insert({ id: 'acc_2' }), false)
    assert.equal((await listAccounts(harness.database)).length, 1)
  })

  it('are listed by name, page by page', async () => {
    for (const name of ['c', 'a', 'b']) await insert({ id: `acc_${name}`, name })
    const names = async (page?: Parameters<typeof listAccounts>[1]): Promise<string[]> =>
      (await listAccounts(harness.database, page)).map((one) => one.name)
    assert.deepEqual(await names(), ['a', 'b', 'c'])
    assert.deepEqual(await names({ countMax: 2 }), ['a', 'b'])
    assert.deepEqual(await names({ after: ['b'], countMax: 2 }), ['c'])
    assert.deepEqual(await names({ after: ['b'], order: 'desc' }), ['a'])
  })

  it('get the limits that are given and keep the others', async () => {
    await insert({ rpm: 5 })
    const { database } = harness
    const change = { dailyLimitPicos: picos(9n), windowMinutes: 3 }
    const changed = await database.transact((transaction) =>
      changeLimits(transaction, 'acc_1', change),
    )
    assert.deepEqual(changed, { ...account, ...change, rpm: 5 })
    assert.equal(
      await database.transact((transaction) => changeLimits(transaction, 'acc_2', change)),
      undefined,
    )
    await assert.rejects(
      database.transact((transaction) => changeLimits(transaction, 'acc_1', { rpm: -1 })),
      /constraint/,
    )
  })

  it('are suspended, closed and active again', async () => {
    await insert()
    const { database } = harness
    for (const status of ['suspended', 'closed', 'active'] as const) {
      await database.transact((transaction) =>
        changeStatus(transaction, 'acc_1', { status, atMs: 7 }),
      )
      const closedAtMs = status === 'closed' ? 7 : undefined
      assert.deepEqual(await findAccount(database, 'acc_1'), { ...account, status, closedAtMs })
    }
  })
})
