/**
 * Scripted vendors behind the gateway's own connections. Each request gets a script of bytes when it
 * has arrived; they wait until the simulation delivers the next piece. A vendor keeps its own record
 * of what it counted and how far it got: one of the three sides of the reconciliation.
 */
import type { Socket, TcpNetConnectOpts } from 'node:net'
import { lastEvents } from '../../support/answers.ts'
import { type BodyFormat, bodyFormats, places } from '../../support/requests.ts'
import type { Random } from '../../../src/base/random.ts'
import { buildUsage, framesOf, wholeBodyOf, type Counts } from './vendor-bytes.ts'
import { VendorSocket, type Piece, type SeenRequest } from './vendor-socket.ts'

export interface VendorRecord {
  readonly callId: string
  /** Which client's request it served, read from the prompt. */
  readonly client: number
  readonly format: BodyFormat
  readonly counts: Counts
  /** Which vendor account it is: the host and path that were asked. */
  readonly channel: string
  readonly earlierId: string | undefined
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

interface Asked {
  readonly client: number
  readonly bodyBytes: number
  readonly format: BodyFormat
  readonly isStream: boolean
  readonly maxTokens: number
  readonly channel: string
  readonly earlierId: string | undefined
}

export class SimVendors {
  readonly records: VendorRecord[] = []
  readonly #random: Random
  readonly #mood: VendorMood
  #open = new Set<VendorSocket>()

  constructor(random: Random, mood: VendorMood) {
    this.#random = random
    this.#mood = mood
  }

