/**
 * Sets up and starts Turnpike as an operator does: `./bin/turnpike serve` on a SQLite store, the default
 * log level into a file, an account with a balance and a key, all by the program's own commands. No
 * feature is disabled for the benchmark.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { formatPaths, freePath, models, price } from '../exchanges.ts'
import { findFreePort } from '../processes.ts'
import type { Bench, Proxy } from './proxy.ts'

const account = 'bench'
/** Enough for the holds of a thousand concurrent streams. */
const balanceUsd = '1000000'
const commandLimitMs = 600_000
/** A gateway audits its ledger some seconds after its start, then every hour. */
const firstAuditLimitMs = 120_000

const usageReport = z.object({
  by_model: z.array(
    z.object({
      model: z.string(),
      requests: z.number(),
      input_tokens: z.number(),
      output_tokens: z.number(),
      cost_usd: z.number(),
    }),
  ),
})
const auditReport = z.object({
  clean: z.boolean(),
  counts: z.object({ exchanges: z.number(), charges: z.number(), differences: z.number() }),
})

export type ModelUsage = z.infer<typeof usageReport>['by_model'][number]
export type AuditReport = z.infer<typeof auditReport>

/** A store with its account and catalogue. Several gateways may run on it, one after the other. */
export interface TurnpikeStore {
  readonly name: 'turnpike' | 'baseline'
  /** The checkout whose program serves this store. */
  readonly root: string
  readonly key: string
  readonly adminToken: string
  readonly environment: Readonly<Record<string, string>>
  readonly folder: string
}

export async function prepareTurnpike(
  bench: Bench,
  program: Pick<TurnpikeStore, 'name' | 'root'>,
  folderName: string = program.name,
  storeUrl?: string,
): Promise<TurnpikeStore> {
  const store = await prepareStore(bench, { ...program, folderName, storeUrl })
  return { ...store, key: await createKey(bench, store, account) }
}

/** Creates an account with a balance, and its key. */
export async function createKey(bench: Bench, store: TurnpikeStore, name: string): Promise<string> {
  await runCommand(bench, store, ['account', 'create', name, '--balance', balanceUsd])
  const created = await runCommand(bench, store, ['key', 'create', name])
  return z.object({ key: z.string() }).parse(created).key
}

export interface StorePlan extends Pick<TurnpikeStore, 'name' | 'root'> {
  readonly folderName: string
  /** By default the store is embedded. */
  readonly storeUrl?: string | undefined
}

/** Creates a store with its catalogue and without accounts. */
export async function prepareStore(
  bench: Bench,
  { name, root, folderName, storeUrl }: StorePlan,
): Promise<TurnpikeStore> {
  const folder = join(bench.workFolder, folderName)
  mkdirSync(folder, { recursive: true })
  const environment = {
    TURNPIKE_STORE: storeUrl ?? `sqlite:${embeddedPath(folder)}`,
    TURNPIKE_MASTER_KEY_FILE: join(folder, 'master.key'),
    TURNPIKE_DRAIN_TIMEOUT: '5s',
    BENCH_VENDOR_CREDENTIAL: 'bench-vendor-credential',
  }
  const store = { name, root, key: '', adminToken: '', environment, folder }
  writeFileSync(cataloguePath(folder), JSON.stringify(catalogue(bench)))
  await runCommand(bench, store, ['apply', '-f', cataloguePath(folder)])
  const created = await runCommand(bench, store, ['admin-token', 'create'])
  return { ...store, adminToken: z.object({ token: z.string() }).parse(created).token }
}

export function cataloguePath(folder: string): string {
  return join(folder, 'catalogue.yaml')
}

export function embeddedPath(folder: string): string {
  return join(folder, 'turnpike.db')
}

export function catalogue(bench: Bench): object {
  const credential = 'env:BENCH_VENDOR_CREDENTIAL'
  const channel = (vendor: string, port: number, ...served: readonly string[]): object => ({
    vendor,
    url: `http://127.0.0.1:${port}`,
    credential,
    models: served,
    check: 'none',
  })
  return {
    vendors: {
      alpha: { format: 'messages', version_header: 'anthropic-version', credential: 'x-api-key' },
      beta: { format: 'chat', credential: 'bearer' },
    },
    models: {
      [models.messages]: { vendor: 'alpha', price },
      [models.stream]: { vendor: 'alpha', price },
      [models.chat]: { vendor: 'beta', price },
      [models.chatStream]: { vendor: 'beta', price },
      [models.responseStream]: { vendor: 'beta', price },
    },
    channels: {
      'alpha-json': channel('alpha', bench.jsonPort, models.messages),
      'alpha-stream': channel('alpha', bench.streamPort, models.stream),
      'beta-json': channel('beta', bench.jsonPort, models.chat),
      'beta-stream': channel('beta', bench.streamPort, models.chatStream, models.responseStream),
    },
  }
}

