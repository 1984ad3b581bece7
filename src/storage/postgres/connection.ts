/**
 * One connection to PostgreSQL: the only file that knows `pg`. It connects only to a server that keeps
 * the ledger's promises (writable, commits durable), so nothing above needs to check. A connection that
 * broke, or whose answer came too late, is never used again: its last statement may or may not have
 * been executed.
 */
import { readFileSync } from 'node:fs'
import { Client, DatabaseError, types, type Notification } from 'pg'
import { systemClock, type Timer } from '../../base/clock.ts'
import { GatewayError } from '../../base/errors.ts'
import type { Row, SqlValue } from '../database.ts'
import type { PostgresHost, PostgresLocation } from '../location.ts'
import { examineServer, readTimeline } from './server.ts'

/** A statement's parameters; arrays become arrays of the server, for `unnest`. */
export type PostgresValue = SqlValue | readonly SqlValue[]

export interface PostgresStatement {
  readonly sql: string
  /** Of one that comes again and again; stands for this text only. */
  readonly name?: string
}

/** The kind of failure; it decides the next step. */
export type PostgresFault =
  | 'lost' // no answer, or a server that cannot be written to: the statement may have been executed
  | 'conflict' // rolled back because of another transaction; a retry will work
  | 'exhausted' // the server lacks resources; rolled back, a later retry may work
  | 'unfit' // a table or a right is missing, for example during an upgrade
  | 'statement' // the values were refused

export interface ConnectOptions {
  /**
   * A statement that takes longer counts as lost, and so does its connection. Always real time, as for
   * every socket: a test's manual clock must not break connections.
   */
  readonly answerTimeoutMs: number
}

/**
 * The warning with which a server acknowledges a commit that its standby may not have, because the
 * wait for it was cancelled. A retry waits for the standby again.
 */
const doubtfulCommit = '01000'

export class PostgresConnection {
  readonly #client: Client
  readonly #options: ConnectOptions
  /** Host and port, for messages. */
  readonly #server: string
  #lost: Error | undefined
  #isClosed = false
  /** A pooler is between this process and the server: there is no session to keep anything in. */
  isPooled = false

