/**
 * The exchange as its stages hand it on, and the services that the stages use. Each type contains the one
 * before it: a stage that needs a hold takes `Admitted`, so calling it too early does not compile. One object
 * serves all stages, because each copy would be kept for as long as the answer takes.
 */
import type { Authenticate } from '../access/authenticate.ts'
import type { BodyRoom, RunningLimits } from '../access/limits.ts'
import type { Principal } from '../access/key.ts'
import type { Clock } from '../base/clock.ts'
import { InvariantError } from '../base/errors.ts'
import type { HoldRule } from '../base/hold-rule.ts'
import type { Picos } from '../base/money.ts'
import type { Watchdog } from '../base/watchdog.ts'
import type { Channel, Model, Snapshot, Vendor } from '../channels/channel.ts'
import type { CountBook } from '../channels/count-book.ts'
import type { Lease, OpenRoute } from '../channels/route.ts'
import type {
  Format,
  ForwardedOperation,
  LimitField,
  RequestFacts,
  StoredOperation,
} from '../formats/format.ts'
import type { Upstream } from '../http/client/upstream.ts'
import type { IncomingRequest } from '../http/server/request.ts'
import type { ResponseWriter } from '../http/server/response-writer.ts'
import type { AnswerStates } from '../ledger/answer-state-store.ts'
import type { FreeExchanges } from '../ledger/free-exchange-log.ts'
import type { AttemptRecord, Hold, Ledger } from '../ledger/ledger.ts'
import type { Waivers } from '../ledger/waivers.ts'
import type { Prices } from '../metering/prices.ts'
import type { CutPolicy } from '../metering/settlement.ts'
import type { TokenCounter } from '../metering/token-counter.ts'
import type { Telemetry } from '../telemetry/events.ts'
import type { ExchangeTrace, Traces } from '../telemetry/traces.ts'
import type { BodyMemory } from './body-memory.ts'
import type { BodyReader } from './body-reader.ts'
import type { RecordedAddress } from './client-facts.ts'

/** Each stage names the few it uses. */
export interface RelayServices {
  readonly clock: Clock
  readonly watchdog: Watchdog
  readonly telemetry: Telemetry
  readonly authenticate: Authenticate
  readonly running: RunningLimits
  readonly ledger: Ledger
  readonly waivers: Pick<Waivers, 'ask' | 'ended'>
  readonly freeExchanges: FreeExchanges
  readonly answerStates: AnswerStates
  readonly bodies: BodyReader
  readonly tokenCounter: TokenCounter
  readonly openRoute: OpenRoute
  /** What the counts of answers show about channels. */
  readonly counts: CountBook
  readonly upstream: Upstream
  readonly settings: RelaySettings
  /** Absent where no traces are exported. */
  readonly traces?: Traces | undefined
  /** Absent in production. */
  readonly onTracePoint?: ((point: TracePoint, exchangeId: string) => void) | undefined
}

export interface RelaySettings {
  readonly bodyBytesMax: number
  readonly bodyTimeoutMs: number
  readonly attemptsMax: number
  /** For the whole exchange, from its acceptance on. */
  readonly requestDeadlineMs: number
  /** Between two reads from the vendor. */
  readonly idleTimeoutMs: number
  readonly pingTimeoutMs: number
  /** After this silence a stream's client gets a ping; undefined: never. */
  readonly streamKeepaliveMs: number | undefined
  /** How long to read on for the vendor's count after the client has left; 0 = not at all. */
  readonly clientLeftGraceMs: number
  /** An answer that is not streamed, or an error, is kept in memory up to this size: it can fail over. */
  readonly answerBytesMax: number
  readonly upstreamCut: CutPolicy
  /** Of accounts that have none of their own. */
  readonly holds: HoldRule
  readonly recordAddresses: RecordedAddress
}

/** Named moments of an exchange, in their order, at which a test can stop, crash or measure it. */
export type TracePoint =
  | 'hold_requested' // before any money is held
  | 'hold_placed'
  | 'attempt_sending' // before a byte of the request has left
  | 'attempt_sent' // the request has been handed to the connection, and leaves as this turn ends
  | 'head_received' // of a stream; its first event has not come
  | 'first_event' // the stream may be committed
  | 'mid_stream' // more of it has come
  | 'usage_seen' // the vendor's final counts, the last piece still kept back
  | 'charge_submitted'
  | 'charge_durable'
  | 'answer_released' // the last piece has been handed to the connection, and leaves as this turn ends
  | 'client_left'

