/**
 * What failover tests share: a gateway in front of the simulated vendors with a catalogue of the
 * test's own, requests of both formats, and three independent witnesses of what happened: the
 * vendors' log (who was asked), the gateway's counters (who was blamed), the books (what it cost).
 */
import assert from 'node:assert/strict'
import { pino, type Logger } from 'pino'
import { stringify } from 'yaml'
import type { FormatName } from '../../src/formats/format.ts'
import { createAdminToken } from '../../src/operations/keys.ts'
import { demoCatalogue, demoCredentials } from '../../src/sandbox/demo.ts'
import type { ServedRecord } from '../../src/sandbox/served-record.ts'
import { operatorIdentifiers } from '../../src/sandbox/vendor-headers.ts'
import {
  startGateway,
  type Gateway,
  type GatewayOptions,
  type TestAccount,
} from '../support/gateway.ts'
import type { Row } from '../../src/storage/database.ts'
import type { ManualClock } from '../support/manual-clock.ts'
import { send, usage, type WireAnswer, type WireRequest } from '../support/http-client.ts'

export const formats: readonly FormatName[] = ['messages', 'chat']

interface FormatPlaces {
  readonly path: string
  readonly model: string
  readonly main: string
  readonly reserve: string
}

export const places: Readonly<Record<FormatName, FormatPlaces>> = {
  messages: {
    path: '/alpha/v1/messages',
    model: 'large-1',
    main: 'alpha-main',
    reserve: 'alpha-reserve',
  },
  chat: {
    path: '/beta/v1/chat/completions',
    model: 'chat-1',
    main: 'beta-main',
    reserve: 'beta-reserve',
  },
}

/** One channel of a test's catalogue, over what the demo's has. */
export type ChannelWish = Readonly<Record<string, unknown>> & { readonly check?: string }

export interface CatalogueWish {
  /** Members for every channel. `check: none` keeps the gateway's own requests out of the logs. */
  readonly every?: ChannelWish
  /** By name; a name the demo does not have is a further channel of the vendor its name begins with. */
  readonly channels?: Readonly<Record<string, ChannelWish>>
}

/** The demo catalogue with a test's changes. */
export function catalogueOf(wish: CatalogueWish): (url: string) => string {
  return (url) => {
    const base = demoCatalogue(url)
    const channels: Record<string, unknown> = {}
    for (const [name, channel] of Object.entries(base.channels))
      channels[name] = { ...channel, ...wish.every, ...wish.channels?.[name] }
    for (const [name, channel] of Object.entries(wish.channels ?? {})) {
      if (name in channels) continue
      const like = name.startsWith('alpha')
        ? base.channels['alpha-main']
        : base.channels['beta-main']
      const own = { url: `${url}/${name}`, credential: demoCredentials['alpha-main'] }
      channels[name] = { ...like, ...own, ...wish.every, ...channel }
    }
    return stringify({ ...base, channels }, { aliasDuplicateObjects: false })
  }
}

export interface Ask {
  readonly format: FormatName
  readonly isStream: boolean
  readonly marker?: string
  readonly model?: string
  /** Directives for the sandbox, whichever channel it comes through. */
  readonly sandbox?: string
  readonly key?: string
  readonly onChunk?: WireRequest['onChunk']
}

/** `alpha-main hard` → how often, since the last look. */
export type Lessons = Readonly<Record<string, number>>

export interface FailoverGateway extends Gateway {
  readonly account: TestAccount
  ask(ask: Ask): Promise<WireAnswer>
  /** The channels that were asked for the marked request, in order. */
  tried(marker: string): readonly string[]
  /** The vendor's record of the marked request on that channel, once it is over there. */
  served(marker: string, channel: string): Promise<ServedRecord>
  lessons(): Promise<Lessons>
  /** Every channel as new: no failures, no rests. */
  forget(): void
  /** `on`, `off`, `trial`, `resting`, `disabled`. */
  grade(channel: string, model: string): string
  health(): Promise<{ readonly code: number; readonly status: string }>
  /** The exchange's row, once it is in the store. */
  booked(answer: WireAnswer): Promise<Booked>
}

export interface Booked {
  readonly ending: string
  readonly status: number
  readonly channel: string | null
  readonly attemptCount: number
  /** How many entries charge for it. */
  readonly chargeCount: number
  readonly amountPicos: bigint
}

