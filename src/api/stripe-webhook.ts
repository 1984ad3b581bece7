/**
 * `POST /account/v1/stripe/webhook`: events of Stripe, signed. The signature is the credential, over the
 * bytes of the body as they came. The answer 200 means that the event is durable; anything else, an outage of
 * the store above all, lets Stripe send it again.
 */
import type { Clock } from '../base/clock.ts'
import { refuse, type Refusal } from '../base/errors.ts'
import { jsonReply, sendReply } from '../http/server/reply.ts'
import { readBody, type IncomingRequest } from '../http/server/request.ts'
import type { ResponseWriter } from '../http/server/response-writer.ts'
import type { PaymentFact } from '../operations/payments/payment.ts'
import type { StripeClient } from '../operations/payments/stripe.ts'
import { namedReply, refusalReply } from './refusal-reply.ts'

export interface StripeWebhook extends Pick<StripeClient, 'readFact'> {
  readonly clock: Clock
  readonly bodyTimeoutMs: number
  /** Resolves when what follows from the fact is durable. */
  readonly book: (fact: PaymentFact) => Promise<unknown>
}

export const stripeWebhookPath = '/account/v1/stripe/webhook'

/** Events are a few kilobytes. */
const bytesMax = 262_144

export async function serveStripeWebhook(
  request: IncomingRequest,
  response: ResponseWriter,
  webhook: StripeWebhook,
): Promise<void> {
  const refusal = await receive(request, webhook)
  const reply =
    refusal === undefined
      ? namedReply(jsonReply(200, { received: true }), webhook.clock)
      : refusalReply(refusal, webhook.clock)
  sendReply(request, response, reply)
}

async function receive(
  request: IncomingRequest,
  { clock, bodyTimeoutMs: timeoutMs, readFact, book }: StripeWebhook,
): Promise<Refusal | undefined> {
  if (request.method !== 'POST')
    return refuse('http.method_not_allowed', 'Use POST here.', { allow: 'POST' })
  const reading = await readBody(request.body, { bytesMax, timeoutMs, clock })
  if (reading.kind === 'refusal') return reading
  if (reading.kind === 'too_large')
    return refuse('http.body_too_large', `The body must have at most ${bytesMax} bytes.`)
  if (reading.kind !== 'body')
    return refuse('http.body_timeout', 'The request body did not arrive in time.')
  const read = readFact(reading.body, request.header('stripe-signature') ?? '', clock.now())
  if (read.kind === 'refusal') return read
  if (read.fact !== undefined) await book(read.fact)
  return undefined
}
