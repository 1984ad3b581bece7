/**
 * The list of accounts with its figures over both stores: orders, pages, spend by day, holds. Amounts are
 * bare pico-dollars, so that each figure can be checked in the head.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { formatUsd, picos } from '../../src/base/money.ts'
import { Secret } from '../../src/base/secret.ts'
import type { ListedAccountView } from '../../src/operations/accounts/account-list.ts'
import type { OperationContext } from '../../src/operations/operation.ts'
import { noCheck } from '../../src/operations/channels/run-check.ts'
import { changeAccount, listAccounts, refundRequest, showAccount } from '../support/operations.ts'
import {
  addCredit,
  holdRequest,
  makeAccount,
  mustPlace,
  recordOf,
  type LedgerHarness,
} from './ledger-harness.ts'

const dayMs = 86_400_000

export function describeAccountList(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    let context: OperationContext
    beforeEach(async () => {
      harness = await open()
      const { ledger, database, clock } = harness
      context = {
        database,
        clock,
        actor: 'test',
        masterKey: () => new Secret('5'.repeat(64)),
        environment: () => undefined,
        runCheck: noCheck,
        readHeld: (accountIds) => ledger.readHeld(accountIds),
      }
    })
    afterEach(() => harness.close())

    /** Books a charge some days before now and returns the exchange's id. */
    const charge = async (
      of: string,
      amountPicos: bigint,
      daysAgo = 0,
      { model, keyId } = { model: 'large-1', keyId: 'key_one' },
    ): Promise<string> => {
      const request = holdRequest(harness, of, amountPicos, { keyId })
      const hold = await mustPlace(harness.ledger, request)
      const endedAtMs = harness.clock.now() - daysAgo * dayMs
      await harness.ledger.settle(hold, recordOf(hold, amountPicos, { endedAtMs, model }))
      return hold.exchangeId
    }
    const named = async (accountName: string, balancePicos: bigint): Promise<string> => {
      const id = await makeAccount(harness, { balancePicos })
      await changeAccount(context, { account: id, name: accountName })
      return id
    }
    /** Reads page by page and returns the names. */
    const names = async (question: object, limit = 2): Promise<string> => {
      const items: ListedAccountView[] = []
      let cursor: string | null = null
      do {
        const page: Awaited<ReturnType<typeof listAccounts>> = await listAccounts(context, {
          ...question,
          limit,
          ...(cursor !== null && { cursor }),
        })
        items.push(...page.items)
        cursor = page.next_cursor
      } while (cursor !== null)
      return items.map((item) => item.name).join(' ')
    }

    it('shows charges less refunds by day, today and over 30 days', async () => {
      const id = await named('acme', 1_000n)
      await charge(id, 70n)
      await charge(id, 5n, 1)
      const refunded = await charge(id, 40n, 1)
      await charge(id, 3n, 29)
      await charge(id, 999n - 118n, 30)
      await refundRequest(context, { request: refunded, amount_usd: formatUsd(picos(10n)) })
      const { spend } = await showAccount(context, { account: 'acme' })
      const byDay = Array.from({ length: 30 }, () => '0')
      byDay[29] = formatUsd(picos(70n))
      byDay[28] = formatUsd(picos(35n))
      byDay[0] = formatUsd(picos(3n))
      const today = new Date(harness.clock.now())
      assert.deepEqual(spend, {
        from: new Date(harness.clock.now() - 29 * dayMs).toISOString().slice(0, 10),
        to: today.toISOString().slice(0, 10),
        today_usd: formatUsd(picos(70n)),
        month_usd: formatUsd(picos(105n)),
        total_usd: formatUsd(picos(108n)),
        by_day_usd: byDay,
      })
      assert.deepEqual((await listAccounts(context, {})).items[0]?.spend, spend)
    })

    it('shows what open holds reserve, and null without a gateway', async () => {
      const id = await named('acme', 100n)
      await named('idle', 7n)
      await mustPlace(harness.ledger, holdRequest(harness, id, 30n))
      await mustPlace(harness.ledger, holdRequest(harness, id, 20n))
      const moneyOf = async (one: OperationContext) =>
        (await listAccounts(one, {})).items.map((item) => [item.held_usd, item.available_usd])
      assert.deepEqual(await moneyOf(context), [
        [formatUsd(picos(50n)), formatUsd(picos(50n))],
        ['0', formatUsd(picos(7n))],
      ])
      const { readHeld: _, ...alone } = context
      assert.deepEqual(await moneyOf(alone), [
        [null, null],
        [null, null],
      ])
    })

    it('orders by name, balance and spend, both ways, page by page, equal figures too', async () => {
      const ids = new Map<string, string>()
      for (const [account, balance] of [
        ['a', 30n],
        ['b', 50n],
        ['c', 30n],
        ['d', 30n],
        ['e', 90n],
      ] as const)
        ids.set(account, await named(account, balance))
      for (const [account, amount] of [
        ['a', 9n],
        ['d', 4n],
        ['e', 4n],
      ] as const)
        await charge(ids.get(account) ?? '', amount)
      const byId = (...accounts: readonly string[]) =>
        accounts.toSorted((left, right) =>
          String(ids.get(left)) < String(ids.get(right)) ? -1 : 1,
        )
      // Balances: a 21, b 50, c 30, d 26, e 86. Spend: a 9, d and e 4, b and c 0.
      for (const limit of [1, 2, 5]) {
        assert.equal(await names({}, limit), 'a b c d e')
        assert.equal(await names({ order: 'desc' }, limit), 'e d c b a')
        assert.equal(await names({ sort: 'balance' }, limit), 'e b c d a')
        assert.equal(await names({ sort: 'balance', order: 'asc' }, limit), 'a d c b e')
        const up = [...byId('b', 'c'), ...byId('d', 'e'), 'a']
        assert.equal(await names({ sort: 'spend', order: 'asc' }, limit), up.join(' '))
        assert.equal(await names({ sort: 'spend' }, limit), up.toReversed().join(' '))
      }
    })

    it('orders by spends whose sum exceeds 64 bits', async () => {
      const large = await named('large', 9_000_000_000_000_000_000n)
      const small = await named('small', 9_000_000_000_000_000_000n)
      await charge(large, 8_999_999_999_999_999_999n, 1)
      await charge(small, 8_999_999_999_999_999_998n, 1)
      for (const account of [large, small])
        await addCredit(harness, account, 8_000_000_000_000_000_000n)
      await harness.ledger.refresh()
      // The sums of one model and of one key are limited to 64 bits.
      const others = { model: 'small-1', keyId: 'key_two' }
      for (const account of [large, small])
        await charge(account, 8_000_000_000_000_000_000n, 0, others)
      assert.equal(await names({ sort: 'spend' }, 1), 'large small')
      const { items } = await listAccounts(context, { sort: 'spend' })
      assert.equal(items[0]?.spend.total_usd, '16999999.999999999999')
    })

    it('finds the accounts that are short of money', async () => {
      await named('empty', 0n)
      await named('well', 500n)
      await charge(await named('short', 100n), 60n, 1)
      const warned = await named('warned', 100n)
      await changeAccount(context, { account: warned, alert_below_usd: formatUsd(picos(101n)) })
      await changeAccount(context, { account: await named('gone', 0n), status: 'suspended' })
      assert.equal(await names({ low: true }), 'empty short warned')
      assert.equal((await names({ low: true, sort: 'spend' })).split(' ')[0], 'short')
    })

    it('refuses the cursor of another order, and one that is made up', async () => {
      for (const account of ['a', 'b']) await named(account, 5n)
      const { next_cursor: cursor } = await listAccounts(context, { sort: 'balance', limit: 1 })
      const refused = /^cursor: must be the next_cursor of a page in the same order$/
      const made = (words: unknown) => Buffer.from(JSON.stringify(words)).toString('base64url')
      for (const question of [
        { cursor },
        { sort: 'spend', cursor },
        { sort: 'balance', order: 'asc', cursor },
        { sort: 'balance', cursor: made(['balance', 'desc', 'x', 'acc_1']) },
        { sort: 'balance', cursor: made(['balance', 'desc', '9'.repeat(19), 'acc_1']) },
        { cursor: Buffer.from('a').toString('base64url') },
      ])
        await assert.rejects(listAccounts(context, question), { message: refused })
    })
  })
}
