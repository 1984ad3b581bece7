/**
 * What a payment service has told of one payment, and the entries that follow from it. Pure. The service
 * tells facts late, again and in any order; each only adds to what is known, and the entries follow from all
 * that is known. So the order does not matter, and each entry has a reference that makes it once.
 *
 *     paid       stripe:<payment>                         + what was paid
 *     refunded   stripe-refund:<payment>:<in all>         − what is refunded in all, less what was taken back
 *     disputed   stripe-dispute:<payment>:<dispute>       − what is disputed
 *     won        stripe-dispute-won:<payment>:<dispute>   + the same
 */
import { picos, picosPerUsd, type Picos } from '../../base/money.ts'

/** Amounts are in cents. */
export type PaymentFact = { readonly payment: string; readonly currency: string } & (
  | { readonly kind: 'paid'; readonly account: string | undefined; readonly cents: number }
  | { readonly kind: 'refunded'; readonly centsInAll: number }
  | {
      readonly kind: 'disputed'
      readonly dispute: string
      readonly cents: number
      readonly isWon: boolean
    }
)

interface Dispute {
  readonly cents: number
  readonly isWon: boolean
}

export interface Payment {
  readonly id: string
  /** The account that the payment names, which may not exist. */
  readonly account: string | undefined
  /** The last one told, in lower case. */
  readonly currency: string
  /** 0 = the service has not told that it is paid. */
  readonly paidCents: number
  readonly refundedCents: number
  /** Of the refunds, what is booked. */
  readonly takenBackCents: number
  readonly disputes: Readonly<Record<string, Dispute>>
}

export function learn(payment: Payment, fact: PaymentFact): Payment {
  const { currency } = fact
  switch (fact.kind) {
    case 'paid':
      return {
        ...payment,
        currency,
        account: payment.account ?? fact.account,
        paidCents: Math.max(payment.paidCents, fact.cents),
      }
    case 'refunded':
      return {
        ...payment,
        currency,
        refundedCents: Math.max(payment.refundedCents, fact.centsInAll),
      }
    case 'disputed': {
      const isWon = fact.isWon || payment.disputes[fact.dispute]?.isWon === true
      const dispute = { cents: fact.cents, isWon }
      return { ...payment, currency, disputes: { ...payment.disputes, [fact.dispute]: dispute } }
    }
  }
}

/** Returns the reference of the entry of a payment that an entry with this reference moves again. */
export function paymentReference(reference: string): string | undefined {
  const payment = /^stripe-[a-z-]+:([^:]+)/.exec(reference)?.[1]
  return payment && `stripe:${payment}`
}

export interface DueEntry {
  readonly reference: string
  readonly amountPicos: Picos
  readonly kind: 'credit' | 'adjustment'
}

/** Returns the entries of a payment in USD; those that are booked already are among them. */
export function entriesOf(payment: Payment): readonly DueEntry[] {
  const { id, paidCents, refundedCents, takenBackCents, disputes } = payment
  if (paidCents === 0) return []
  const entry = (reference: string, cents: number): DueEntry => ({
    reference,
    amountPicos: picos((BigInt(cents) * picosPerUsd) / 100n),
    kind: reference === `stripe:${id}` ? 'credit' : 'adjustment',
  })
  return [
    entry(`stripe:${id}`, paidCents),
    ...(refundedCents > takenBackCents
      ? [entry(`stripe-refund:${id}:${refundedCents}`, takenBackCents - refundedCents)]
      : []),
    ...Object.entries(disputes).flatMap(([dispute, { cents, isWon }]) => [
      entry(`stripe-dispute:${id}:${dispute}`, -cents),
      ...(isWon ? [entry(`stripe-dispute-won:${id}:${dispute}`, cents)] : []),
    ]),
  ]
}

/** What a payment needs of the gateway. */
export interface Checkout {
  /** Returns the address of the page where the account holder pays. */
  readonly create: (order: {
    readonly accountId: string
    readonly amountCents: number
    readonly returnUrl: string
  }) => Promise<string>
  /** Where the browser goes afterwards. */
  readonly returnUrl: string
  /** Whole USD. */
  readonly leastUsd: number
  readonly mostUsd: number
  readonly onError: (error: unknown) => void
}
