/**
 * The scenario builder: vendors, a store, accounts, and a gateway in this process or gateways in
 * separate processes. A test chooses by options and gets what it needs to send and to assert.
 * docs/testing.md shows how.
 */
import { noCheck } from '../../src/operations/channels/run-check.ts'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { createApp } from '../../src/gateway/app.ts'
import { systemClock, type Clock } from '../../src/base/clock.ts'
import { openAll } from '../../src/base/opening.ts'
import { seededRandom } from '../../src/base/random.ts'
import { Secret } from '../../src/base/secret.ts'
import { loadConfig } from '../../src/settings/read.ts'
import { auditLedger } from '../../src/operations/store/audit.ts'
import type { AuditView } from '../../src/operations/store/audit-forms.ts'
import type { OperationContext } from '../../src/operations/operation.ts'
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox/sandbox.ts'
import type { Resolve } from '../../src/http/client/checked-lookup.ts'
import type { Database } from '../../src/storage/database.ts'
import { parseStoreLocation } from '../../src/storage/location.ts'
import { loadMasterKey } from '../../src/storage/master-key.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { openPostgres } from '../../src/storage/postgres/postgres.ts'
import { openSqliteThread } from '../../src/storage/sqlite/thread.ts'
import type { TracePoint } from '../../src/relay/stages.ts'
import { makeAccount, type AccountOptions, type TestAccount } from './accounts.ts'
import { demoCatalogueWith, type CatalogueChange } from './catalogues.ts'
import { startFaultProxy, type FaultProxy } from './fault-proxy.ts'
import { startGatewayProcess, type GatewayProcess } from './gateway-process.ts'
import { viewGateway, EventCounts, type GatewayView } from './gateway-view.ts'
import { assertClean } from './money.ts'
import type { Ask } from './requests.ts'
import { applyCatalogue } from './operations.ts'
import { startScriptedVendor, type ScriptedVendor } from './scripted-vendor.ts'
import { newStoreUrl } from './test-store.ts'

type Settings = Readonly<Record<string, string>>
export type LogLine = Record<string, unknown> & { readonly msg: string }

export interface ScenarioOptions {
  /** One gateway in this process; see `ProcessOptions` for the other way. */
  readonly process?: 'in'
  /** Where the channels lead: the simulated vendors, or one that says exactly what the test scripts. */
  readonly vendors?: 'sandbox' | 'scripted'
  readonly sandbox?: SandboxOptions
  /** Gateways reach the vendors through a proxy that can cut connections. */
  readonly hasVendorProxy?: boolean
  /** Changes to the channels of the demo's catalogue. A scripted vendor gets no probes by default. */
  readonly channels?: CatalogueChange
  /** A catalogue file in place of the demo's. */
  readonly catalogue?: (vendorUrl: string) => string
  /** By default a new SQLite file; see test-store.ts for files that run on PostgreSQL. */
  readonly storeUrl?: string
  /** For a store on SQLite; by default a new one is made. */
  readonly masterKey?: string
  /** The scenario's own account. */
  readonly account?: AccountOptions
  /** Fills the store in place of the catalogue and the account; returns the scenario's account. */
  readonly fill?: (context: OperationContext, vendorUrl: string) => Promise<TestAccount>
  /** Members of every request that `ask` sends. */
  readonly requests?: Partial<Ask>
  /** Settings by their key, as text: `{ max_attempts: '2' }`. */
  readonly settings?: Settings
  // The rest is for a gateway in this process.
  readonly clock?: Clock
  /** The time of the store's server also where the clock is another one. */
  readonly hasServerTime?: boolean
  readonly onLogLine?: (line: LogLine) => void
  readonly onTracePoint?: (point: TracePoint, exchangeId: string) => void
  /** A disk that is full when the store has this many pages of 4 KB. */
  readonly storePagesMax?: number
  /** Replaces the look-up of vendors' names. */
  readonly resolve?: Resolve
  /** The folder of the built console and account page. */
  readonly siteFolder?: string
}

/** The test starts, stops and kills gateways in separate processes. */
export type ProcessOptions = Omit<ScenarioOptions, 'process'> & { readonly process: 'own' }

