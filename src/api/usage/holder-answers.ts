/** Sends the answers to account holders: small ones at once, large ones at the pace of their clients. */
import type { Clock } from '../../base/clock.ts'
import type { Refusal } from '../../base/errors.ts'
import type { IncomingRequest } from '../../http/server/request.ts'
import { jsonReply, sendReply } from '../../http/server/reply.ts'
import type { ResponseWriter } from '../../http/server/response-writer.ts'
import type { Outcome } from '../../operations/operation.ts'
import { namedReply } from '../refusal-reply.ts'
import { PacedAnswer } from './paced-answer.ts'
import type { ReadPlace } from './reads-under-way.ts'

/** Where an answer goes. */
export interface Exchange {
  readonly request: IncomingRequest
  readonly response: ResponseWriter
  readonly clock: Clock
  /** Left when the answer has been sent. */
  readonly place: ReadPlace
}

const vary = ['vary', 'authorization, x-api-key, api-key']
/** A connection keeps as much of any answer. */
export const smallBytesMax = 65_536
/** What a streamed answer keeps in memory at most: one page of the store and one piece of text. */
const streamBytes = 1_048_576

/** Resolves when the client has been sent all of it. Returns a refusal where nothing was written. */
export async function sendJson(value: unknown, exchange: Exchange): Promise<Refusal | undefined> {
  const { request, response, clock, place } = exchange
  const body = Buffer.from(JSON.stringify(value))
  const { headers } = namedReply(jsonReply(200, null, vary), clock)
  if (body.length <= smallBytesMax || request.method === 'HEAD') {
    sendReply(request, response, { status: 200, headers, body })
    return undefined
  }
  const refusal = place.keep(body.length)
  if (refusal !== undefined) return refusal
  await paced(exchange, headers, (answer) => answer.writeBytes(body))
  return undefined
}

/** As `sendJson`, for an answer that `work` writes piece by piece. `work` refuses before its first piece. */
export async function sendText(
  contentType: string,
  exchange: Exchange,
  work: (write: (text: string) => Promise<void>) => Promise<Outcome<void>>,
): Promise<Refusal | undefined> {
  const full = exchange.place.keep(streamBytes)
  if (full !== undefined) return full
  const { headers } = namedReply({ status: 200, headers: [], body: [] }, exchange.clock)
  const all = ['content-type', contentType, 'cache-control', 'no-store', ...vary, ...headers]
  return paced(exchange, all, async (answer) => {
    const outcome = await work((text) => answer.write(text))
    return outcome.kind === 'refusal' ? outcome : undefined
  })
}

/** Resolves when `work` is done and the client has been sent all of it, or has gone. */
export async function paced(
  { request, response }: Pick<Exchange, 'request' | 'response'>,
  headers: readonly string[],
  work: (answer: PacedAnswer) => Promise<Refusal | undefined | void>,
): Promise<Refusal | undefined> {
  if (!request.body.isComplete) response.closeAfterwards()
  const isHeadRequest = request.method === 'HEAD'
  const answer = new PacedAnswer({ response, headers, isHeadRequest })
  try {
    const refusal = await work(answer)
    if (refusal !== undefined) return refusal
    await answer.end()
  } catch (error) {
    if (!answer.fail(error)) throw error
  }
  return undefined
}
