/** Events as Stripe sends them to the webhook, with real signatures. */
import { Stripe } from 'stripe'
import { send, type WireAnswer } from './http-client.ts'

const secretKey = 'sk_test_of_this_test'
const webhookSecret = 'whsec_of_this_test'

/** Settings of a gateway that takes payments. */
export const stripeSettings = {
  public_url: 'https://gateway.example',
  stripe_secret_key: secretKey,
  stripe_webhook_secret: webhookSecret,
}

const { webhooks } = new Stripe(secretKey)

export function signEvent(
  payload: string,
  { ageSeconds = 0, secret = webhookSecret }: { ageSeconds?: number; secret?: string } = {},
): string {
  const timestamp = Math.floor(Date.now() / 1_000) - ageSeconds
  return webhooks.generateTestHeaderString({ payload, secret, timestamp })
}

/** Sends an event to the gateway at `url`. */
export function postEvent(
  url: string,
  payload: string,
  signature = signEvent(payload),
): Promise<WireAnswer> {
  return send(`${url}/account/v1/stripe/webhook`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'stripe-signature': signature },
    body: payload,
  })
}

export function stripeEvent(type: string, object: object): string {
  return JSON.stringify({ id: 'evt_1', object: 'event', type, data: { object } })
}

/** 25 USD. */
export function paidEvent(payment: string, account: string, more: object = {}): string {
  return stripeEvent('checkout.session.completed', {
    id: 'cs_1',
    payment_intent: payment,
    payment_status: 'paid',
    amount_total: 2_500,
    currency: 'usd',
    metadata: { account },
    ...more,
  })
}

export function refundedEvent(payment: string, centsInAll: number): string {
  const object = { payment_intent: payment, amount_refunded: centsInAll, currency: 'usd' }
  return stripeEvent('charge.refunded', object)
}

/** 25 USD. */
export function disputedEvent(payment: string, dispute: string, status = 'needs_response'): string {
  return stripeEvent(status === 'won' ? 'charge.dispute.closed' : 'charge.dispute.created', {
    id: dispute,
    payment_intent: payment,
    amount: 2_500,
    currency: 'usd',
    status,
  })
}