const noProbes: CatalogueChange = { every: { check: 'none' } }

/** No probes, and vendors' bytes unchanged: every request in the vendors' log is a client's. */
export const failoverDefaults: ScenarioOptions = {
  channels: noProbes,
  requests: { includeUsage: true },
}

/** What gateways need, and what outlives them. */
interface Surroundings {
  readonly folder: string
  readonly storeUrl: string
  readonly sandbox: Sandbox
  readonly scripted: ScriptedVendor
  readonly vendorProxy: FaultProxy | undefined
  readonly catalogueText: string
  /** Operations on the same store, through a separate connection, as commands have. */
  readonly context: OperationContext
  /** With a balance of 100,000 USD by default. */
  readonly account: TestAccount
  createAccount(options?: AccountOptions): Promise<TestAccount>
  audit(): Promise<AuditView>
  close(): Promise<void>
}

/** Gateways in separate processes. */
export interface ProcessScenario extends Surroundings {
  /** On SQLite: the store's file. */
  readonly storePath: string
  /** `before` is put in front of the command, such as a tracer with its arguments. */
  start(settings?: Settings, before?: readonly string[]): Promise<GatewayProcess>
}

/** A gateway in this process. */
export interface Scenario extends Surroundings, GatewayView {}

/** Starts a scenario. The test closes it, also where it fails. */
export function scenario(options: ProcessOptions): Promise<ProcessScenario>
export function scenario(options?: ScenarioOptions): Promise<Scenario>
export function scenario(
  options: ScenarioOptions | ProcessOptions = {},
): Promise<Scenario | ProcessScenario> {
  // A failure in the middle must leave nothing open, or the test's process would never end.
  return openAll(async (opened) => {
    const surroundings = await openSurroundings(options, opened)
    return options.process === 'own'
      ? withProcesses(surroundings, options, opened)
      : withGateway(surroundings, options, opened)
  })
}

/** Runs `work` with a gateway in this process, then audits its ledger and closes it. */
export async function withScenario(
  options: ScenarioOptions,
  work: (gateway: Scenario) => Promise<void>,
): Promise<void> {
  const gateway = await scenario(options)
  try {
    await work(gateway)
    await assertClean(gateway)
  } finally {
    await gateway.close()
  }
}

/** Of all gateways of a test that share a PostgreSQL store. */
export const sharedMasterKey = '5'.repeat(64)

async function openSurroundings(
  options: ScenarioOptions | ProcessOptions,
  opened: AsyncDisposableStack,
): Promise<Surroundings> {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const isOwn = options.process === 'own'
  const sandbox = await startSandbox({
    ...(isOwn ? { logFile: join(folder, 'vendors.log') } : { keepBodies: true }),
    ...options.sandbox,
  })
  opened.defer(() => sandbox.close())
  const scripted = await startScriptedVendor()
  opened.defer(() => scripted.close())
  const vendorProxy = options.hasVendorProxy === true ? await startFaultProxy(sandbox) : undefined
  if (vendorProxy !== undefined) opened.defer(() => vendorProxy.close())
  const proxyUrl = vendorProxy === undefined ? undefined : `http://127.0.0.1:${vendorProxy.port}`
  const vendorUrl = options.vendors === 'scripted' ? scripted.url : (proxyUrl ?? sandbox.url)

  if (options.masterKey !== undefined)
    await writeFile(join(folder, 'master.key'), options.masterKey, { mode: 0o600 })
  const storeUrl = options.storeUrl ?? (await newStoreUrl(folder))
  const database = await openTestStore(storeUrl)
  opened.defer(() => database.close())
  await migrate(database)
  const masterKey = loadMasterKey({
    key: isShared(storeUrl) ? new Secret(sharedMasterKey) : undefined,
    filePath: join(folder, 'master.key'),
  })
  const context: OperationContext = {
    database,
    clock: options.clock ?? systemClock,
    actor: 'test',
    masterKey: () => masterKey,
    environment: (name) => process.env[name],
    runCheck: noCheck,
  }
  const channels = options.channels ?? (options.vendors === 'scripted' ? noProbes : {})
  const catalogueText = (options.catalogue ?? demoCatalogueWith(channels))(vendorUrl)
  const fill =
    options.fill ??
    (async () => {
      await applyCatalogue(context, { text: catalogueText })
      return makeAccount(context, { balance_usd: '100000', ...options.account })
    })
  return {
    folder,
    storeUrl,
    sandbox,
    scripted,
    vendorProxy,
    catalogueText,
    context,
    account: await fill(context, vendorUrl),
    createAccount: (wanted = {}) => makeAccount(context, wanted),
    audit: () => auditLedger(context),
    close: () => opened.disposeAsync(),
  }
}

