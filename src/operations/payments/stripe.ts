/**
 * Stripe, by its own library: reads signed events, and makes Checkout sessions. Only here is its word for a
 * thing known; what an event means for money is a `PaymentFact`. An inquiry (`warning_…`) moves no money.
 */
import { Stripe } from 'stripe'
import { refuse, type Refusal } from '../../base/errors.ts'
import type { Secret } from '../../base/secret.ts'
import type { Checkout, PaymentFact } from './payment.ts'

export interface StripeOptions {
  readonly secretKey: Secret
  readonly webhookSecret: Secret
  /** A stand-in for Stripe; undefined = Stripe. */
  readonly url: string | undefined
}

export interface StripeClient {
  /** Undefined for an event that moves no money. */
  readonly readFact: (
    body: Buffer,
    signature: string,
    nowMs: number,
  ) => { readonly kind: 'fact'; readonly fact: PaymentFact | undefined } | Refusal
  readonly createCheckout: Checkout['create']
}

const timeoutMs = 20_000
/** Older signatures could be repeated by others. */
const toleranceSeconds = 300

export function openStripe({ secretKey, webhookSecret, url }: StripeOptions): StripeClient {
  const stripe = new Stripe(secretKey.reveal(), {
    timeout: timeoutMs,
    maxNetworkRetries: 2,
    telemetry: false,
    ...(url !== undefined && hostOf(url)),
  })
  return {
    readFact(body, signature, nowMs) {
      try {
        const { webhooks } = stripe
        const secret = webhookSecret.reveal()
        const event = webhooks.constructEvent(
          body,
          signature,
          secret,
          toleranceSeconds,
          undefined,
          nowMs,
        )
        return { kind: 'fact', fact: factOf(event) }
      } catch (error) {
        if (error instanceof Stripe.errors.StripeSignatureVerificationError) return notSigned
        throw error
      }
    },
    async createCheckout({ accountId, amountCents, returnUrl }) {
      const metadata = { account: accountId }
      const session = await stripe.checkout.sessions.create({
        mode: 'payment',
        client_reference_id: accountId,
        metadata,
        payment_intent_data: { metadata },
        line_items: [
          {
            quantity: 1,
            price_data: {
              currency: 'usd',
              unit_amount: amountCents,
              product_data: { name: 'API credit' },
            },
          },
        ],
        success_url: `${returnUrl}?paid=1`,
        cancel_url: returnUrl,
      })
      if (session.url === null) throw new Error('Stripe has made a session without an address')
      return session.url
    },
  }
}

const notSigned = refuse(
  'payments.signature_invalid',
  'The signature of this event is missing, wrong or too old. Check stripe_webhook_secret and the clock.',
)

function hostOf(url: string) {
  const { hostname: host, port, protocol } = new URL(url)
  return { host, port, protocol: protocol === 'https:' ? 'https' : 'http' } as const
}

type Event = ReturnType<Stripe['webhooks']['constructEvent']>

function factOf(event: Event): PaymentFact | undefined {
  switch (event.type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded': {
      const { payment_intent, payment_status, amount_total, currency, metadata } = event.data.object
      const payment = idOf(payment_intent)
      // Other ways to pay end later, with an event of their own; without an intent nothing was to pay.
      if (payment_status !== 'paid' || payment === undefined) return undefined
      const cents = amount_total ?? 0
      return {
        kind: 'paid',
        payment,
        currency: currency ?? '',
        account: metadata?.['account'],
        cents,
      }
    }
    case 'charge.refunded': {
      const { payment_intent, amount_refunded: centsInAll, currency } = event.data.object
      const payment = idOf(payment_intent)
      return payment === undefined ? undefined : { kind: 'refunded', payment, currency, centsInAll }
    }
    case 'charge.dispute.created':
    case 'charge.dispute.funds_withdrawn':
    case 'charge.dispute.funds_reinstated':
    case 'charge.dispute.closed': {
      const { payment_intent, id: dispute, amount: cents, currency, status } = event.data.object
      const payment = idOf(payment_intent)
      if (payment === undefined || status.startsWith('warning_')) return undefined
      return { kind: 'disputed', payment, currency, dispute, cents, isWon: status === 'won' }
    }
    default:
      return undefined
  }
}

function idOf(thing: string | { readonly id: string } | null): string | undefined {
  return typeof thing === 'string' ? thing : thing?.id
}
