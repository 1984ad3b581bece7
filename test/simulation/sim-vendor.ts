/**
 * Scripted vendors in place of the connection pool. Each call gets a script when it is made; its
 * pieces wait until the simulation delivers the next one. A vendor keeps its own record of what it
 * counted and how far it got: one of the three sides of the reconciliation.
 */
import { buildUsage, type Counts } from './vendor-bytes.ts'
import type { FormatName } from '../../src/formats/format.ts'
import type { Random } from '../../src/base/random.ts'
import type {
  Upstream,
  UpstreamCall,
  UpstreamHead,
  UpstreamReceiver,
  UpstreamRequest,
  UpstreamStats,
} from '../../src/channels/upstream.ts'
import { framesOf, wholeBodyOf } from './vendor-bytes.ts'

export interface VendorRecord {
  readonly callId: string
  /** Which client's request it served, read from the prompt. */
  readonly client: number
  readonly format: FormatName
  readonly counts: Counts
  /** Whether the counts were in the answer at all. */
  readonly hasUsage: boolean
  /** It said everything that matters: the last event of a stream, the last byte of a whole answer. */
  isTold: boolean
}

/** Share of each way to fail; the rest are whole answers. Each seed draws its own. */
export interface VendorMood {
  readonly failureShare: number
  readonly stallShare: number
  readonly withoutUsageShare: number
}

type Piece =
  | { readonly kind: 'head'; readonly head: UpstreamHead }
  | { readonly kind: 'data'; readonly bytes: Buffer; readonly isTerminal: boolean }
  | { readonly kind: 'end' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'refused' }

/** A call as the simulation drives it. */
export interface OpenCall {
  readonly canAdvance: boolean
  /** Delivers its next piece. */
  advance(): void
}

interface Asked {
  readonly client: number
  readonly format: FormatName
  readonly isStream: boolean
  readonly maxTokens: number
}

export class SimVendors implements Upstream {
  readonly records: VendorRecord[] = []
  readonly #random: Random
  readonly #mood: VendorMood
  #open = new Set<Call>()

  constructor(random: Random, mood: VendorMood) {
    this.#random = random
    this.#mood = mood
  }

