/**
 * One connection to PostgreSQL: the only file that knows `pg`. It is handed out only on a server that
 * keeps the ledger's promises (it can be written to, and what it has committed is on its disk), so
 * nothing above ever has to ask. A connection that broke, or whose answer did not come in time, is
 * never used again: what it was last told may or may not have happened.
 */
import { readFileSync } from 'node:fs'
import { Client, DatabaseError, types, type Notification } from 'pg'
import { systemClock, type Timer } from '../base/clock.ts'
import { GatewayError } from '../base/errors.ts'
import type { Row, SqlValue } from './database.ts'
import type { PostgresHost, PostgresLocation } from './postgres-location.ts'
import { examineServer } from './postgres-server.ts'

/** A statement's parameters; arrays become arrays of the server, for `unnest`. */
export type PostgresValue = SqlValue | readonly SqlValue[]

/** What went wrong, as far as the next step depends on it. */
export type PostgresFault =
  | 'lost' // no answer, or a server that cannot be written to: what was asked may have happened
  | 'conflict' // rolled back because of another transaction; the same again will work
  | 'exhausted' // the server has no room for it; rolled back, the same again may work later
  | 'unfit' // the store is not as it should be: a table or a right is missing, during an upgrade perhaps
  | 'statement' // the values were refused

export interface ConnectOptions {
  /**
   * A statement that takes longer is taken for lost, and its connection with it. Real time on purpose,
   * as in every wait for a socket: a clock that a test moves by hand must not break connections.
   */
  readonly answerTimeoutMs: number
}

/**
 * The class of the warning with which a server acknowledges a commit that its standby may not have,
 * because the wait for it was cancelled. Asked again, the same has to wait as well.
 */
const doubtfulCommit = '01000'

export class PostgresConnection {
  readonly #client: Client
  readonly #options: ConnectOptions
  #lost: Error | undefined
  #isClosed = false
  /** A pooler stands between: nothing may be kept in the session, because there is none. */
  isPooled = false