/** A request under a vendor's prefix, as the listener accepted it. */
export interface Incoming {
  readonly kind: 'exchange'
  readonly exchangeId: string
  readonly request: IncomingRequest
  readonly response: ResponseWriter
  readonly snapshot: Snapshot
  readonly vendor: Vendor
  readonly format: Format
  /** Path behind the vendor's prefix, such as `/v1/messages`. */
  readonly path: string
  /** The raw query with its question mark, or empty. */
  readonly query: string
  /** Wall time for records, monotonic time for durations. */
  readonly startedAtMs: number
  readonly startedMonotonicMs: number
  /** Undefined until the caller is known. */
  readonly principal: Principal | undefined
  /** Undefined until then, and where no traces are exported. */
  readonly trace: ExchangeTrace | undefined
}

/** The caller is known. */
export interface Identified extends Incoming {
  readonly principal: Principal
  /** No charge of this account may be above its hold. */
  readonly holdsMost: boolean
}

/** The body has been read and understood, the model exists and the key may use it. */
export interface Prepared extends Identified {
  readonly operation: ForwardedOperation | StoredOperation
  readonly model: Model
  readonly prices: Prices
  /** Of other models that the request names to answer or advise. */
  readonly otherPrices: readonly Prices[]
  /** Of the channels that may serve it. */
  readonly outputLimits: readonly ChannelLimit[]
  readonly body: RequestBody
  readonly facts: RequestFacts
  /** Only this channel holds what the request names of earlier answers. */
  readonly pinnedTo?: Channel | undefined
  /** The channel of an earlier answer that the request repeats in full; it is tried first. */
  readonly preferredChannel?: string | undefined
  /** The id of the stored answer that the request is about. */
  readonly storedId?: string | undefined
}

/** What limits the output of one choice on a channel. */
export interface ChannelLimit {
  readonly channel: string
  /** Fields that the channel keeps, whether the request has them or not. */
  readonly fields: readonly LimitField[]
  readonly tokens: number
}

/** The money is held: from here on the exchange must be settled. */
export interface Admitted extends Prepared {
  /** Undefined for a free operation: there is nothing to settle. */
  readonly hold: Hold | undefined
}

/** All fields are there from the beginning: an object that grows is slower for every reader. */
export type Opened = Incoming & {
  readonly [Name in Exclude<keyof Admitted, keyof Incoming>]: undefined
}

/** Fills in the facts of the next stage. */
export function fill<Stage extends Incoming, Facts extends object>(
  stage: Stage,
  facts: Facts,
): Stage & Facts {
  return Object.assign(stage, facts)
}

/** The attempts of an exchange, and what they may have cost. */
export interface AttemptNotes {
  readonly count: number
  /** Not charged to the client. */
  readonly lost: LostCost
  readonly attempts: readonly AttemptRecord[]
  /** From the start of the request to the beginning of the answer, where the client was there to get it. */
  readonly firstEventMs: number | undefined
  /** The attempt whose stream was committed to. */
  readonly stream: StreamingAttempt | undefined
}

/** What attempts that were cut may have cost the operator. */
export interface LostCost {
  readonly picos: Picos
  /** It contains output that nothing has counted. */
  readonly isForOutput: boolean
}

interface StreamingAttempt {
  readonly lease: Lease
  /** Monotonic. */
  readonly startedMs: number
}

/**
 * The body of a request, kept while another attempt may have to send it. A prompt can be megabytes and
 * its answer can take many minutes: after the commit only the size is kept.
 */
export class RequestBody {
  /** Also known after `release`. */
  readonly byteLength: number
  #bytes: Buffer | undefined
  readonly #room: BodyRoom
  readonly #memory: BodyMemory | undefined
  /** Connections that may read the bytes, and this object itself until it is released. */
  #readerCount = 1

  /** `memory`: gets the bytes back where they are of it. */
  constructor(bytes: Buffer, room: BodyRoom, memory?: BodyMemory) {
    this.byteLength = bytes.length
    this.#bytes = bytes
    this.#room = room
    this.#memory = memory
  }

  get bytes(): Buffer {
    if (this.#bytes === undefined) throw new InvariantError('a released body must not be read')
    return this.#bytes
  }

  /**
   * Called for each connection that gets the bytes. Returns a function that the connection calls once, when
   * it does not read them any more: a vendor may answer before it has read the request. Undefined where the
   * memory is not used again, as with all small bodies.
   */
  lend(): (() => void) | undefined {
    const { bytes } = this
    if (this.#memory?.hasLent(bytes) !== true) return undefined
    this.#readerCount++
    return () => this.#unread(bytes)
  }

  /** Frees the bytes. Idempotent. */
  release(): void {
    const bytes = this.#bytes
    if (bytes === undefined) return
    this.#bytes = undefined
    this.#unread(bytes)
    this.#room.free()
  }

  #unread(bytes: Buffer): void {
    this.#readerCount--
    if (this.#readerCount === 0) this.#memory?.giveBack(bytes)
  }
}