  /** Calls with something left to say. */
  get openCalls(): readonly OpenCall[] {
    return [...this.#open].filter(({ canAdvance }) => canAdvance)
  }

  /** The gateway has died: nobody hears the vendors any more. */
  forgetAll(): void {
    for (const call of this.#open) call.abort()
    this.#open = new Set()
  }

  send(_target: unknown, request: UpstreamRequest, receiver: UpstreamReceiver): UpstreamCall {
    const asked = readAsked(request)
    const record: VendorRecord = {
      callId: `call-${this.records.length}`,
      client: asked.client,
      format: asked.format,
      counts: this.#drawCounts(asked),
      hasUsage: this.#random() >= this.#mood.withoutUsageShare,
      isTold: false,
    }
    this.records.push(record)
    const call = new Call(this.#script(record, asked), receiver, record, () =>
      this.#open.delete(call),
    )
    this.#open.add(call)
    return call
  }

  stats(): ReadonlyMap<string, UpstreamStats> {
    return new Map<string, UpstreamStats>()
  }

  retain(): void {}

  close(): Promise<void> {
    return Promise.resolve()
  }

  #drawCounts(asked: Asked): Counts {
    const random = this.#random
    const cached = random() < 0.3 ? Math.floor(random() * 8) : 0
    const output = random() < 0.1 ? 0 : 1 + Math.floor(random() * asked.maxTokens)
    return { input: 1 + Math.floor(random() * 8), cached, output }
  }

  #script(record: VendorRecord, asked: Asked): Piece[] {
    const random = this.#random
    const headers = { 'request-id': record.callId, 'x-request-id': record.callId }
    if (random() < this.#mood.failureShare / 2) return this.#failure(headers)
    const contentType = asked.isStream ? 'text/event-stream' : 'application/json'
    const pieces: Piece[] = [
      { kind: 'head', head: headOf(200, { ...headers, 'content-type': contentType }) },
    ]
    const bytes = asked.isStream ? framesOf(record) : [wholeBodyOf(record)]
    const chunks = cutAtRandom(bytes, random)
    let told = ''
    for (const [index, chunk] of chunks.entries()) {
      told += chunk.toString()
      const isTerminal = asked.isStream
        ? /data: (\[DONE\]|\{"type":"message_stop"\})/.test(told)
        : index === chunks.length - 1
      pieces.push({ kind: 'data', bytes: chunk, isTerminal })
    }
    pieces.push({ kind: 'end' })
    if (random() < this.#mood.failureShare / 2) return this.#breakOff(pieces)
    if (random() < this.#mood.stallShare)
      return pieces.slice(0, Math.floor(random() * pieces.length))
    return pieces
  }

  /** What comes instead of an answer. */
  #failure(headers: Readonly<Record<string, string>>): Piece[] {
    const statuses = [400, 401, 429, 500, 529]
    const pick = Math.floor(this.#random() * (statuses.length + 2))
    if (pick === statuses.length) return [{ kind: 'refused' }]
    const status = statuses[pick]
    if (status === undefined) return [{ kind: 'reset' }]
    const body = Buffer.from(JSON.stringify({ error: { type: 'simulated', message: 'no' } }))
    return [
      { kind: 'head', head: headOf(status, { ...headers, 'content-type': 'application/json' }) },
      { kind: 'data', bytes: body, isTerminal: false },
      { kind: 'end' },
    ]
  }

  /** Everything up to some piece, then a reset, or an end too early. */
  #breakOff(pieces: readonly Piece[]): Piece[] {
    const kept = pieces.slice(0, 1 + Math.floor(this.#random() * (pieces.length - 1)))
    return [...kept, { kind: this.#random() < 0.7 ? 'reset' : 'end' }]
  }
}

class Call implements UpstreamCall, OpenCall {
  readonly #pieces: Piece[]
  readonly #record: VendorRecord
  readonly #onOver: () => void
  #receiver: UpstreamReceiver | undefined
  #isPaused = false

  constructor(
    pieces: Piece[],
    receiver: UpstreamReceiver,
    record: VendorRecord,
    onOver: () => void,
  ) {
    this.#pieces = pieces
    this.#receiver = receiver
    this.#record = record
    this.#onOver = onOver
  }

  get canAdvance(): boolean {
    return this.#receiver !== undefined && !this.#isPaused && this.#pieces.length > 0
  }

  advance(): void {
    const piece = this.#pieces.shift()
    const receiver = this.#receiver
    if (piece === undefined || receiver === undefined) return
    switch (piece.kind) {
      case 'head':
        receiver.onHead(piece.head)
        return
      case 'data':
        this.#record.isTold ||= piece.isTerminal
        this.#isPaused = !receiver.onData(piece.bytes)
        return
      case 'end':
        this.abort()
        receiver.onEnd()
        return
      case 'reset':
      case 'refused':
        this.abort()
        receiver.onFailure({
          kind: piece.kind === 'reset' ? 'reset' : 'connect',
          isUnsent: piece.kind === 'refused',
          isReusedConnection: false,
        })
    }
  }

  resume(): void {
    this.#isPaused = false
  }

  abort(): void {
    this.#receiver = undefined
    this.#onOver()
  }
}

function headOf(status: number, headers: Readonly<Record<string, string>>): UpstreamHead {
  return {
    status,
    rawHeaders: Object.entries(headers).flat(),
    isCloseDelimited: false,
    header: (name) => headers[name],
  }
}

function readAsked(request: UpstreamRequest): Asked {
  const body = JSON.parse(request.body?.toString() ?? '{}') as {
    readonly stream: boolean
    readonly max_tokens: number
    readonly messages: readonly { readonly content: string }[]
  }
  return {
    client: Number(body.messages[0]?.content.replace(/\D/g, '')),
    format: request.path.includes('messages') ? 'messages' : 'chat',
    isStream: body.stream,
    maxTokens: body.max_tokens,
  }
}

/** Several frames in one piece, and frames in two. */
function cutAtRandom(frames: readonly Buffer[], random: Random): Buffer[] {
  const chunks: Buffer[] = []
  let kept: Buffer[] = []
  for (const frame of frames) {
    const place = random() < 0.3 ? Math.floor(random() * frame.length) : frame.length
    kept.push(frame.subarray(0, place))
    if (random() < 0.7) {
      chunks.push(Buffer.concat(kept))
      kept = []
    }
    kept.push(frame.subarray(place))
  }
  chunks.push(Buffer.concat(kept))
  return chunks.filter((chunk) => chunk.length > 0)
}

/** What the vendor's counts cost by the catalogue of the simulation, worked out apart from it. */
export function vendorPrice({ format, counts }: VendorRecord): bigint {
  const usage = buildUsage(counts)
  return format === 'messages'
    ? usage.input * 3_000_000n + usage.cached * 300_000n + usage.output * 15_000_000n
    : usage.input * 2_000_000n + usage.cached * 200_000n + usage.output * 10_000_000n
}