  constructor(client: Client, options: ConnectOptions) {
    this.#client = client
    this.#options = options
    client.on('error', (error) => (this.#lost ??= error))
    client.on('end', () => (this.#lost ??= new Error('the server has ended the connection')))
    client.on('notice', ({ code }) => {
      if (code === doubtfulCommit) this.#lost ??= new Error('the standby may not have the commit')
    })
  }

  get isUsable(): boolean {
    return this.#lost === undefined && !this.#isClosed
  }

  async query(sql: string, parameters: readonly PostgresValue[] = []): Promise<Row[]> {
    const result = await this.#inTime(() =>
      this.#client.query<Row>({ text: sql, values: [...parameters] }),
    )
    return result.rows
  }

  /** Runs several statements without parameters. */
  async script(sql: string): Promise<void> {
    await this.#inTime(() => this.#client.query(sql))
  }

  onNotification(hear: (notification: Notification) => void): void {
    this.#client.on('notification', hear)
  }

  onEnd(hear: () => void): void {
    this.#client.on('end', hear)
  }

  /** Takes leave of the server. */
  async close(): Promise<void> {
    if (!this.isUsable) {
      this.destroy()
      return
    }
    this.#isClosed = true
    await this.#client.end()
  }

  /** Drops the connection at once; the server rolls back what was open. */
  destroy(): void {
    this.#isClosed = true
    this.#client.connection.stream.destroy()
  }

  async #inTime<Result>(ask: () => Promise<Result>): Promise<Result> {
    if (this.#lost !== undefined || this.#isClosed) throw new LostConnection(this.#lost)
    let timer: Timer | undefined
    try {
      timer = systemClock.after(this.#options.answerTimeoutMs, () => {
        this.#lost ??= new Error('the server did not answer in time')
        this.destroy()
      })
      const result = await ask()
      if (this.#lost === undefined) return result
      throw this.#lost
    } catch (error) {
      // What the server has not said itself, `pg` says of a connection that broke.
      if (error instanceof DatabaseError && !endsSession(error)) throw error
      this.#lost ??= error instanceof Error ? error : new Error('the connection failed')
      this.destroy()
      throw new LostConnection(this.#lost)
    } finally {
      timer?.cancel()
    }
  }
}

/** What was asked may or may not have happened. */
class LostConnection extends Error {
  constructor(cause: unknown) {
    super('the connection to PostgreSQL is lost', { cause })
    this.name = 'LostConnection'
  }
}

/** Connects to the first of the location's servers that will do, beginning with `startAt`. */
export async function connectPostgres(
  location: PostgresLocation,
  options: ConnectOptions,
  startAt = 0,
): Promise<{ readonly connection: PostgresConnection; readonly hostIndex: number }> {
  const failures: Error[] = []
  for (let step = 0; step < location.hosts.length; step++) {
    const hostIndex = (startAt + step) % location.hosts.length
    const host = location.hosts[hostIndex]
    if (host === undefined) break
    try {
      return { connection: await connectTo(host, location, options), hostIndex }
    } catch (error) {
      // A server whose settings break the promise is said so; another host would only hide it.
      if (error instanceof GatewayError && error.code === 'operations.invalid') throw error
      const reason = error instanceof Error ? error.message : 'no reason was given'
      failures.push(new Error(`${host.host}:${host.port}: ${reason}`, { cause: error }))
    }
  }
  throw new GatewayError(
    'ledger.unavailable',
    `PostgreSQL does not answer (${failures.map((failure) => failure.message).join('; ')}).`,
    { cause: failures[0] },
  )
}

async function connectTo(
  host: PostgresHost,
  location: PostgresLocation,
  options: ConnectOptions,
): Promise<PostgresConnection> {
  const { user, password } = location
  const client = new Client({
    host: host.host,
    port: host.port,
    database: location.database,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password: password.reveal() }),
    ssl: tlsOptions(location),
    application_name: location.applicationName,
    connectionTimeoutMillis: location.connectTimeoutMs,
    keepAlive: true,
    types: { getTypeParser },
  })
  const connection = new PostgresConnection(client, options)
  try {
    await client.connect()
    connection.isPooled = await examineServer(connection, sessionProcessId(client))
    return connection
  } catch (error) {
    connection.destroy()
    throw error
  }
}

/** The process that the handshake has named; a pooler names one that no server has. */
function sessionProcessId(client: Client): number | undefined {
  return 'processID' in client && typeof client.processID === 'number'
    ? client.processID
    : undefined
}

function tlsOptions({ tls, tlsRootPath }: PostgresLocation): ReturnType<typeof tlsFor> {
  return tlsFor(tls, tlsRootPath === undefined ? {} : { ca: readRoots(tlsRootPath) })
}

/** Read for each connection, so that renewed certificates need no restart. */
function readRoots(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const reason = error instanceof Error ? error.message : 'no reason was given'
    throw new GatewayError(
      'operations.invalid',
      `The certificates that sslrootcert names cannot be read: ${reason}.`,
      { cause: error },
    )
  }
}

function tlsFor(mode: PostgresLocation['tls'], trust: { readonly ca?: string }) {
  switch (mode) {
    case 'disable':
      return false
    case 'require':
      return { rejectUnauthorized: false, ...trust }
    case 'verify-ca':
      return { rejectUnauthorized: true, checkServerIdentity: () => undefined, ...trust }
    case 'verify-full':
      return { rejectUnauthorized: true, ...trust }
  }
}

/** 08 connection, 57P administration; 25006: the server has become read-only, a standby perhaps. */
function endsSession({ code = '' }: DatabaseError): boolean {
  return /^(08|57P)/.test(code) || code === '25006'
}

/**
 * Classes of PostgreSQL's appendix A that are about the values of a statement: 21 to 23 and 44 what they
 * are, 54 how large they are, P0 what our own functions say of them.
 */
const aboutValues = /^(21|22|23|44|54|P0)/

/**
 * 53 is out of resources, 58 and XX the server's own trouble. Whatever is neither that nor about the
 * values speaks of the store: an exchange must not be given up for it.
 */
export function faultOf(error: unknown): PostgresFault {
  if (error instanceof LostConnection) return 'lost'
  if (!(error instanceof DatabaseError)) return 'statement'
  const { code = '' } = error
  if (['40001', '40P01', '55P03', '57014'].includes(code)) return 'conflict'
  if (/^(53|58|XX)/.test(code)) return 'exhausted'
  return aboutValues.test(code) ? 'statement' : 'unfit'
}

/** What a caller of the store gets to see: its own mistake as it is, ours as unavailability. */
export function postgresError(error: unknown): Error {
  const cause = error instanceof Error ? error : new Error('the store failed', { cause: error })
  const fault = faultOf(error)
  if (fault === 'statement') return cause
  if (fault === 'unfit') return unfit(cause)
  const reason = {
    lost: 'the connection to PostgreSQL is lost',
    conflict: 'other transactions stood in the way again and again',
    exhausted: 'PostgreSQL has no room for it',
  }[fault]
  return new GatewayError('ledger.unavailable', `The store does not answer: ${reason}.`, { cause })
}

/** What is wrong is for the operator to mend; PostgreSQL names it, and no value of a row. */
function unfit(cause: Error): GatewayError {
  const advice = new GatewayError(
    'operations.invalid',
    `PostgreSQL has not, or does not allow, what the gateway needs: ${cause.message}.`,
    { cause },
  )
  return new GatewayError('ledger.unavailable', advice.message, { cause: advice })
}

/** Integers as bigint whatever their width, sums of them too; truth as SQLite has it. */
type Parse = (text: string) => SqlValue
const parsers: ReadonlyMap<number, Parse> = new Map<number, Parse>([
  [types.builtins.INT2, BigInt],
  [types.builtins.INT4, BigInt],
  [types.builtins.INT8, BigInt],
  [types.builtins.NUMERIC, (text: string) => (/^-?\d+$/.test(text) ? BigInt(text) : text)],
  [types.builtins.FLOAT4, Number],
  [types.builtins.FLOAT8, Number],
  [types.builtins.BOOL, (text: string) => (text === 't' ? 1n : 0n)],
  [types.builtins.BYTEA, (text: string) => Buffer.from(text.slice(2), 'hex')],
])

const asText: Parse = (text) => text

function getTypeParser(oid: number): Parse {
  return parsers.get(oid) ?? asText
}
