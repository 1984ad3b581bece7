/**
 * A real PostgreSQL server of a test's own: its data folder and its socket below the temporary
 * folder, a free port on 127.0.0.1, durable as in production (fsync and synchronous_commit stay on
 * unless a test says otherwise). It goes down with `close()`, and also when the test process dies
 * in any way, and leaves nothing behind. One server per test file, one database per test.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chown, mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migrate } from '../../src/storage/migrate.ts'
import { openStore } from '../../src/storage/open.ts'
import { gather } from './gather.ts'
import {
  findPostgresPrograms,
  makeDataFolder,
  postgresEnvironment,
  runPostgresProgram,
  unprivilegedAccount,
} from './postgres-programs.ts'

type ServerSettings = Readonly<Record<string, string>>

/** `smart` waits for clients to leave, `fast` cuts them off, `immediate` is a crash. */
type StopMode = 'smart' | 'fast' | 'immediate'

export interface PostgresOptions {
  /** On top of the test defaults, such as `{ synchronous_commit: 'off' }`. */
  readonly settings?: ServerSettings
  readonly standbyOf?: StandbyOptions
  /** Where its folder is made; by default in the temporary folder. */
  readonly parentFolder?: string
}

/** Begin as a copy of a running server and follow it under this application name. */
interface StandbyOptions {
  readonly primary: PostgresServer
  readonly name: string
  /** Where it finds the primary: a proxy's port instead of the server's own. */
  readonly port?: number
}

export interface PostgresServer {
  readonly port: number
  /** Where data and socket are. */
  readonly folder: string
  readonly password: string
  /** A new empty database; resolves with its URL. The role owns the database and is no superuser. */
  createDatabase(): Promise<string>
  /** The same with an empty store: a copy of a database in which the schema was made once. */
  createStore(): Promise<string>
  /** The URL of a database of this server. */
  urlOf(database: string): string
  /** One statement as superuser, through psql: rows as lines, columns parted by `|`. */
  run(sql: string, database?: string): Promise<string>
  /** Cuts every connection of Turnpike's role; resolves with how many there were. */
  terminateBackends(): Promise<number>
  stop(mode: StopMode): Promise<void>
  /** With other settings where given; they stay until the next start. */
  start(settings?: ServerSettings): Promise<void>
  restart(mode: StopMode, settings?: ServerSettings): Promise<void>
  /** What the server has logged since the last start. */
  log(): string
  /** Stops at once and deletes everything. */
  close(): Promise<void>
}

export const turnpikeRole = 'turnpike'
const replicationRole = 'standby'

/** Small and quick to start; nothing here touches durability. */
const testSettings: ServerSettings = {
  listen_addresses: '127.0.0.1',
  max_connections: '100',
  shared_buffers: '32MB',
  max_wal_size: '512MB',
  wal_level: 'replica',
  max_wal_senders: '4',
  max_replication_slots: '4',
  hot_standby: 'on',
  jit: 'off',
  log_min_messages: 'log',
}

const signals = { smart: 'SIGTERM', fast: 'SIGINT', immediate: 'SIGQUIT' } as const

/**
 * When its input ends, which is when the test process closes it or dies, the server goes down at
 * once and the folder is deleted. It has its own process group, so no Ctrl-C reaches it.
 */
const watchScript = `read -r _
data="$1/data"
pid=$(head -n 1 "$data/postmaster.pid" 2>/dev/null) && kill -QUIT "$pid"
tries=0
while [ -e "$data/postmaster.pid" ] && [ $tries -lt 100 ]; do sleep 0.05; tries=$((tries + 1)); done
rm -rf "$1"`

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const folder = await mkdtemp(join(options.parentFolder ?? tmpdir(), 'turnpike-postgres-'))
  const account = unprivilegedAccount()
  if (account !== undefined) await chown(folder, account.uid, account.gid)
  const watch = startWatch(folder)
  try {
    const server = new Server(folder, watch, options)
    await server.initialise()
    return server
  } catch (error) {
    await endWatch(watch)
    throw error
  }
}