  constructor(client: Client, options: ConnectOptions) {
    this.#client = client
    this.#options = options
    this.#server = `${client.host}:${client.port}`
    client.on('error', (error) => (this.#lost ??= error))
    client.on('end', () => (this.#lost ??= new Error('the server has ended the connection')))
    client.on('notice', ({ code }) => {
      if (code === doubtfulCommit) this.#lost ??= new Error('the standby may not have the commit')
    })
  }

  get isUsable(): boolean {
    return this.#lost === undefined && !this.#isClosed
  }

  query(sql: string, parameters: readonly PostgresValue[] = []): Promise<Row[]> {
    return this.run({ sql }, parameters)
  }

  /** Runs a statement that the server keeps under its name where there is a session. */
  async run(statement: PostgresStatement, parameters: readonly PostgresValue[]): Promise<Row[]> {
    const { sql, name = '' } = statement
    const query = { text: sql, values: [...parameters], ...(!this.isPooled && { name }) }
    const result = await this.#withTimeout(() => this.#client.query<Row>(query))
    return result.rows
  }

  /** Runs several statements without parameters. */
  async script(sql: string): Promise<void> {
    await this.#withTimeout(() => this.#client.query(sql))
  }

  onNotification(listener: (notification: Notification) => void): void {
    this.#client.on('notification', listener)
  }

  onEnd(listener: () => void): void {
    this.#client.on('end', listener)
  }

  /** Closes the connection. */
  async close(): Promise<void> {
    if (!this.isUsable) {
      this.destroy()
      return
    }
    this.#isClosed = true
    await this.#client.end()
  }

  /** Drops the connection at once; the server rolls back an open transaction. */
  destroy(): void {
    this.#isClosed = true
    this.#client.connection.stream.destroy()
  }

  async #withTimeout<Result>(send: () => Promise<Result>): Promise<Result> {
    if (this.#lost !== undefined || this.#isClosed)
      throw new LostConnection(this.#server, this.#lost)
    let timer: Timer | undefined
    try {
      timer = systemClock.after(this.#options.answerTimeoutMs, () => {
        this.#lost ??= new Error('the server did not answer in time')
        this.destroy()
      })
      const result = await send()
      if (this.#lost === undefined) return result
      throw this.#lost
    } catch (error) {
      // An error that is not the server's comes from `pg`: the connection broke.
      if (error instanceof DatabaseError && !endsSession(error)) throw error
      this.#lost ??= error instanceof Error ? error : new Error('the connection failed')
      this.destroy()
      throw new LostConnection(this.#server, this.#lost)
    } finally {
      timer?.cancel()
    }
  }
}

/** The statement may or may not have been executed. */
class LostConnection extends Error {
  constructor(server: string, cause: unknown) {
    const reason = cause instanceof Error ? ` (${cause.message})` : ''
    super(`the connection to PostgreSQL at ${server} is lost${reason}`, { cause })
    this.name = 'LostConnection'
  }
}

interface OpenedServer {
  readonly connection: PostgresConnection
  readonly hostIndex: number
}

/**
 * The newest timeline seen at a location with several hosts. A promoted standby begins a new one, so a server
 * with an earlier timeline is a former primary that has come back: it takes writes and lacks charges.
 */
const newestTimelines = new WeakMap<PostgresLocation, number>()

/**
 * Connects to the first usable server of the location, starting with `startAt`. With several hosts, the first
 * time all of them are asked for the one with the newest timeline.
 */
export async function connectPostgres(
  location: PostgresLocation,
  options: ConnectOptions,
  startAt = 0,
): Promise<OpenedServer> {
  const isFirst = location.hosts.length > 1 && !newestTimelines.has(location)
  const failures: Error[] = []
  let found: OpenedServer | undefined
  for (let step = 0; step < location.hosts.length; step++) {
    const hostIndex = (startAt + step) % location.hosts.length
    const host = location.hosts[hostIndex]
    if (host === undefined || (found !== undefined && !isFirst)) break
    try {
      const connection = await connectTo(host, location, options)
      found?.connection.destroy()
      found = { connection, hostIndex }
    } catch (error) {
      // Unsafe settings of a server are reported; another host would only hide them.
      if (error instanceof GatewayError && error.code === 'operations.invalid') {
        found?.connection.destroy()
        throw error
      }
      const reason = error instanceof Error ? error.message : 'no reason was given'
      failures.push(new Error(`${host.host}:${host.port}: ${reason}`, { cause: error }))
    }
  }
  if (found !== undefined) return found
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
    if (location.hosts.length > 1) await examineTimeline(connection, location)
    return connection
  } catch (error) {
    connection.destroy()
    throw error
  }
}

/** Rejects on a server that another one of the location has left behind. */
async function examineTimeline(
  connection: PostgresConnection,
  location: PostgresLocation,
): Promise<void> {
  const timeline = await readTimeline(connection)
  const newest = newestTimelines.get(location) ?? 0
  if (timeline < newest)
    throw new GatewayError(
      'ledger.unavailable',
      `the server is a former primary (timeline ${timeline}, another one has ${newest}). ` +
        'Set it up as a standby, or stop it.',
    )
  newestTimelines.set(location, timeline)
}

/** Returns the process id from the handshake; a pooler invents one that no server has. */
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
 * Error classes of PostgreSQL's appendix A about the values of a statement: 21 to 23 and 44 their
 * content, 54 their size, P0 our own functions. Not 22P02: a row has columns that its table does not have, or
 * fewer, as during an upgrade.
 */
const aboutValues = /^(21|22(?!P02)|23|44|54|P0)/

/**
 * Classifies an error. 53 is lack of resources, 58 and XX are internal errors of the server. All other
 * errors that are not about the values concern the store: no exchange is refused because of them.
 */
export function faultOf(error: unknown): PostgresFault {
  if (error instanceof LostConnection) return 'lost'
  if (!(error instanceof DatabaseError)) return 'statement'
  const { code = '' } = error
  if (['40001', '40P01', '55P03', '57014'].includes(code)) return 'conflict'
  if (/^(53|58|XX)/.test(code)) return 'exhausted'
  return aboutValues.test(code) ? 'statement' : 'unfit'
}

/** Returns the error for callers: their own invalid values as they are, all else as unavailable. */
export function postgresError(error: unknown): Error {
  const cause = error instanceof Error ? error : new Error('the store failed', { cause: error })
  const fault = faultOf(error)
  if (fault === 'statement') return cause
  if (fault === 'unfit') return unfit(cause)
  const reason = {
    lost: cause.message,
    conflict: 'too many conflicts with other transactions',
    exhausted: `PostgreSQL lacks resources (${cause.message})`,
  }[fault]
  return new GatewayError('ledger.unavailable', `The store does not answer: ${reason}.`, { cause })
}

/** The operator has to repair it; PostgreSQL's message names it, and no value of a row. */
function unfit(cause: Error): GatewayError {
  const advice = new GatewayError(
    'operations.invalid',
    `The gateway cannot use the PostgreSQL store: ${cause.message}. Check its schema and the rights of the user.`,
    { cause },
  )
  return new GatewayError('ledger.unavailable', advice.message, { cause: advice })
}

/** Integers of every width and their sums as bigint; booleans as 0 and 1, as in SQLite. */
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
