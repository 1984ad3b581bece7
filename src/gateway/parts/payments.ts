/** Opens Stripe where its settings are there; its library is loaded only then. */
import type { StripeWebhook } from '../../api/stripe-webhook.ts'
import type { OperationContext } from '../../operations/operation.ts'
import { bookPayment } from '../../operations/payments/book-payment.ts'
import type { Checkout } from '../../operations/payments/payment.ts'
import type { StripeClient } from '../../operations/payments/stripe.ts'
import { readSecretFile } from '../../settings/secret-file.ts'
import type { Opening } from './opening.ts'

export async function openPayments({ config }: Opening): Promise<StripeClient | undefined> {
  const { stripeSecretKeyFile: keyFile, stripeWebhookSecretFile: webhookFile } = config
  const secretKey =
    config.stripeSecretKey ?? (keyFile && readSecretFile(keyFile, 'stripe_secret_key_file'))
  const webhookSecret =
    config.stripeWebhookSecret ??
    (webhookFile && readSecretFile(webhookFile, 'stripe_webhook_secret_file'))
  if (!secretKey || !webhookSecret) return undefined
  const { openStripe } = await import('../../operations/payments/stripe.ts')
  return openStripe({ secretKey, webhookSecret, url: config.stripeUrl })
}

export function webhookOf(
  { config, effects: { clock } }: Opening,
  { operations }: { readonly operations: Omit<OperationContext, 'actor'> },
  { readFact }: StripeClient,
): StripeWebhook {
  const context = { ...operations, actor: 'stripe' }
  const { bodyTimeoutMs } = config
  return { clock, bodyTimeoutMs, readFact, book: (fact) => bookPayment(context, fact) }
}

export function checkoutOf(
  { config, onError }: Opening,
  { createCheckout: create }: StripeClient,
): Checkout {
  const { publicUrl = '', paymentMinUsd: leastUsd, paymentMaxUsd: mostUsd } = config
  return { create, returnUrl: `${publicUrl}/account/`, leastUsd, mostUsd, onError }
}