export interface GatewayOptions {
  /** The folder for its CPU profile; without one it makes none. */
  readonly profileFolder?: string
  /** Differs between the gateways on one store. */
  readonly nodeName?: string
  /**
   * Returns only when all processes serve and after the first audit, which would otherwise slow down one
   * measurement of several.
   */
  readonly awaitsAudit?: boolean
  readonly nodeOptions?: string
  /** Further variables of the gateway. */
  readonly environment?: Readonly<Record<string, string>>
  /** One by default. */
  readonly processCount?: number
}

export async function startTurnpike(
  bench: Bench,
  store: TurnpikeStore,
  options: GatewayOptions = {},
): Promise<Proxy> {
  const { profileFolder, nodeName = 'bench', awaitsAudit = false, processCount = 1 } = options
  const nodeOptions = [
    options.nodeOptions,
    profileFolder && `--cpu-prof --cpu-prof-dir=${profileFolder}`,
  ].filter((option) => option !== undefined)
  const port = await findFreePort()
  const adminPort = await findFreePort()
  const running = bench.group.start({
    name: store.name,
    command: [join(store.root, 'bin', 'turnpike'), 'serve'],
    core: bench.cores.proxy,
    folder: store.folder,
    environment: {
      ...store.environment,
      TURNPIKE_LISTEN: `127.0.0.1:${port}`,
      TURNPIKE_ADMIN_LISTEN: `127.0.0.1:${adminPort}`,
      TURNPIKE_NODE_NAME: nodeName,
      NODE_OPTIONS: nodeOptions.join(' '),
      ...(processCount === 1 ? {} : { TURNPIKE_PROCESSES: String(processCount) }),
      ...options.environment,
    },
    output: 'log',
  })
  await bench.group.waitForPort(running, port)
  if (awaitsAudit) {
    await bench.group.waitForPort(running, adminPort)
    await waitForFirstAudit(adminPort, store, processCount)
  }
  const title = store.name === 'turnpike' ? 'Turnpike' : 'baseline'
  const headers = { authorization: `Bearer ${store.key}` }
  const messagesHeaders = { 'x-api-key': store.key, 'anthropic-version': '2023-06-01' }
  return {
    name: store.name,
    port,
    process: running,
    requests: [
      { name: `${title}, chat`, format: 'chat', path: `/beta${formatPaths.chat}`, headers },
      {
        name: `${title}, messages`,
        format: 'messages',
        path: `/alpha${formatPaths.messages}`,
        headers: messagesHeaders,
      },
      {
        name: `${title}, nothing charged`,
        format: 'messages',
        path: `/alpha${freePath}`,
        headers: messagesHeaders,
        isFree: true,
      },
    ],
    stream: { path: `/alpha${formatPaths.messages}`, headers: messagesHeaders },
    healthPath: '/health',
    slow: {
      title,
      json: { path: `/beta${formatPaths.chat}`, headers },
      streams: {
        messages: { path: `/alpha${formatPaths.messages}`, headers: messagesHeaders },
        chat: { path: `/beta${formatPaths.chat}`, headers },
        responses: { path: `/beta${formatPaths.responses}`, headers },
      },
    },
  }
}

async function waitForFirstAudit(
  adminPort: number,
  { adminToken }: TurnpikeStore,
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

export async function readUsage(
  bench: Bench,
  store: TurnpikeStore,
): Promise<readonly ModelUsage[]> {
  const report = await runCommand(bench, store, ['usage', account, '--period', 'total'])
  return usageReport.parse(report).by_model
}

export async function readAudit(bench: Bench, store: TurnpikeStore): Promise<AuditReport> {
  return auditReport.parse(await runCommand(bench, store, ['audit']))
}

/** Runs one of the program's commands and returns its JSON answer. */
export async function runCommand(
  bench: Bench,
  store: TurnpikeStore,
  words: readonly string[],
): Promise<unknown> {
  const text = await bench.group.run(
    {
      name: `${store.name}-${words[0] ?? ''}`,
      command: [join(store.root, 'bin', 'turnpike'), ...words, '--json'],
      core: bench.cores.load,
      folder: store.folder,
      environment: store.environment,
    },
    commandLimitMs,
  )
  return JSON.parse(text)
}
