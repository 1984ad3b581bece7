/**
 * A client that does not read its stream until the vendor gives up, and reads on then. Goal: what was
 * delivered is not free. The vendor gives up as a server does whose socket takes nothing more.
 */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { openUnread } from '../support/http-client.ts'
import { only } from '../support/money.ts'
import { streamedFormats, type StreamedFormat, urlOf, wireRequest } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'

/** Longer than a moment in which any client may be behind. */
const giveUpMs = 1_500
/** The gateway runs in this process: in so many turns it has taken what it will take. */
const giveUpTurns = 100
const maxTokens = 2_000
const text = 'the '.repeat(4_000)

const gateway = await scenario({ vendors: 'scripted', settings: { write_stall_timeout: '10m' } })
after(() => gateway.close())

const messagesStart = {
  type: 'message_start',
  message: { usage: { input_tokens: 5, output_tokens: 1 } },
}
const textDelta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }
/** What each format begins with where it has to, and a piece of text. */
const said: Readonly<Record<StreamedFormat, readonly [string, string]>> = {
  messages: [
    `event: message_start\ndata: ${JSON.stringify(messagesStart)}\n\n`,
    `event: content_block_delta\ndata: ${JSON.stringify(textDelta)}\n\n`,
  ],
  chat: ['', `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: text } }] })}\n\n`],
  responses: [
    '',
    `data: ${JSON.stringify({ type: 'response.output_text.delta', delta: text })}\n\n`,
  ],
  completions: ['', `data: ${JSON.stringify({ choices: [{ index: 0, text }] })}\n\n`],
}

/** Sends text for as long as the other end takes some. */
async function sendUntilStuck(response: ServerResponse, format: StreamedFormat): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const [beginning, delta] = said[format]
  response.write(beginning)
  let isStuck = false
  while (!isStuck) {
    while (response.write(delta));
    isStuck = await new Promise<boolean>((resolve) => {
      const giveUp = async (): Promise<void> => {
        for (let count = 0; count < giveUpTurns; count++) await turn()
        resolve(true)
      }
      const timer = setTimeout(() => void giveUp(), giveUpMs)
      response.once('drain', () => {
        clearTimeout(timer)
        resolve(false)
      })
    })
  }
  response.destroy()
}

for (const format of streamedFormats)
  test(`charges what was delivered to a client that reads a ${format} stream too late`, async () => {
    const gaveUp = Promise.withResolvers<void>()
    gateway.scripted.answer(async (response) => {
      await sendUntilStuck(response, format)
      gaveUp.resolve()
    })
    const account = await gateway.createAccount()
    const ask = { format, isStream: true, maxTokens }
    const answer = await openUnread(urlOf(gateway.url, format), wireRequest(account.key, ask))
    await gaveUp.promise
    let bytes = 0
    answer.on('data', (chunk: Buffer) => (bytes += chunk.length))
    const exchange = only(await gateway.ended(account, 1))
    assert.ok(bytes > 100_000)
    assert.equal(exchange.ending, 'client_left')
    // The vendor does not keep to the limit, and all that it got rid of is paid.
    assert.deepEqual(exchange.marks, ['estimated', 'over_hold'])
    // More than the limit at 10 USD for a million or more.
    assert.ok(exchange.amountPicos > BigInt(maxTokens) * 10_000_000n)
    answer.destroy()
  })
