/**
 * Keys of all accounts over both stores: orders, pages, filters, and the search for a leaked key by its
 * head, its hash or its whole secret.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { hashSecret, makeSecret } from '../../src/access/key.ts'
import { saveKeyUses } from '../../src/access/key-store.ts'
import { formatUsd, picos } from '../../src/base/money.ts'
import type { ListedKeyView } from '../../src/operations/keys/all-keys.ts'
import type { NewKey } from '../../src/operations/keys/key-view.ts'
import { contextOn } from '../../src/operations/context.ts'
import type { OperationContext } from '../../src/operations/operation.ts'
import {
  changeAccount,
  createAdminToken,
  createClientKey,
  createReaderToken,
  findKeys,
  listAllKeys,
  revokeKey,
} from '../support/operations.ts'
import {
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'

const unknownSecret = makeSecret('client')

export function describeKeyList(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    let context: OperationContext
    let accountIds: Readonly<Record<'acme' | 'north', string>>
    beforeEach(async () => {
      harness = await open()
      context = contextOn(harness.database, { actor: 'test', clock: harness.clock })
      const paid = { balancePicos: 100n }
      accountIds = {
        acme: await makeAccount(harness, paid),
        north: await makeAccount(harness, paid),
      }
      for (const [account, id] of Object.entries(accountIds))
        await changeAccount(context, { account: id, name: account })
    })
    afterEach(() => harness.close())

    /** Keys made in this order have ids in this order. */
    const made = async (keyName: string, account: 'acme' | 'north' = 'acme'): Promise<NewKey> => {
      const key = await createClientKey(context, { account, name: keyName })
      harness.clock.advance(5)
      return key
    }
    /** Reads page by page and returns the names. */
    const names = async (question: object, limit = 2): Promise<string> => {
      const items: ListedKeyView[] = []
      let cursor: string | null = null
      do {
        const page: Awaited<ReturnType<typeof listAllKeys>> = await listAllKeys(context, {
          ...question,
          limit,
          ...(cursor !== null && { cursor }),
        })
        items.push(...page.items)
        cursor = page.next_cursor
      } while (cursor !== null)
      return items.map((item) => item.name).join(' ')
    }
    const foundBy = async (search: object): Promise<string> =>
      (await findKeys(context, search)).items.map((item) => item.name).join(' ')
    const charge = async ({ key }: NewKey, amountPicos: bigint): Promise<void> => {
      const accountId = key.account_id ?? ''
      const hold = await mustPlace(
        harness.ledger,
        holdRequest(harness, accountId, 0n, { keyId: key.id }),
      )
      await harness.ledger.settle(
        hold,
        recordOf(hold, amountPicos, { endedAtMs: harness.clock.now(), model: 'large-1' }),
      )
    }

    it('lists the keys and tokens of all accounts with their account, the newest first', async () => {
      const { key } = await made('one')
      await made('two', 'north')
      await createReaderToken(context, { account: 'north', name: 'reader' })
      harness.clock.advance(5)
      await createAdminToken(context, { name: 'admin' })
      const { items } = await listAllKeys(context, {})
      assert.deepEqual(
        items.map((item) => [item.name, item.kind, item.account_name]),
        [
          ['admin', 'admin', null],
          ['reader', 'reader', 'north'],
          ['two', 'client', 'north'],
          ['one', 'client', 'acme'],
        ],
      )
      assert.deepEqual(items.at(-1), { ...key, account_name: 'acme' })
      assert.equal(await names({ order: 'asc' }), 'one two reader admin')
      assert.equal(await names({ kind: 'client' }), 'two one')
    })

    it('orders by last use and by spend of the month, both ways, page by page', async () => {
      const [a, b, c, d] = [
        await made('a'),
        await made('b', 'north'),
        await made('c'),
        await made('d'),
      ]
      await harness.ledger.refresh()
      for (const [key, amount] of [
        [a, 5n],
        [b, 9n],
        [d, 5n],
      ] as const)
        await charge(key, amount)
      const uses = [
        [c.key.id, 3_000],
        [a.key.id, 2_000],
      ] as const
      await harness.database.transact((transaction) => saveKeyUses(transaction, uses))
      for (const limit of [1, 2, 5]) {
        assert.equal(await names({ sort: 'last_used' }, limit), 'c a d b')
        assert.equal(await names({ sort: 'last_used', order: 'asc' }, limit), 'b d a c')
        assert.equal(await names({ sort: 'spend' }, limit), 'b d a c')
        assert.equal(await names({ sort: 'spend', order: 'asc' }, limit), 'c a d b')
      }
      const { items } = await listAllKeys(context, { sort: 'spend' })
      assert.equal(items[0]?.used.month_usd, formatUsd(picos(9n)))
      assert.deepEqual(items[3]?.used, { day_usd: '0', month_usd: '0', total_usd: '0' })
    })

    it('filters by account, state, name and head', async () => {
      const { key, secret } = await made('Build-1')
      await made('ci', 'north')
      const gone = await made('build-2', 'north')
      await createClientKey(context, {
        account: 'acme',
        name: 'short',
        expires: new Date(harness.clock.now() + 1_000).toISOString(),
      })
      await revokeKey(context, { kind: 'client', id: gone.key.id })
      harness.clock.advance(1_000)
      assert.equal(await names({ account: 'north' }), 'build-2 ci')
      assert.equal(await names({ account: accountIds.acme }), 'short Build-1')
      assert.equal(await names({ state: 'active' }), 'ci Build-1')
      assert.equal(await names({ state: 'expired' }), 'short')
      assert.equal(await names({ state: 'revoked' }), 'build-2')
      assert.equal(await names({ name_contains: 'bUILD' }), 'build-2 Build-1')
      for (const head of [secret.slice(0, 7), key.head, `${secret.slice(0, 7)}...`])
        assert.equal(await names({ head }), 'Build-1')
      assert.equal(await names({ head: 'ro_' }), '')
      assert.equal(await names({ key: gone.key.id }), 'build-2')
    })

    it('finds a key by its head, its hash, a whole secret and a mistyped one', async () => {
      const { key, secret } = await made('leaked')
      await made('other')
      for (const head of [key.head, secret.slice(0, 6), secret.slice(0, 20), ` ${secret}\n`])
        assert.equal(await foundBy({ head }), 'leaked', head)
      assert.equal(await foundBy({ hash: hashSecret(secret) }), 'leaked')
      const swapped = secret.slice(0, -2) + secret.slice(-1) + secret.slice(-2, -1)
      assert.equal(await foundBy({ head: `${swapped}x` }), 'leaked')
      assert.equal(await foundBy({ head: unknownSecret }), '')
      assert.equal(await foundBy({ hash: hashSecret(unknownSecret) }), '')
      const page = await findKeys(context, { head: 'cr_', limit: 1 })
      assert.equal(page.items[0]?.name, 'other')
      assert.equal(await foundBy({ head: 'cr_', cursor: page.next_cursor }), 'leaked')
    })

    it('finds tokens of every kind, revoked ones too', async () => {
      const reader = await createReaderToken(context, { account: 'acme', name: 'reader' })
      const admin = await createAdminToken(context, { name: 'admin' })
      await revokeKey(context, { kind: 'reader', id: reader.key.id })
      assert.equal(await foundBy({ head: reader.secret.slice(0, 7) }), 'reader')
      assert.equal(await foundBy({ head: admin.secret }), 'admin')
      assert.equal((await findKeys(context, { head: 'ro_' })).items[0]?.state, 'revoked')
    })

    it('refuses what cannot be searched for, without a word of it', async () => {
      for (const [search, says] of [
        [{}, /^Give either head or hash\.$/],
        [{ head: 'cr_ab', hash: '0'.repeat(64) }, /^Give either head or hash\.$/],
        [{ head: 'northwind' }, /^head: must be how a secret begins, such as cr_ab12/],
        [{ head: `${unknownSecret} ${unknownSecret}` }, /^head: must be how a secret begins/],
        [{ hash: unknownSecret }, /^hash: must be a SHA-256 as 64 characters/],
      ] as const)
        await assert.rejects(findKeys(context, search), (error: Error) => {
          assert.match(error.message, says)
          assert.ok(!error.message.includes(unknownSecret.slice(8)))
          return true
        })
      await assert.rejects(listAllKeys(context, { head: unknownSecret }), (error: Error) => {
        assert.match(error.message, /^head: must be at most the first 7 characters/)
        assert.ok(!error.message.includes(unknownSecret.slice(8)))
        return true
      })
    })
  })
}