function isShared(storeUrl: string): boolean {
  return !storeUrl.startsWith('sqlite:')
}

function openTestStore(store: string): Promise<Database> {
  const location = parseStoreLocation(store)
  // On another thread: a connection of this thread would wait for a lock that only this thread's
  // event loop can release.
  return location.kind === 'sqlite'
    ? openSqliteThread(location.path)
    : openPostgres(location, { connectionsMax: 2 })
}

/** The environment of a gateway of the scenario. */
function environmentOf(
  { storeUrl, folder }: Surroundings,
  settings: Settings,
): Record<string, string> {
  const env: Record<string, string> = {
    TURNPIKE_LISTEN: '127.0.0.1:0',
    TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0',
    TURNPIKE_STORE: storeUrl,
    ...(isShared(storeUrl)
      ? { TURNPIKE_MASTER_KEY: sharedMasterKey }
      : { TURNPIKE_MASTER_KEY_FILE: join(folder, 'master.key') }),
  }
  for (const [key, value] of Object.entries(settings)) env[`TURNPIKE_${key.toUpperCase()}`] = value
  return env
}

function withProcesses(
  surroundings: Surroundings,
  options: ProcessOptions,
  opened: AsyncDisposableStack,
): ProcessScenario {
  const running = new Set<GatewayProcess>()
  opened.defer(async () => {
    for (const one of running) {
      one.signal('SIGKILL')
      await one.ended
    }
  })
  return {
    ...surroundings,
    storePath: join(surroundings.folder, 'turnpike.db'),
    async start(settings = {}, before = []) {
      const env = environmentOf(surroundings, { ...options.settings, ...settings })
      const started = await startGatewayProcess(env, before)
      running.add(started)
      void started.ended.then(() => running.delete(started))
      return started
    },
  }
}

async function withGateway(
  surroundings: Surroundings,
  options: ScenarioOptions,
  opened: AsyncDisposableStack,
): Promise<Scenario> {
  const events = new EventCounts()
  const { folder, context } = surroundings
  const env = environmentOf(surroundings, options.settings ?? {})
  const loaded = loadConfig({ options: {}, env, cwd: folder })
  if (loaded.kind === 'mistakes') throw new Error(JSON.stringify(loaded.list))
  const log = pino(
    { level: 'trace', base: null, formatters: { level: (label) => ({ level: label }) } },
    {
      write(text: string) {
        const line = JSON.parse(text) as LogLine
        if (line['msg'] === 'exchange ended') events.note(String(line['accountId']))
        options.onLogLine?.(line)
      },
    },
  )
  const { clock } = options
  const app = await createApp(loaded.config, {
    clock: clock ?? systemClock,
    random: seededRandom(1),
    log,
    environment: context.environment,
    masterKey: context.masterKey,
    onFatal(error) {
      throw error
    },
    onTracePoint(point, exchangeId) {
      options.onTracePoint?.(point, exchangeId)
      events.note(point)
    },
    ...(clock === undefined || options.hasServerTime === true
      ? {}
      : { readStoreTime: () => clock.now() }),
    ...(options.storePagesMax === undefined ? {} : { storePagesMax: options.storePagesMax }),
    ...(options.resolve === undefined ? {} : { resolve: options.resolve }),
    ...(options.siteFolder === undefined ? {} : { siteFolder: options.siteFolder }),
  })
  opened.defer(() => app.close())
  return { ...surroundings, ...viewGateway(app, surroundings, { events, ...options }) }
}