function startWatch(folder: string): ChildProcess {
  const watch = spawn('sh', ['-c', watchScript, 'postgres-watch', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  watch.unref()
  return watch
}

function endWatch(watch: ChildProcess): Promise<void> {
  watch.ref()
  return new Promise((resolve) => {
    watch.once('exit', () => resolve())
    watch.stdin?.end()
  })
}

class Server implements PostgresServer {
  readonly folder: string
  readonly password: string
  readonly #watch: ChildProcess
  readonly #options: PostgresOptions
  #port = 0
  #settings: ServerSettings = {}
  #process: ServerProcess | undefined
  #databaseCount = 0
  #emptyStore: Promise<string> | undefined

  constructor(folder: string, watch: ChildProcess, options: PostgresOptions) {
    this.folder = folder
    this.password = options.standbyOf?.primary.password ?? randomBytes(12).toString('hex')
    this.#watch = watch
    this.#options = options
  }

  get port(): number {
    return this.#port
  }

  get #data(): string {
    return join(this.folder, 'data')
  }

  async initialise(): Promise<void> {
    const { standbyOf, settings = {} } = this.#options
    await (standbyOf === undefined ? makeDataFolder(this.#data) : this.#copy(standbyOf))
    await this.#startOnFreePort(settings)
    if (standbyOf !== undefined) return
    const roles = [turnpikeRole, `${replicationRole} REPLICATION`]
    await this.run(
      roles.map((role) => `CREATE ROLE ${role} LOGIN PASSWORD '${this.password}'`).join(';'),
    )
  }

  async #copy({ primary, name, port }: StandbyOptions): Promise<void> {
    const source = `host=127.0.0.1 port=${port ?? primary.port} user=${replicationRole} password=${primary.password} application_name=${name}`
    await runPostgresProgram('pg_basebackup', [
      `--pgdata=${this.#data}`,
      `--dbname=${source}`,
      '--checkpoint=fast',
      '--wal-method=stream',
      '--write-recovery-conf',
      '--no-sync',
    ])
  }

  /** Somebody may take the port between the look and the start; then another one is tried. */
  async #startOnFreePort(settings: ServerSettings): Promise<void> {
    for (let tries = 1; ; tries++) {
      this.#port = await findFreePort()
      try {
        await this.start(settings)
        return
      } catch (error) {
        if (tries === 5 || !this.log().includes('could not bind')) throw error
      }
    }
  }

  createDatabase(): Promise<string> {
    return this.#createFrom('template1')
  }

  async createStore(): Promise<string> {
    this.#emptyStore ??= this.#makeEmptyStore()
    return this.#createFrom(await this.#emptyStore)
  }

  /** Returns the name of the database that has the schema and nothing else. */
  async #makeEmptyStore(): Promise<string> {
    const url = await this.createDatabase()
    const database = await openStore(url)
    await migrate(database)
    await database.close()
    return new URL(url).pathname.slice(1)
  }

  async #createFrom(template: string): Promise<string> {
    const name = `turnpike_${++this.#databaseCount}`
    await this.run(`CREATE DATABASE ${name} OWNER ${turnpikeRole} TEMPLATE ${template}`)
    return this.urlOf(name)
  }

  urlOf(database: string): string {
    return `postgres://${turnpikeRole}:${this.password}@127.0.0.1:${this.#port}/${database}`
  }

  async run(sql: string, database = 'postgres'): Promise<string> {
    const output = await runPostgresProgram('psql', [
      '--no-psqlrc',
      '--no-align',
      '--tuples-only',
      '--quiet',
      '--set=ON_ERROR_STOP=1',
      `--host=${this.folder}`,
      `--port=${this.#port}`,
      '--username=postgres',
      `--dbname=${database}`,
      `--command=${sql}`,
    ])
    return output.trimEnd()
  }

  async terminateBackends(): Promise<number> {
    const count = await this.run(
      `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE usename = '${turnpikeRole}'`,
    )
    return Number(count)
  }

  async start(settings: ServerSettings = this.#settings): Promise<void> {
    this.#settings = settings
    this.#process = startServerProcess({
      data: this.#data,
      settings: {
        ...testSettings,
        unix_socket_directories: this.folder,
        port: String(this.#port),
        ...settings,
      },
    })
    await this.#process.isReady
  }

  async stop(mode: StopMode): Promise<void> {
    await this.#process?.end(mode)
  }

  async restart(mode: StopMode, settings: ServerSettings = this.#settings): Promise<void> {
    await this.stop(mode)
    await this.start(settings)
  }

  log(): string {
    return this.#process?.log() ?? ''
  }

  async close(): Promise<void> {
    await this.stop('immediate')
    await endWatch(this.#watch)
  }
}

interface ServerProcess {
  /** Rejects with what was logged where it ends instead. */
  readonly isReady: Promise<unknown>
  log(): string
  end(mode: StopMode): Promise<void>
}

function startServerProcess(options: {
  readonly data: string
  readonly settings: ServerSettings
}): ServerProcess {
  const words = Object.entries(options.settings).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  const child = spawn(join(findPostgresPrograms(), 'postgres'), ['-D', options.data, ...words], {
    ...unprivilegedAccount(),
    cwd: '/',
    env: postgresEnvironment,
    stdio: ['ignore', 'ignore', 'pipe'],
    detached: true,
  })
  child.unref()
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
  })
  const log = gather(child.stderr)
  return {
    // A standby says "ready to accept read-only connections".
    isReady: log.until(/database system is ready to accept/),
    log: () => log.text(),
    async end(mode) {
      child.ref()
      child.kill(signals[mode])
      await ended
    },
  }
}

/** Below the range that outgoing connections take their ports from, so that it stays free over a restart. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = 16_000 + (randomBytes(2).readUInt16BE() % 16_000)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
