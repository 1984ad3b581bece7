/**
 * A whole gateway in this process for tests: real sockets, a real store in a folder of its own, the
 * simulated vendors behind it, accounts made through the same operations an operator uses.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino, type Logger } from 'pino'
import { createApp, type App } from '../../src/app.ts'
import { systemClock, type Clock } from '../../src/base/clock.ts'
import { openAll } from '../../src/base/opening.ts'
import { seededRandom } from '../../src/base/random.ts'
import { loadConfig } from '../../src/config.ts'
import { createAccount } from '../../src/operations/accounts.ts'
import { auditLedger, type AuditView } from '../../src/operations/audit.ts'
import { applyCatalogue } from '../../src/operations/catalogue.ts'
import type { OperationContext } from '../../src/operations/context.ts'
import { createClientKey, createReaderToken } from '../../src/operations/keys.ts'
import { demoCatalogueText } from '../../src/sandbox/demo.ts'
import { startSandbox, type Sandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts'
import type { Database } from '../../src/storage/database.ts'
import { parseStoreLocation } from '../../src/storage/location.ts'
import { loadMasterKey } from '../../src/storage/master-key.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { openPostgres } from '../../src/storage/postgres.ts'
import { openSqliteThread } from '../../src/storage/sqlite-thread.ts'
import { newStoreUrl } from './test-store.ts'
import type { Milestone } from '../../src/telemetry/events.ts'

export interface GatewayOptions {
  /** Settings by their key, as text: `{ max_attempts: '2' }`. */
  readonly settings?: Readonly<Record<string, string>>
  readonly clock?: Clock
  readonly log?: Logger
  readonly sandbox?: SandboxOptions
  /** The catalogue file; by default the demo's. */
  readonly catalogue?: (sandboxUrl: string) => string
  readonly onMilestone?: (milestone: Milestone, exchangeId: string) => void
  /** A store that another gateway of the test has filled; a new one unless told. */
  readonly storeUrl?: string
  /** A disk that is full when the store has this many pages of 4 KB. */
  readonly storePagesMax?: number
}

export interface TestAccount {
  readonly id: string
  readonly name: string
  /** `cr_…` */
  readonly key: string
  /** `ro_…` */
  readonly token: string
}

export interface AccountWish {
  /** Decimal USD; 10 unless told otherwise. */
  readonly balance_usd?: string
  readonly daily_usd?: string
  readonly rpm?: number
  readonly window_minutes?: number
}

export interface Gateway {
  readonly app: App
  /** `http://127.0.0.1:PORT` */
  readonly url: string
  readonly adminUrl: string
  readonly sandbox: Sandbox
  readonly folder: string
  /** For another gateway on the same store. */
  readonly catalogueText: string
  /** Operations on the same store, through a connection of their own, as commands have. */
  readonly context: OperationContext
  createAccount(wish?: AccountWish): Promise<TestAccount>
  audit(): Promise<AuditView>
  close(): Promise<void>
}

let accountCount = 0
/** Of all gateways of a test that share a store. */
export const sharedMasterKey = '5'.repeat(64)

/** What is left open would keep the test's process alive long after the test has failed. */
export function startGateway(options: GatewayOptions = {}): Promise<Gateway> {
  return openAll((opened) => openGateway(options, opened))
}

async function openGateway(
  options: GatewayOptions,
  opened: AsyncDisposableStack,
): Promise<Gateway> {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const sandbox = await startSandbox({ keepBodies: true, ...options.sandbox })
  opened.defer(() => sandbox.close())
  const storeUrl = options.storeUrl ?? (await newStoreUrl(folder))
  const env: Record<string, string> = {
    TURNPIKE_LISTEN: '127.0.0.1:0',
    TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0',
    TURNPIKE_STORE: storeUrl,
    ...(storeUrl.startsWith('sqlite:') ? {} : { TURNPIKE_MASTER_KEY: sharedMasterKey }),
  }
  for (const [key, value] of Object.entries(options.settings ?? {}))
    env[`TURNPIKE_${key.toUpperCase()}`] = value
  const loaded = loadConfig({ options: {}, env, cwd: folder })
  if (loaded.kind === 'mistakes') throw new Error(JSON.stringify(loaded.list))
  const { config } = loaded
  const masterKey = loadMasterKey({ key: config.masterKey, filePath: config.masterKeyFile })

  const clock = options.clock ?? systemClock
  const database = await openTestStore(config.store)
  opened.defer(() => database.close())
  await migrate(database)
  const context: OperationContext = {
    database,
    clock,
    actor: 'test',
    masterKey: () => masterKey,
    environment: (name) => process.env[name],
  }
  const text = (options.catalogue ?? demoCatalogueText)(sandbox.url)
  const applied = await applyCatalogue(context, text, { dryRun: false })
  if (applied.kind === 'mistakes') throw new Error(JSON.stringify(applied.list))

  const app = await createApp(config, {
    clock,
    random: seededRandom(1),
    log: options.log ?? pino({ level: 'silent' }),
    environment: (name) => process.env[name],
    masterKey: () => masterKey,
    onFatal(error) {
      throw error
    },
    ...(options.onMilestone === undefined ? {} : { onMilestone: options.onMilestone }),
    ...(clock === systemClock ? {} : { readStoreTime: () => clock.now() }),
    ...(options.storePagesMax === undefined ? {} : { storePagesMax: options.storePagesMax }),
  })
  opened.defer(() => app.close())

  return {
    app,
    url: `http://127.0.0.1:${app.address.port}`,
    adminUrl: `http://127.0.0.1:${app.adminAddress.port}`,
    sandbox,
    folder,
    catalogueText: text,
    context,
    async createAccount(wish = {}) {
      const name = `account-${++accountCount}`
      const account = await createAccount(context, { name, balance_usd: '10', ...wish })
      const key = await createClientKey(context, { account: name, name: 'test' })
      const token = await createReaderToken(context, { account: name, name: 'test' })
      return { id: account.id, name, key: key.secret, token: token.secret }
    },
    audit: () => auditLedger(context),
    close: () => opened.disposeAsync(),
  }
}

function openTestStore(store: string): Promise<Database> {
  const location = parseStoreLocation(store)
  // A thread of its own: a connection of this thread would wait for a lock that only this thread's
  // event loop can release.
  return location.kind === 'sqlite'
    ? openSqliteThread(location.path)
    : openPostgres(location, { connectionsMax: 2 })
}
