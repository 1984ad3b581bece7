/**
 * Stands in for Stripe: makes Checkout sessions, has a page for each where a click pays, tells the gateway by
 * a signed event, and sends the browser back. Its shapes are those of Stripe's API reference.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { paidEvent, postEvent, stripeSettings } from './stripe-events.ts'

/** What the gateway of a test has as `stripe_webhook_secret`. */
export const webhookSecret = stripeSettings.stripe_webhook_secret

export interface StripeStandIn {
  readonly url: string
  close(): void
}

export async function startStripeStandIn(): Promise<StripeStandIn> {
  const sessions: URLSearchParams[] = []
  const server = createServer((request, response) => {
    void answer(sessions, request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() }
}

async function answer(
  sessions: URLSearchParams[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [, number] = /^\/pay\/(\d+)$/.exec(request.url ?? '') ?? []
  if (number === undefined) {
    const id = sessions.push(new URLSearchParams(await text(request))) - 1
    response.writeHead(200, { 'content-type': 'application/json' })
    const url = `http://${request.headers.host}/pay/${id}`
    response.end(JSON.stringify({ id: `cs_${id}`, object: 'checkout.session', url }))
  } else if (request.method === 'POST') {
    const session = sessions[Number(number)]
    assert.ok(session !== undefined, 'there is no such session')
    await tellGateway(session, number)
    response.writeHead(303, { location: session.get('success_url') ?? '' }).end()
  } else {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end('<!doctype html><title>Pay</title><form method="post"><button>Pay</button></form>')
  }
}

async function tellGateway(session: URLSearchParams, number: string): Promise<void> {
  const payload = paidEvent(`pi_${number}`, session.get('metadata[account]') ?? '', {
    id: `cs_${number}`,
    amount_total: Number(session.get('line_items[0][price_data][unit_amount]')),
    currency: session.get('line_items[0][price_data][currency]'),
  })
  const { origin } = new URL(session.get('success_url') ?? '')
  const { status } = await postEvent(origin, payload)
  assert.equal(status, 200)
}
