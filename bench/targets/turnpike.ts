/**
 * Sets up and starts Turnpike as an operator does: `./bin/turnpike serve` with the default log level into a
 * file, an account with a balance and a key, all by the program's own commands. No feature is disabled for
 * the benchmark.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { PostgresServer } from '../../test/support/postgres.ts'
import type { Ask } from '../client.ts'
import { formatPaths, freePath, models, price, requestBodies } from '../exchanges.ts'
import { benchMasterKey } from '../measure/bench-context.ts'
import { findProcessTree, readThreadTimes, type ThreadTimes } from '../measure/process-cost.ts'
import { ServedCounts } from '../measure/served.ts'
import { findFreePort } from '../processes.ts'
import type { Bench, Books, Cases, Target } from './target.ts'

const account = 'bench'
/** Enough for the holds of a thousand concurrent streams. */
const balanceUsd = '1000000'
const commandLimitMs = 600_000
/** A gateway audits its ledger some seconds after its start, then every hour. */
const firstAuditLimitMs = 600_000

const usageReport = z.array(
  z.looseObject({ model: z.string(), charged_requests: z.number(), revenue_usd: z.string() }),
)
const auditReport = z.object({
  clean: z.boolean(),
  counts: z.object({ charges: z.number() }),
})

/** A store with its account and catalogue. Several gateways may run on it. */
export interface Store {
  /** The checkout whose program serves it. */
  readonly root: string
  readonly folder: string
  readonly key: string
  readonly adminToken: string
  readonly environment: Readonly<Record<string, string>>
  /** Absent for an embedded store. */
  readonly server: PostgresServer | undefined
}

interface StoreOptions {
  /** Absent for an embedded store. */
  readonly server?: PostgresServer | undefined
  /** Of other accounts, in the two months before. */
  readonly pastRequests?: number
}

const fillLimitMs = 3_600_000

export async function prepareStore(
  bench: Bench,
  folderName: string,
  { server, pastRequests }: StoreOptions = {},
): Promise<Store> {
  const { group, cores, root } = bench
  const folder = join(bench.workFolder, folderName)
  mkdirSync(folder)
  const storeUrl = (await server?.createDatabase()) ?? `sqlite:${embeddedPath(folder)}`
  const masterKeyPath = join(folder, 'master.key')
  if (pastRequests !== undefined) {
    writeFileSync(masterKeyPath, benchMasterKey, { mode: 0o600 })
    const program = join(root, 'bench', 'programs', 'fill-store.ts')
    const command = [process.execPath, program, storeUrl, String(pastRequests)] as const
    await group.run({ name: 'fill-store', command, core: cores.load, folder: root }, fillLimitMs)
  }
  const environment = {
    TURNPIKE_STORE: storeUrl,
    TURNPIKE_MASTER_KEY_FILE: masterKeyPath,
    TURNPIKE_DRAIN_TIMEOUT: '5s',
    BENCH_VENDOR_CREDENTIAL: 'bench-vendor-credential',
  }
  const store = { root, folder, key: '', adminToken: '', environment, server }
  await applyCatalogue(bench, store)
  const created = await runCommand(bench, store, ['admin-token', 'create'])
  const { token: adminToken } = z.object({ token: z.string() }).parse(created)
  return { ...store, adminToken, key: await createKey(bench, store, account) }
}

/** Creates an account with a balance, and its key. */
export async function createKey(bench: Bench, store: Store, name: string): Promise<string> {
  await runCommand(bench, store, ['account', 'create', name, '--balance', balanceUsd])
  const created = await runCommand(bench, store, ['key', 'create', name])
  return z.object({ key: z.string() }).parse(created).key
}

export async function applyCatalogue(bench: Bench, store: Store): Promise<void> {
  const path = join(store.folder, 'catalogue.yaml')
  writeFileSync(path, JSON.stringify(catalogue(bench)))
  await runCommand(bench, store, ['apply', '-f', path])
}

export function embeddedPath(folder: string): string {
  return join(folder, 'turnpike.db')
}

export function catalogue(bench: Bench): object {
  const channel = (vendor: string, port: number, ...served: readonly string[]): object => ({
    vendor,
    url: `http://127.0.0.1:${port}`,
    credential: 'env:BENCH_VENDOR_CREDENTIAL',
    models: served,
    check: 'none',
  })
  const { chat, messages, stream, chatStream, responseStream } = models
  const of = (vendor: string, ...names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, { vendor, price }]))
  return {
    vendors: {
      alpha: { format: 'messages', version_header: 'anthropic-version', credential: 'x-api-key' },
      beta: { format: 'chat', credential: 'bearer' },
    },
    models: { ...of('alpha', messages, stream), ...of('beta', chat, chatStream, responseStream) },
    channels: {
      alpha: channel('alpha', bench.vendorPort, messages, stream),
      beta: channel('beta', bench.vendorPort, chatStream, responseStream),
      chat: channel('beta', bench.chatPort, chat),
    },
  }
}

export interface GatewayOptions {
  readonly name?: string
  readonly title?: string
  /** The folder for its CPU profiles; without one it makes none. */
  readonly profileFolder?: string | undefined
  /**
   * Returns only when all processes serve and after the first audit, which would otherwise slow down one
   * measurement of several.
   */
  readonly awaitsAudit?: boolean
  /** Further variables of the gateway. */
  readonly environment?: Readonly<Record<string, string>>
  /** Gateways on the store, and processes of each; one by default. */
  readonly gateways?: number
  readonly processes?: number
}