export async function startFailoverGateway(options: GatewayOptions = {}): Promise<FailoverGateway> {
  const gateway = await startGateway({
    catalogue: catalogueOf({ every: { check: 'none' } }),
    ...options,
  })
  const { app, sandbox, context } = gateway
  const account = await gateway.createAccount({ balance_usd: '100000' })
  const { secret: adminToken } = await createAdminToken(context, { name: 'test' })
  let seen: Lessons = {}

  async function readLessons(): Promise<Lessons> {
    const answer = await send(`${gateway.adminUrl}/metrics`, {
      headers: { authorization: `Bearer ${adminToken}` },
    })
    const counts: Record<string, number> = {}
    const lines = answer.body
      .toString()
      .matchAll(/^turnpike_attempts_total\{channel="([^"]*)",outcome="([^"]*)"\} (\d+)$/gm)
    for (const [, channel, outcome, count] of lines)
      counts[`${channel ?? ''} ${outcome ?? ''}`] = Number(count)
    return counts
  }

  /** What costs nothing is stored a little later than its answer goes out. */
  async function findExchange(id: string): Promise<Row> {
    for (let look = 0; look < 500; look++) {
      const sql = 'SELECT * FROM exchange WHERE exchange_id = $1'
      const [row] = await context.database.query(sql, [id])
      if (row !== undefined) return row
      // Each question to the ledger's thread gives it a turn.
      await usage(gateway.url, account.token)
    }
    throw new Error(`${id} never came into the books`)
  }

  return {
    ...gateway,
    account,
    ask: (ask) => send(gateway.url + places[ask.format].path, wireRequest(account.key, ask)),
    tried: (marker) => sandbox.log.forMarker(marker).map((record) => record.channel),
    served: (marker, channel) =>
      sandbox.log.waitFor(
        (record) =>
          record.marker === marker && record.channel === channel && record.phase === 'closed',
      ),
    async lessons() {
      const now = await readLessons()
      const fresh = Object.entries(now)
        .map(([name, count]): [string, number] => [name, count - (seen[name] ?? 0)])
        .filter(([, count]) => count > 0)
      seen = now
      return Object.fromEntries(fresh.sort(([left], [right]) => (left < right ? -1 : 1)))
    },
    forget() {
      const snapshot = app.snapshot()
      app.health.follow({ ...snapshot, channels: new Map() }, snapshot)
    },
    grade(name, model) {
      const channel = app.snapshot().channels.get(name)
      assert.ok(channel !== undefined, name)
      return app.health.grade(channel, model)
    },
    async health() {
      const answer = await send(`${gateway.url}/health`)
      const { status } = JSON.parse(answer.body.toString()) as { status: string }
      return { code: answer.status, status }
    },
    async booked(answer) {
      const id = String(answer.headers['x-turnpike-request-id'])
      const row = await findExchange(id)
      const [charges] = await context.database.query(
        `SELECT count(*) AS count FROM entry WHERE kind = 'charge' AND reference = $1`,
        [id],
      )
      return {
        ending: String(row['ending']),
        status: Number(row['status']),
        channel: row['channel'] === null ? null : String(row['channel']),
        attemptCount: Number(row['attempt_count']),
        chargeCount: Number(charges?.['count']),
        amountPicos: BigInt(String(row['amount_picos'])),
      }
    },
  }
}

function wireRequest(accountKey: string, ask: Ask): WireRequest {
  const body = {
    model: ask.model ?? places[ask.format].model,
    max_tokens: 100,
    stream: ask.isStream,
    // The client asks for the usage chunk itself, so that the vendor's bytes pass untouched.
    ...(ask.format === 'chat' && ask.isStream ? { stream_options: { include_usage: true } } : {}),
    messages: [{ role: 'user', content: 'hello' }],
  }
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    authorization: `Bearer ${ask.key ?? accountKey}`,
  }
  if (ask.marker !== undefined) headers['x-sandbox-marker'] = ask.marker
  if (ask.sandbox !== undefined) headers['x-sandbox'] = ask.sandbox
  return {
    headers,
    body: JSON.stringify(body),
    ...(ask.onChunk === undefined ? {} : { onChunk: ask.onChunk }),
  }
}

/** Lets time pass in small steps until something is so; fails when it has not come in `atMostMs`. */
export async function passUntil(
  clock: ManualClock,
  atMostMs: number,
  isSo: () => Promise<boolean> | boolean,
): Promise<number> {
  const startedMs = clock.monotonic()
  while (!(await isSo())) {
    assert.ok(clock.monotonic() - startedMs < atMostMs, `not so after ${atMostMs} ms`)
    clock.advance(1_000)
  }
  return clock.monotonic() - startedMs
}

