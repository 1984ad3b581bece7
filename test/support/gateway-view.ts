/**
 * What a test can do with a gateway in its own process and see of it: requests, attempts, health and
 * recorded exchanges. Independent witnesses: the vendors' log, the gateway's counters, the ledger.
 */
import assert from 'node:assert/strict'
import type { App } from '../../src/gateway/app.ts'
import type { OperationContext } from '../../src/operations/operation.ts'
import type { Sandbox } from '../../sandbox/sandbox.ts'
import type { ServedRecord } from '../../sandbox/served-record.ts'
import type { Row } from '../../src/storage/database.ts'
import type { TracePoint } from '../../src/relay/stages.ts'
import type { TestAccount } from './accounts.ts'
import { send, usage, type WireAnswer } from './http-client.ts'
import { createAdminToken } from './operations.ts'
import { exchangesOf, type RecordedExchange } from './money.ts'
import { sendAsk, type Ask } from './requests.ts'

export interface GatewayView {
  readonly app: App
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  readonly adminUrl: string
  /** Sends a request, with the key of the scenario's account by default. */
  ask(ask: Ask): Promise<WireAnswer>
  /** Returns the channels that were tried for the marked request, in order. */
  tried(marker: string): readonly string[]
  /** Resolves with the vendor's record of the marked request on that channel, once it is over there. */
  served(marker: string, channel: string): Promise<ServedRecord>
  /** Counts the attempts since the last call by channel and outcome: `{ 'alpha-main hard': 1 }`. */
  attempts(): Promise<Readonly<Record<string, number>>>
  /** Forgets all failures and rests of all channels. */
  resetHealth(): void
  /** `on`, `off`, `trial`, `resting`, `disabled`. */
  grade(channel: string, model: string): string
  health(): Promise<{ readonly code: number; readonly status: string }>
  /** Resolves with the exchange's row, once it is in the store. */
  recorded(answer: WireAnswer): Promise<RecordedAnswer>
  /** Resolves when `count` exchanges of the account have ended and are in the store. */
  ended(account: TestAccount, count: number): Promise<readonly RecordedExchange[]>
  /** Resolves when exchanges have passed the point that often. */
  passed(point: TracePoint, count?: number): Promise<void>
}

interface RecordedAnswer {
  readonly ending: string
  readonly status: number
  readonly channel: string | null
  readonly attemptCount: number
  /** How many entries charge for it. */
  readonly chargeCount: number
  readonly amountPicos: bigint
}

/** Counts events by name, and lets tests wait for the next of them. */
export class EventCounts {
  readonly #counts = new Map<string, number>()
  readonly #waiting = new Set<() => void>()

  note(name: string): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    for (const look of this.#waiting) look()
  }

  async reach(name: string, count: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if ((this.#counts.get(name) ?? 0) < count) return
        this.#waiting.delete(look)
        resolve()
      }
      this.#waiting.add(look)
      look()
    })
  }
}

interface Behind {
  readonly context: OperationContext
  readonly sandbox: Sandbox
  readonly account: TestAccount
}

interface ViewOptions {
  readonly events: EventCounts
  readonly requests?: Partial<Ask>
}

export function viewGateway(app: App, behind: Behind, options: ViewOptions): GatewayView {
  const { context, sandbox, account } = behind
  const { events, requests } = options
  const url = `http://127.0.0.1:${app.address.port}`
  const adminUrl = `http://127.0.0.1:${app.adminAddress.port}`
  return {
    app,
    url,
    adminUrl,
    ask: (ask) => sendAsk(url, account.key, { ...requests, ...ask }),
    tried: (marker) => sandbox.log.forMarker(marker).map((record) => record.channel),
    served: (marker, channel) =>
      sandbox.log.waitFor(
        (record) =>
          record.marker === marker && record.channel === channel && record.phase === 'closed',
      ),
    attempts: countAttempts(adminUrl, context),
    resetHealth() {
      const snapshot = app.snapshot()
      app.health.follow({ ...snapshot, channels: new Map() }, snapshot)
    },
    grade(name, model) {
      const channel = app.snapshot().channels.get(name)
      assert.ok(channel !== undefined, name)
      return app.health.grade(channel, model)
    },
    async health() {
      const answer = await send(`${url}/health`)
      const { status } = JSON.parse(answer.text) as { status: string }
      return { code: answer.status, status }
    },
    recorded: (answer) => readRecorded(answer, context, () => usage(url, account.token)),
    async ended(of, count) {
      await events.reach(of.id, count)
      // An uncharged exchange is logged before it is stored. On SQLite this question is answered after
      // it; on PostgreSQL it is repeated until the row is there.
      for (;;) {
        await usage(url, of.token)
        const exchanges = await exchangesOf(context.database, of.id)
        if (exchanges.length >= count) return exchanges
      }
    },
    passed: (point, count = 1) => events.reach(point, count),
  }
}

function countAttempts(adminUrl: string, context: OperationContext): GatewayView['attempts'] {
  let adminToken: string | undefined
  let seen: Readonly<Record<string, number>> = {}
  return async () => {
    adminToken ??= (await createAdminToken(context, { name: 'test' })).secret
    const answer = await send(`${adminUrl}/metrics`, {
      headers: { authorization: `Bearer ${adminToken}` },
    })
    const now: Record<string, number> = {}
    const lines = answer.text.matchAll(
      /^turnpike_attempts_total\{channel="([^"]*)",outcome="([^"]*)"\} (\d+)$/gm,
    )
    for (const [, channel, outcome, count] of lines)
      now[`${channel ?? ''} ${outcome ?? ''}`] = Number(count)
    const fresh = Object.entries(now)
      .map(([name, count]): [string, number] => [name, count - (seen[name] ?? 0)])
      .filter(([, count]) => count > 0)
    seen = now
    return Object.fromEntries(fresh.sort(([left], [right]) => (left < right ? -1 : 1)))
  }
}

/** What costs nothing is stored a little after its answer; each `question` gives the ledger a turn. */
async function readRecorded(
  answer: WireAnswer,
  { database }: OperationContext,
  question: () => Promise<unknown>,
): Promise<RecordedAnswer> {
  const id = String(answer.headers['x-turnpike-request-id'])
  let row: Row | undefined
  for (let look = 0; row === undefined; look++) {
    assert.ok(look < 500, `exchange ${id} is not in the store`)
    if (look > 0) await question()
    ;[row] = await database.query('SELECT * FROM exchange WHERE exchange_id = $1', [id])
  }
  const [charges] = await database.query(
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
}