export interface Gateway extends Target {
  readonly adminPort: number
}

export async function startTurnpike(
  bench: Bench,
  store: Store,
  options: GatewayOptions = {},
): Promise<Gateway> {
  const { name = 'turnpike', title = 'Turnpike', gateways = 1 } = options
  const first = await startOne(bench, store, options, 1)
  const started = [first]
  for (let node = 2; node <= gateways; node++)
    started.push(await startOne(bench, store, options, node))
  return {
    name,
    title,
    ports: [first.port, ...started.slice(1).map(({ port }) => port)],
    adminPort: first.adminPort,
    processes: started.map(({ running }) => running),
    cases: casesOf(store.key),
    books: booksOf(bench, store),
  }
}

async function startOne(bench: Bench, store: Store, options: GatewayOptions, node: number) {
  const { profileFolder, awaitsAudit = false, processes = 1 } = options
  const port = await findFreePort()
  const adminPort = await findFreePort()
  const profiling = profileFolder && `--cpu-prof --cpu-prof-dir=${profileFolder}`
  const { NODE_OPTIONS: given, ...environment } = options.environment ?? {}
  const running = bench.group.start({
    name: options.name ?? 'turnpike',
    command: [join(store.root, 'bin', 'turnpike'), 'serve'],
    core: bench.cores.proxy,
    folder: store.folder,
    environment: {
      ...store.environment,
      TURNPIKE_LISTEN: `127.0.0.1:${port}`,
      TURNPIKE_ADMIN_LISTEN: `127.0.0.1:${adminPort}`,
      TURNPIKE_NODE_NAME: `bench-${node}`,
      NODE_OPTIONS: [given, profiling].filter((option) => option !== undefined).join(' '),
      ...(processes === 1 ? {} : { TURNPIKE_PROCESSES: String(processes) }),
      ...environment,
    },
    output: 'log',
  })
  await bench.group.waitForPort(running, port)
  if (awaitsAudit) {
    await bench.group.waitForPort(running, adminPort)
    await waitForFirstAudit(adminPort, store, processes)
  }
  return { running, port, adminPort }
}

function casesOf(key: string): Cases {
  const headers = { authorization: `Bearer ${key}` }
  const messagesHeaders = { 'x-api-key': key, 'anthropic-version': '2023-06-01' }
  const chat = { path: `/beta${formatPaths.chat}`, headers }
  return {
    json: chat,
    streams: {
      messages: { path: `/alpha${formatPaths.messages}`, headers: messagesHeaders },
      chat,
      responses: { path: `/beta${formatPaths.responses}`, headers },
    },
    free: { path: `/alpha${freePath}`, headers: messagesHeaders },
  }
}

async function waitForFirstAudit(
  adminPort: number,
  { adminToken }: Store,
  processCount: number,
): Promise<void> {
  const limit = performance.now() + firstAuditLimitMs
  const headers = { authorization: `Bearer ${adminToken}` }
  while (performance.now() < limit) {
    const answer = await fetch(`http://127.0.0.1:${adminPort}/metrics`, { headers })
    const text = await answer.text()
    const memories = text.match(/^turnpike_process_resident_memory_bytes[ {]/gm) ?? []
    const hasAudited = /^turnpike_audits_total\{result="\w+"\} [1-9]/m.test(text)
    if (hasAudited && memories.length >= processCount) return
    await delay(250)
  }
  throw new Error('the gateway has not audited its ledger in time')
}

/** Runs one of the program's commands and returns its JSON answer. */
export async function runCommand(
  bench: Bench,
  store: Store,
  words: readonly string[],
): Promise<unknown> {
  const text = await bench.group.run(
    {
      name: `turnpike-${words[0] ?? ''}`,
      command: [join(store.root, 'bin', 'turnpike'), ...words, '--json'],
      core: bench.cores.load,
      folder: store.folder,
      environment: store.environment,
    },
    commandLimitMs,
  )
  return JSON.parse(text)
}

function booksOf(bench: Bench, store: Store): Books {
  const { server } = store
  const served = new ServedCounts()
  return {
    served,
    countTransactions: async () =>
      server === undefined
        ? readEmbeddedTransactions(embeddedPath(store.folder))
        : // Of all databases together. The statistics views show commits only seconds later.
          Number(await server.run('SELECT pg_snapshot_xmax(pg_current_snapshot())')),
    readTimes: () => (server === undefined ? new Map() : readServerTimes(server)),
    compare: async () => {
      const report = await runCommand(bench, store, ['report', '--by', 'model'])
      const usage = usageReport.parse(report).map((line) => ({
        model: line.model,
        requests: line.charged_requests,
        cost_usd: Number(line.revenue_usd),
      }))
      return served.compare(usage, auditReport.parse(await runCommand(bench, store, ['audit'])))
    },
  }
}

/** Offset of the count of committed transactions in the index of SQLite's write-ahead log. */
const countOffset = 8

/** Returns a counter that wraps at 2^32, far above what a run commits. Only differences have a meaning. */
export function readEmbeddedTransactions(path: string): number {
  const index = readFileSync(`${path}-shm`)
  return new DataView(index.buffer, index.byteOffset).getUint32(countOffset, true)
}

/** Of the current processes: the server starts one per connection. */
function readServerTimes({ folder }: PostgresServer): ThreadTimes {
  const [pid] = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')
  return readThreadTimes(findProcessTree(Number(pid)))
}

/** A small charged request. */
export function chatOf({ ports: [port], cases }: Target): Ask {
  return { port, ...cases.json, body: requestBodies.chat }
}
