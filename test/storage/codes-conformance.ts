/**
 * Top-up codes, over both stores. Goal: a code is money once, whoever tries it, however often and on however
 * many connections; what is wrong with a code is said only to those who have it.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { makeSecret } from '../../src/access/key.ts'
import { dayMs } from '../../src/base/clock.ts'
import { CodeTries } from '../../src/operations/codes/code-tries.ts'
import {
  createCodes,
  readBatches,
  readCodes,
  revokeCode,
} from '../../src/operations/codes/codes.ts'
import { redeemCode } from '../../src/operations/codes/redeem.ts'
import { contextOn } from '../../src/operations/context.ts'
import { changeAccount } from '../../src/operations/accounts/accounts.ts'
import { valueOf, type OperationContext, type Outcome } from '../../src/operations/operation.ts'
import { createAccount, recentActions } from '../support/operations.ts'
import { findDifferences, type LedgerHarness } from './ledger-harness.ts'

function refusedWith(outcome: Outcome<unknown>): string {
  return outcome.kind === 'refusal' ? `${outcome.code}: ${outcome.message}` : outcome.kind
}

export function describeCodes(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    let context: OperationContext
    let accountId: string
    let otherId: string
    beforeEach(async () => {
      harness = await open()
      const { database, clock } = harness
      const codeTries = new CodeTries()
      context = contextOn(database, { clock, actor: 'cli:ada', codeTries, address: '192.0.2.7' })
      accountId = (await createAccount(context, { name: 'acme' })).id
      otherId = (await createAccount(context, { name: 'other' })).id
    })
    afterEach(() => harness.close())

    const make = async (input: object = {}) => {
      const given = { amount_usd: '12.5', count: 3, ...input }
      const { batch, codes } = valueOf(await createCodes(context, given))
      return { id: batch.id, codes, first: codes[0] ?? '' }
    }
    const redeem = (code: string, of = accountId) => redeemCode(context, { accountId: of, code })
    const balanceOf = async (id: string): Promise<unknown> => {
      const sql = 'SELECT balance_picos FROM account WHERE id = $1'
      return (await context.database.query(sql, [id]))[0]?.['balance_picos']
    }

    it('books a code once, and answers its account the same again', async () => {
      const { id, codes, first } = await make({ note: 'fair' })
      assert.equal(new Set(codes).size, 3)
      const redeemed = valueOf(await redeem(` ${first}\n`))
      assert.deepEqual(
        [redeemed.amount_usd, redeemed.balance_usd, redeemed.repeated],
        ['12.5', '12.5', false],
      )
      assert.deepEqual(valueOf(await redeem(first)), { ...redeemed, repeated: true })
      const taken = 'operations.conflict: This code has been redeemed before.'
      assert.equal(refusedWith(await redeem(first, otherId)), taken)
      const [batch] = valueOf(await readBatches(context, {})).items
      assert.deepEqual(
        [batch?.id, batch?.count, batch?.open, batch?.redeemed, batch?.note],
        [id, 3, 2, 1, 'fair'],
      )
      const { items } = valueOf(await readCodes(context, { id }))
      const used = items.filter(({ state }) => state === 'redeemed')
      assert.deepEqual(
        used.map((code) => [code.id, code.head, code.account_name]),
        [[redeemed.id, `${first.slice(0, 7)}…`, 'acme']],
      )
      assert.deepEqual(await findDifferences(context.database), [])
      const [action] = await recentActions(context, { action: 'account.credit' })
      assert.equal(action?.detail['reference'], `code:${redeemed.id}`)
    })

    it('leaves a code without an amount for a person who signs up', async () => {
      const { id, first } = await make({ amount_usd: '0', count: 1 })
      assert.match(refusedWith(await redeem(first)), /invites to sign up. It stays as it is/)
      assert.equal(valueOf(await readCodes(context, { id })).items[0]?.state, 'open')
    })

    it('keeps no code in the store', async () => {
      const { codes } = await make()
      for (const table of ['code', 'code_batch', 'operator_action']) {
        const stored = JSON.stringify(
          await context.database.query(`SELECT * FROM ${table}`),
          (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value),
        )
        for (const code of codes) assert.ok(!stored.includes(code.slice(0, 12)))
      }
    })

    it('lists batches and codes in pages, the newest batch first', async () => {
      const made: string[] = []
      for (let number = 0; number < 3; number++) {
        harness.clock.advance(1)
        made.unshift((await make()).id)
      }
      const first = valueOf(await readBatches(context, { limit: 2 }))
      const rest = valueOf(await readBatches(context, { limit: 2, cursor: first.next_cursor }))
      assert.deepEqual(
        [...first.items, ...rest.items].map(({ id }) => id),
        made,
      )
      const id = made[0]
      const page = valueOf(await readCodes(context, { id, limit: 2 }))
      const last = valueOf(await readCodes(context, { id, limit: 2, cursor: page.next_cursor }))
      assert.equal(new Set([...page.items, ...last.items].map((code) => code.id)).size, 3)
    })

    it('redeems no code that is revoked or expired, and no code for a suspended account', async () => {
      const one = await make()
      const { items } = valueOf(await readCodes(context, { id: one.id }))
      const heads = new Map(one.codes.map((code) => [`${code.slice(0, 7)}…`, code]))
      const revoked = valueOf(await revokeCode(context, { id: items[0]?.id }))
      assert.deepEqual([revoked.revoked, revoked.batch.open], [1, 2])
      const gone = 'operations.conflict: This code has been revoked.'
      assert.equal(refusedWith(await redeem(heads.get(items[0]?.head ?? '') ?? '')), gone)
      const used = heads.get(items[1]?.head ?? '') ?? ''
      valueOf(await redeem(used))
      const late = await revokeCode(context, { id: items[1]?.id })
      assert.match(refusedWith(late), /has been redeemed/)
      assert.equal(valueOf(await revokeCode(context, { id: one.id })).revoked, 1)
      assert.equal(valueOf(await revokeCode(context, { id: one.id })).revoked, 0)
      assert.equal(refusedWith(await redeem(heads.get(items[2]?.head ?? '') ?? '')), gone)

      harness.clock.advance(1)
      const { first, id } = await make({ expires: '2099-12-31' })
      valueOf(await changeAccount(context, { account: 'acme', status: 'suspended' }))
      assert.match(
        refusedWith(await redeem(first)),
        /^operations.conflict: The account is suspended/,
      )
      valueOf(await changeAccount(context, { account: 'acme', status: 'active' }))
      harness.clock.advance(Date.parse('2100-01-01T00:00:00Z') - harness.clock.now())
      const expired = 'operations.conflict: This code expired on 2100-01-01 00:00 UTC.'
      assert.equal(refusedWith(await redeem(first)), expired)
      const [batch] = valueOf(await readBatches(context, {})).items
      assert.deepEqual([batch?.id, batch?.open, batch?.expired], [id, 0, 3])
      assert.equal(await balanceOf(accountId), 12_500_000_000_000n)
    })

    it('bounds wrong codes by account and address; a typing error and a real code cost no try', async () => {
      const { codes, first } = await make({ count: 20 })
      for (let count = 0; count < 20; count++) {
        const typo = first.slice(0, -1) + (first.endsWith('a') ? 'b' : 'a')
        assert.match(refusedWith(await redeem(typo)), /typing error/)
        valueOf(await redeem(codes[count] ?? ''))
      }
      const wrong = () => redeem(makeSecret('code'))
      const answers = (await Promise.all(Array.from({ length: 30 }, wrong))).map(refusedWith)
      assert.equal(answers.filter((text) => text.startsWith('operations.not_found')).length, 10)
      assert.equal(answers.filter((text) => text.startsWith('access.too_many')).length, 20)
      const fromThere = await redeem(first, otherId)
      assert.equal(fromThere.kind === 'refusal' && fromThere.headers?.['retry-after'], '600')
      const elsewhere = { ...context, address: '198.51.100.1' }
      valueOf(await redeemCode(elsewhere, { accountId: otherId, code: (await make()).first }))
      assert.match(refusedWith(await redeemCode(elsewhere, { accountId, code: first })), /too_many/)
      harness.clock.advance(600_000)
      valueOf(await redeem(first))
    })

    it('refuses a batch that cannot be', async () => {
      for (const [field, value] of [
        ['amount_usd', '0.0000000000001'],
        ['amount_usd', '-1'],
        ['count', 1_001],
        ['count', 0],
        ['expires', new Date(harness.clock.now() - 2 * dayMs).toISOString()],
      ] as const) {
        const refused = await createCodes(context, { amount_usd: '1', count: 1, [field]: value })
        assert.match(refusedWith(refused), new RegExp(`^operations.invalid: ${field}`))
      }
      const unknown = { id: 'batch_00000000000000000000000000' }
      assert.match(refusedWith(await readCodes(context, unknown)), /not_found/)
      assert.match(refusedWith(await revokeCode(context, unknown)), /not_found/)
    })

    it('gives one of many that redeem or revoke at once', async () => {
      const { first, id } = await make({ count: 1 })
      const outcomes = await Promise.all([
        ...Array.from({ length: 25 }, () => redeem(first)),
        ...Array.from({ length: 25 }, () => redeem(first, otherId)),
        revokeCode(context, { id }),
      ])
      const redeemed = outcomes.filter(
        ({ kind, ...rest }) => kind === 'done' && JSON.stringify(rest).includes('"repeated":false'),
      )
      assert.equal(redeemed.length, 1)
      const balances = new Set([await balanceOf(accountId), await balanceOf(otherId)])
      assert.deepEqual(balances, new Set([0n, 12_500_000_000_000n]))
      assert.deepEqual(await findDifferences(context.database), [])
    })
  })
}