  /** Connections on which something is still to happen. */
  get openCalls(): readonly VendorSocket[] {
    return [...this.#open].filter(({ canAdvance }) => canAdvance)
  }

  /** The gateway has died: no process reads from the vendors any more. */
  forgetAll(): void {
    for (const socket of this.#open) socket.forget()
    this.#open = new Set()
  }

  /** In place of the network. */
  connect(options: TcpNetConnectOpts): Socket {
    const isRefused = this.#random() < this.#mood.failureShare / 10
    const socket: VendorSocket = new VendorSocket(options, {
      isRefused,
      answer: (request) => this.#answer(request),
      onOver: () => void this.#open.delete(socket),
    })
    this.#open.add(socket)
    return socket
  }

  #answer(request: SeenRequest): readonly Piece[] {
    if (request.method === 'DELETE') return splitAtRandom(deletedPieces, this.#random)
    const asked = readAsked(request)
    const record: VendorRecord = {
      callId: `call-${this.records.length}`,
      client: asked.client,
      format: asked.format,
      counts: this.#drawCounts(asked),
      channel: asked.channel,
      earlierId: asked.earlierId,
      hasUsage: this.#random() >= this.#mood.withoutUsageShare,
      isTold: false,
    }
    this.records.push(record)
    return this.#script(record, asked)
  }

  #drawCounts(asked: Asked): Counts {
    const random = this.#random
    const cached = asked.format !== 'embeddings' && random() < 0.3 ? Math.floor(random() * 8) : 0
    const isEmpty = asked.format === 'embeddings' || random() < 0.1
    const output = isEmpty ? 0 : 1 + Math.floor(random() * asked.maxTokens)
    // Now and then up to what is believed: a token per byte of the body as the client sent it, and 2,000.
    const inputMax = random() < 0.3 ? asked.bodyBytes - addedBytesMax + 2_000 - cached : 8
    return { input: 1 + Math.floor(random() * inputMax), cached, output }
  }

  #script(record: VendorRecord, asked: Asked): readonly Piece[] {
    const random = this.#random
    const headers = { 'request-id': record.callId, 'x-request-id': record.callId }
    if (random() < this.#mood.failureShare / 2) return this.#failure(headers)
    const contentType = asked.isStream ? 'text/event-stream' : 'application/json'
    const frames = asked.isStream ? framesOf(record) : [wholeBodyOf(record)]
    const isChunked = asked.isStream || random() < 0.5
    const framing = isChunked
      ? { 'transfer-encoding': 'chunked' }
      : { 'content-length': String(Buffer.concat(frames).length) }
    const pieces: Piece[] = [headOf(200, { ...headers, 'content-type': contentType, ...framing })]
    const chunks = cutAtRandom(frames, random)
    let content = ''
    for (const [index, chunk] of chunks.entries()) {
      content += chunk.toString()
      const isTerminal = asked.isStream
        ? hasLastEvent(content, asked.format)
        : index === chunks.length - 1
      const bytes = isChunked ? chunkOf(chunk) : chunk
      pieces.push({ kind: 'bytes', bytes, ...(isTerminal ? { told: record } : {}) })
    }
    if (isChunked) pieces.push(lastChunk)
    // An idle connection that the vendor closes: when, in the middle of the next request perhaps.
    if (random() < 0.2) pieces.push({ kind: 'close' })
    if (random() < this.#mood.failureShare / 2) return this.#breakOff(pieces)
    if (random() < this.#mood.stallShare)
      return pieces.slice(0, Math.floor(random() * pieces.length))
    return splitAtRandom(pieces, random)
  }

  /** What comes instead of an answer. */
  #failure(headers: Readonly<Record<string, string>>): readonly Piece[] {
    const statuses = [400, 401, 429, 500, 529]
    const status = statuses[Math.floor(this.#random() * (statuses.length + 1))]
    if (status === undefined) return [{ kind: this.#random() < 0.7 ? 'reset' : 'close' }]
    const bytes = Buffer.from(JSON.stringify({ error: { type: 'simulated', message: 'no' } }))
    const length = { 'content-type': 'application/json', 'content-length': String(bytes.length) }
    return splitAtRandom(
      [headOf(status, { ...headers, ...length }), { kind: 'bytes', bytes }],
      this.#random,
    )
  }

  /** Everything up to some piece, then a reset, the end of the connection, or a clean end too early. */
  #breakOff(pieces: readonly Piece[]): readonly Piece[] {
    const kept = pieces.slice(0, 1 + Math.floor(this.#random() * (pieces.length - 1)))
    const pick = this.#random()
    if (pick < 0.6) return [...kept, { kind: 'reset' }]
    return [...kept, ...(pick < 0.8 ? [lastChunk] : []), { kind: 'close' }]
  }
}

/** What the gateway adds to a body. */
const addedBytesMax = 80

const lastChunk: Piece = { kind: 'bytes', bytes: Buffer.from('0\r\n\r\n') }

function headOf(status: number, headers: Readonly<Record<string, string>>): Piece {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return { kind: 'bytes', bytes: Buffer.from(`HTTP/1.1 ${status} Said\r\n${lines.join('')}\r\n`) }
}

function chunkOf(content: Buffer): Buffer {
  const size = Buffer.from(`${content.length.toString(16)}\r\n`)
  return Buffer.concat([size, content, Buffer.from('\r\n')])
}

/**
 * As the network does: anywhere, in the middle of a chunk's size too. The facts of
 * the whole piece stay with the first part.
 */
function splitAtRandom(pieces: readonly Piece[], random: Random): readonly Piece[] {
  return pieces.flatMap((piece): Piece[] => {
    if (piece.kind !== 'bytes' || random() < 0.7) return [piece]
    const place = Math.floor(random() * piece.bytes.length)
    const first: Piece = { ...piece, bytes: piece.bytes.subarray(0, place) }
    return place === 0 ? [piece] : [first, { kind: 'bytes', bytes: piece.bytes.subarray(place) }]
  })
}

/** The whole last event has been said. */
function hasLastEvent(content: string, format: BodyFormat): boolean {
  const start = format === 'embeddings' ? -1 : content.indexOf(lastEvents[format])
  return start >= 0 && content.includes('\n\n', start)
}

const deletedBody = Buffer.from('{"object":"response","deleted":true}')
const deletedPieces: readonly Piece[] = [
  headOf(200, {
    'content-type': 'application/json',
    'content-length': String(deletedBody.length),
  }),
  { kind: 'bytes', bytes: deletedBody },
]

function readAsked({ path, body: text }: SeenRequest): Asked {
  const body = JSON.parse(text) as {
    readonly stream?: boolean
    readonly max_tokens?: number
    readonly max_output_tokens?: number
    readonly input?: string
    readonly prompt?: string
    readonly messages?: readonly { readonly content: string }[]
    readonly previous_response_id?: string
  }
  const prompt = body.messages?.[0]?.content ?? body.input ?? body.prompt ?? ''
  const format = bodyFormats.find((name) => path.endsWith(suffixOf(name)))
  if (format === undefined) throw new Error(`no vendor serves ${path}`)
  return {
    client: Number(prompt.replace(/\D/g, '')),
    bodyBytes: text.length,
    format,
    isStream: body.stream ?? false,
    maxTokens: body.max_tokens ?? body.max_output_tokens ?? 0,
    channel: path.slice(0, -suffixOf(format).length),
    earlierId: body.previous_response_id,
  }
}

/** The path at the vendor: without the name that the vendor has at the gateway. */
function suffixOf(format: BodyFormat): string {
  const { path } = places[format]
  return path.slice(path.indexOf('/', 1))
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
