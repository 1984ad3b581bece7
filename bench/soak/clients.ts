/**
 * The clients of the soak test: a fixed number at once, each of them with one request after the other. Most
 * read their answers to the end, some leave, some read slowly, and some meet a vendor that fails. Each
 * request and what its client saw is written down, for the comparison with vendors and books.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Random } from '../../src/base/random.ts'
import { hasEnd, hasTerminalEvent } from '../../test/support/answers.ts'
import { openUnread, type WireAnswer } from '../../test/support/http-client.ts'
import type { Seen } from '../../test/support/money.ts'
import {
  openAsk,
  sendAsk,
  urlOf,
  wireRequest,
  type Ask,
  type StreamedFormat,
} from '../../test/support/requests.ts'

const clientCount = 30
export const soakMaxTokens = 80
/** Between two requests of a client. */
const pauseMs = 150
const slowReadMs = 100

const formats: readonly StreamedFormat[] = ['messages', 'chat', 'responses']

/** From a late first byte to an answer that breaks off. */
const vendorFaults = [
  'delay_ms=3000',
  'first_event_delay_ms=3000',
  'status=500',
  'status=429',
  'error=529',
  'reset=before_head',
  'cut_event=3; cut_as=reset',
  'cut_event=5; cut_as=end',
  'error_at=4',
]
const faultShare = 0.06
const leaveShare = 0.08
const slowShare = 0.05

/** What clients saw so far. */
export interface ClientCounts {
  requests: number
  /** Answers seen to their end. */
  ends: number
  left: number
  /** Answers with an error instead, such as a 503 after faults of every channel. */
  refused: number
  /** Requests without an answer's head: none may be. */
  unanswered: number
  /** Answers that broke off although neither vendor nor client did: none may be. */
  cut: number
}

export class SoakClients {
  readonly counts: ClientCounts = {
    requests: 0,
    ends: 0,
    left: 0,
    refused: 0,
    unanswered: 0,
    cut: 0,
  }
  readonly seen: Seen[] = []
  /** The first of those that may not be. */
  failure: string | undefined
  readonly #place: { readonly url: string; readonly key: string; readonly random: Random }
  #isOver = false
  #running: Promise<unknown> = Promise.resolve()

  constructor(place: { readonly url: string; readonly key: string; readonly random: Random }) {
    this.#place = place
  }

  start(): void {
    this.#running = Promise.all(
      Array.from({ length: clientCount }, async (_, client) => {
        for (let number = 0; !this.#isOver; number++) {
          await this.#askOnce(`soak-${client}-${number}`)
          await delay(pauseMs * 2 * this.#place.random())
        }
      }),
    )
  }

  /** Resolves when every request has its answer. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.#running
  }

  async #askOnce(marker: string): Promise<void> {
    const { random } = this.#place
    const kind = random()
    const fault = random() < faultShare ? pick(random, vendorFaults) : undefined
    const isSlow = kind < slowShare
    const isStream = isSlow || random() < 0.6
    const pieces = 4 + Math.floor(random() * 40)
    const ask: Ask = {
      format: pick(random, formats),
      isStream,
      marker,
      maxTokens: soakMaxTokens,
      sandbox:
        `output=${pieces}; event_delay_ms=${isSlow ? 0 : 20}` +
        (isSlow ? '; frame=8000' : '') +
        (fault === undefined ? '' : `; ${fault}`),
    }
    this.counts.requests++
    try {
      if (isSlow) this.#note(ask, await this.#readSlowly(ask), fault)
      else if (kind < slowShare + leaveShare) await this.#leave(ask)
      else this.#note(ask, await sendAsk(this.#place.url, this.#place.key, ask), fault)
    } catch (error) {
      this.counts.unanswered++
      this.failure ??= `${marker}: ${String(error)}`
      this.seen.push({ marker, hasEnd: false })
    }
  }

  #note(
    ask: Ask,
    answer: Pick<WireAnswer, 'status' | 'isComplete' | 'text'>,
    fault: string | undefined,
  ): void {
    const { marker = '', format, isStream } = ask
    const isWhole = hasEnd(answer, { format, isStream })
    this.seen.push({ marker, hasEnd: isWhole })
    if (isWhole) this.counts.ends++
    else if (answer.status !== 200) this.counts.refused++
    else if (fault === undefined) {
      this.counts.cut++
      this.failure ??= `${marker}, ${JSON.stringify(ask)}: ${answer.text.slice(-500)}`
    }
  }

  /** A client that has read the last event before it leaves has seen the end as well. */
  async #leave(ask: Ask): Promise<void> {
    const { random, url, key } = this.#place
    const bytes = Math.floor(random() * 3_000)
    const client = openAsk(url, key, ask)
    const enough = client.until((text) => text.length >= bytes).catch(() => undefined)
    await Promise.race([enough, delay(1_000 * random())])
    client.leave()
    this.counts.left++
    const answer = await client.ended.catch(() => undefined)
    const text = answer?.text ?? ''
    const isWhole = ask.isStream
      ? hasTerminalEvent(text, ask.format)
      : answer?.isComplete === true && answer.status === 200
    this.seen.push({ marker: ask.marker ?? '', hasEnd: isWhole })
  }

  async #readSlowly(ask: Ask): Promise<Pick<WireAnswer, 'status' | 'isComplete' | 'text'>> {
    const { url, key } = this.#place
    const response = await openUnread(urlOf(url, ask.format), wireRequest(key, ask))
    const pieces: Buffer[] = []
    try {
      for await (const piece of response) {
        pieces.push(piece as Buffer)
        await delay(slowReadMs)
      }
    } catch {
      // Broken off: `isComplete` says so.
    }
    const text = Buffer.concat(pieces).toString()
    return { status: response.statusCode ?? 0, isComplete: response.complete, text }
  }
}

function pick<Item>(random: Random, items: readonly Item[]): Item {
  const item = items[Math.floor(random() * items.length)]
  if (item === undefined) throw new Error('there is nothing to choose from')
  return item
}