/** A log whose lines end up in a list. */
export function capture(lines: Record<string, unknown>[]): Logger {
  return pino(
    { level: 'trace', base: null, formatters: { level: (label) => ({ level: label }) } },
    {
      write(line: string) {
        lines.push(JSON.parse(line) as Record<string, unknown>)
      },
    },
  )
}

// --- what a client may see ------------------------------------------------------------------------

/** The whole answer of one exchange with one channel, to the byte. */
export function assertWhole(answer: WireAnswer, record: ServedRecord, what: string): void {
  assert.equal(answer.status, 200, `${what}: ${answer.body.toString()}`)
  assert.ok(answer.isComplete, what)
  assert.ok(record.responseBody !== undefined, what)
  assert.equal(answer.body.toString(), record.responseBody.toString(), what)
  assert.ok(record.isTerminalSent, what)
  assert.equal(vendorIdOf(answer), vendorIdOfRecord(record), what)
}

/**
 * A beginning of that one channel's bytes, then one error event of the format, then an end that no
 * client can take for a whole answer.
 */
export function assertBrokenOff(
  answer: WireAnswer,
  record: ServedRecord,
  format: FormatName,
  what: string,
): void {
  assert.equal(answer.status, 200, what)
  assert.equal(answer.isComplete, false, `${what}: the stream ended cleanly`)
  const text = answer.body.toString()
  assert.ok(!hasTerminalEvent(text, format), `${what}: ${text}`)
  const error = findErrorEvent(text, format)
  assert.ok(error !== undefined, `${what}: no error event in ${JSON.stringify(text)}`)
  assert.ok(record.responseBody !== undefined, what)
  const before = text.slice(0, error.index).replace(/\n\n$/, '')
  assert.ok(before.length > 0, `${what}: nothing before the error`)
  assert.ok(
    record.responseBody.toString().startsWith(before),
    `${what}: not the vendor's bytes: ${before}`,
  )
  assert.equal(text.slice(error.index + error[0].length), '', what)
  assert.ok(!namesOperator(text), `${what}: ${text}`)
}

export function hasTerminalEvent(text: string, format: FormatName): boolean {
  return format === 'messages'
    ? /"type": ?"message_stop"/.test(text)
    : /^data: ?\[DONE\]$/m.test(text)
}

function findErrorEvent(text: string, format: FormatName): RegExpExecArray | undefined {
  const pattern =
    format === 'messages'
      ? /event: error\ndata: \{"type":"error".*\}\n\n/
      : /(?:event: error\n)?data: \{"error":.*\}\n\n/
  return pattern.exec(text) ?? undefined
}

export interface OwnError {
  readonly type: string
  readonly code: string | null | undefined
  readonly message: string
}

/** An error of the gateway's own in the format's shape, without a word about the operator's account. */
export function assertOwnError(
  answer: WireAnswer,
  format: FormatName,
  status: number,
  what: string,
): OwnError {
  const text = answer.body.toString()
  assert.equal(answer.status, status, `${what}: ${text}`)
  assert.ok(answer.isComplete, what)
  const body = JSON.parse(text) as { readonly error: OwnError; readonly request_id?: string }
  const id = answer.headers['x-turnpike-request-id']
  if (format === 'messages') assert.equal(body.request_id, id, what)
  assert.equal(vendorIdOf(answer), id, what)
  assert.ok(!namesOperator(text + answer.rawHeaders.join('\n')), `${what}: ${text}`)
  assert.doesNotMatch(text, /simulated|sandbox|127\.0\.0\.1/i, what)
  return body.error
}

/** What the vendor's texts and headers say about the operator's account there. */
export function namesOperator(text: string): boolean {
  return Object.values(operatorIdentifiers).some((identifier) => text.includes(identifier))
}

function vendorIdOf(answer: WireAnswer): string | undefined {
  const id = answer.headers['request-id'] ?? answer.headers['x-request-id']
  return typeof id === 'string' ? id : undefined
}

function vendorIdOfRecord(record: ServedRecord): string {
  const number = String(record.index).padStart(12, '0')
  return record.format === 'messages' ? `req_011sandbox${number}` : `req_sandbox${number}`
}
