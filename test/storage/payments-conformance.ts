/**
 * Payments over both stores. Goal: whatever the order in which Stripe tells its events, and however often,
 * the books are the same: what was paid, less what is refunded and lost in disputes, each once.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import {
  changeAccount,
  createAccount,
  creditAccount,
} from '../../src/operations/accounts/accounts.ts'
import { contextOn } from '../../src/operations/context.ts'
import { valueOf, type OperationContext } from '../../src/operations/operation.ts'
import { bookPayment } from '../../src/operations/payments/book-payment.ts'
import { comparePayments } from '../../src/operations/payments/compare.ts'
import type { PaymentFact } from '../../src/operations/payments/payment.ts'
import { findPayment } from '../../src/operations/payments/payment-store.ts'
import { seededRandom } from '../../src/base/random.ts'
import { findDifferences, type LedgerHarness } from './ledger-harness.ts'

const seed = Number(process.env['TURNPIKE_TEST_SEED'] ?? 7)

export function describePayments(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harness: LedgerHarness
    let context: OperationContext
    let account: string
    let count = 0
    beforeEach(async () => {
      harness = await open()
      context = contextOn(harness.database, { clock: harness.clock, actor: 'stripe' })
      account = valueOf(await createAccount(context, { name: 'acme' })).id
    })
    afterEach(() => harness.close())

    const about = () => ({ payment: `pi_${++count}`, currency: 'usd' })
    const standing = async () => {
      const sql = 'SELECT balance_picos, status FROM account WHERE id = $1'
      const [row] = await context.database.query(sql, [account])
      return [Number(row?.['balance_picos']) / 1e10, row?.['status']]
    }
    const references = async (): Promise<readonly unknown[]> =>
      (await context.database.query('SELECT reference FROM entry ORDER BY reference')).map(
        ({ reference }) => reference,
      )
    /** Every fact twice, in an order drawn by the seed, all at once. */
    const tellAll = async (facts: readonly PaymentFact[], drawn: number): Promise<void> => {
      const random = seededRandom(seed + drawn)
      const order = [...facts, ...facts]
        .map((fact) => ({ fact, place: random() }))
        .sort((one, other) => one.place - other.place)
      await Promise.all(order.map(({ fact }) => bookPayment(context, fact)))
    }

    it('books each fact once in whatever order it is told', async () => {
      for (let drawn = 0; drawn < 12; drawn++) {
        const before = Number((await standing())[0])
        const { payment, currency } = about()
        const common = { payment, currency }
        const facts: readonly PaymentFact[] = [
          { ...common, kind: 'paid', account, cents: 5_000 },
          { ...common, kind: 'refunded', centsInAll: 1_000 },
          { ...common, kind: 'refunded', centsInAll: 1_500 },
          { ...common, kind: 'disputed', dispute: `dp_a${drawn}`, cents: 2_000, isWon: false },
          { ...common, kind: 'disputed', dispute: `dp_a${drawn}`, cents: 2_000, isWon: true },
          { ...common, kind: 'disputed', dispute: `dp_b${drawn}`, cents: 300, isWon: false },
        ]
        await tellAll(facts, drawn)
        assert.equal((await standing())[0], before + 5_000 - 1_500 - 300, `seed ${seed + drawn}`)
        const row = await findPayment(context.database, payment)
        assert.deepEqual([row?.takenBackCents, row?.problem], [1_500, undefined])
      }
      assert.deepEqual(await findDifferences(context.database), [])
    })

    it('gives each refund the difference, under references that say the whole', async () => {
      const { payment, currency } = about()
      const common = { payment, currency }
      await bookPayment(context, { ...common, kind: 'paid', account, cents: 2_000 })
      for (const centsInAll of [500, 500, 2_000, 500])
        await bookPayment(context, { ...common, kind: 'refunded', centsInAll })
      assert.deepEqual(await references(), [
        `stripe-refund:${payment}:2000`,
        `stripe-refund:${payment}:500`,
        `stripe:${payment}`,
      ])
      assert.deepEqual(await standing(), [0, 'active'])
    })

    it('suspends an account that is below its line after money was taken back', async () => {
      const common = about()
      await bookPayment(context, { ...common, kind: 'paid', account, cents: 2_000 })
      const spent = { account: 'acme', amount_usd: '-15', reference: 'spent', confirm: true }
      valueOf(await creditAccount(context, spent))
      const dispute = { kind: 'disputed', dispute: 'dp_1', cents: 2_000 } as const
      await bookPayment(context, { ...common, ...dispute, isWon: false })
      assert.deepEqual(await standing(), [-1_500, 'suspended'])
      assert.equal((await findPayment(context.database, common.payment))?.problem, 'suspended')
      await bookPayment(context, { ...common, ...dispute, isWon: true })
      assert.deepEqual(await standing(), [500, 'suspended'])
      valueOf(await changeAccount(context, { account: 'acme', status: 'active' }))
      await bookPayment(context, { ...common, ...dispute, isWon: true })
      assert.deepEqual(await standing(), [500, 'active'])
    })

    it('leaves an account active within its credit line', async () => {
      valueOf(await changeAccount(context, { account: 'acme', credit_line_usd: '20' }))
      const common = about()
      await bookPayment(context, { ...common, kind: 'paid', account, cents: 1_000 })
      const dispute = { kind: 'disputed', dispute: 'dp_2', cents: 3_000, isWon: false } as const
      await bookPayment(context, { ...common, ...dispute })
      assert.deepEqual(await standing(), [-2_000, 'active'])
    })

    it('finds which payments of an export the ledger lacks, and which differ', async () => {
      const paid = { kind: 'paid', cents: 2_000, account } as const
      const [equal, refunded, disputed] = [about(), about(), about()]
      for (const each of [equal, refunded, disputed])
        await bookPayment(context, { ...each, ...paid })
      await bookPayment(context, { ...refunded, kind: 'refunded', centsInAll: 500 })
      const dispute = { kind: 'disputed', dispute: 'dp_9', cents: 2_000, isWon: false } as const
      await bookPayment(context, { ...disputed, ...dispute })
      const rows = [
        [equal.payment, 'charge', 'usd', '20.00'],
        ['', 'payout', 'usd', '-50.00'],
        [refunded.payment, 'charge', 'usd', '20.00'],
        [refunded.payment, 'refund', 'usd', '-7.00'],
        [refunded.payment, 'fee', 'usd', '-0.30'],
        [disputed.payment, 'charge', 'usd', '20.00'],
        [disputed.payment, 'dispute', 'usd', '-20.00'],
        ['pi_unseen', 'charge', 'USD', '9.99'],
        ['pi_abroad', 'charge', 'eur', '5.00'],
      ]
      const heading = 'payment_intent_id,reporting_category,currency,gross'
      const text = [heading, ...rows.map((row) => row.join(','))].join('\r\n')
      const compared = valueOf(await comparePayments(context, { text }))
      assert.deepEqual([compared.payments, compared.equal], [5, 2])
      assert.deepEqual([compared.stripe_usd, compared.ledger_usd], ['42.99', '35'])
      assert.deepEqual(
        compared.differences.map((one) => [
          one.payment,
          one.finding,
          one.stripe_usd,
          one.ledger_usd,
        ]),
        [
          [refunded.payment, 'differs', '13', '15'],
          ['pi_unseen', 'missing', '9.99', '0'],
          ['pi_abroad', 'foreign_currency', null, '0'],
        ],
      )
      for (const wrong of ['', 'a,b\n1,2', 'a"b', `${heading}\npi_1,charge,usd,much`]) {
        const refused = await comparePayments(context, { text: wrong })
        assert.equal(refused.kind === 'refusal' && refused.code, 'operations.invalid', wrong)
      }
    })

    it('records what cannot be booked, and books nothing of it', async () => {
      const paid = { kind: 'paid', cents: 900 } as const
      const problems = [
        await bookPayment(context, { ...about(), ...paid, account: undefined }),
        await bookPayment(context, { ...about(), ...paid, account: 'acc_gone' }),
        await bookPayment(context, { ...about(), ...paid, account, currency: 'eur' }),
      ].map(({ problem }) => problem)
      assert.deepEqual(problems, ['unknown_account', 'unknown_account', 'foreign_currency'])
      assert.deepEqual(await references(), [])
      const refund = await bookPayment(context, { ...about(), kind: 'refunded', centsInAll: 100 })
      assert.deepEqual([refund.problem, await references()], [undefined, []])
    })
  })
}
