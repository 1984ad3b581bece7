/**
 * Vendors quote in their errors what a client sent: a header, a role, the name of a field. Whatever
 * words a client has them say, it is the request's fault, and no channel's health moves.
 */
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { post, type WireAnswer } from '../support/http-client.ts'
import {
  chatRequest,
  formats,
  type JsonFields,
  messagesRequest,
  places,
} from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'

const gateway = await scenario({ vendors: 'scripted' })
after(() => gateway.close())
const { scripted: vendor, account } = gateway

/** Every channel as new: no failures, no rests. */
beforeEach(() => {
  gateway.resetHealth()
})

/** What the vendor says of the operator's account, when a client says it. */
const accountWords: readonly string[] = [
  'credit balance is too low',
  'Your credit balance is too low to access the API.',
  'You have reached your specified API usage limits. You will regain access on 2026-12-01.',
  'You have reached your specified workspace API usage limits.',
]

/** How vendors quote: behind words of their own, or with a field's name in front. */
const quotations: readonly ((words: string) => string)[] = [
  (words) => `Unexpected value(s) \`${words}\` for the \`anthropic-beta\` header.`,
  (words) => `messages: Unexpected role "${words}".`,
  (words) => `${words}: Extra inputs are not permitted`,
  (words) => `Unrecognized request argument supplied: ${words}`,
]

const envelopes = {
  messages: (message: string) =>
    JSON.stringify({
      type: 'error',
      error: { type: 'invalid_request_error', message },
      request_id: 'req_1',
    }),
  chat: (message: string) =>
    JSON.stringify({
      error: { message, type: 'invalid_request_error', param: null, code: null },
    }),
}

const requests: Readonly<Record<keyof typeof envelopes, (fields: JsonFields) => JsonFields>> = {
  messages: messagesRequest,
  chat: chatRequest,
}

for (const format of formats) {
  const { path, model, main } = places[format]

  async function assertClientsFault(stream: boolean, envelope: string): Promise<void> {
    const untouched = gateway.app.health.state(main, model)
    const { requestCount } = vendor
    const answer: WireAnswer = await post(
      gateway.url + path,
      account.key,
      requests[format]({ stream }),
    )
    assert.equal(answer.status, 400, envelope)
    assert.equal(answer.body.toString(), envelope)
    assert.equal(vendor.requestCount, requestCount + 1, envelope)
    assert.equal(gateway.app.health.state(main, model), untouched, envelope)
  }

  for (const words of accountWords) {
    test(`a ${format} vendor's 400 that quotes "${words}" passes to the byte`, async () => {
      for (const quote of quotations) {
        const envelope = envelopes[format](quote(words))
        vendor.answer((response) => {
          response.writeHead(400, { 'content-type': 'application/json' }).end(envelope)
        })
        await assertClientsFault(false, envelope)
      }
    })

    test(`a ${format} stream's first event that quotes "${words}" is a 400`, async () => {
      for (const quote of quotations) {
        const envelope = envelopes[format](quote(words))
        vendor.answer((response) => {
          const head = { 'content-type': 'text/event-stream', 'request-id': 'req_1' }
          response.writeHead(200, head).end(`event: error\ndata: ${envelope}\n\n`)
        })
        await assertClientsFault(true, envelope)
      }
    })
  }
}
