/**
 * Starts what the measurements with slow answers compare: the load on itself, the proxies, and Turnpike on
 * both stores, also that of another checkout.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { PostgresServer } from '../../test/support/postgres.ts'
import { findProcessTree, readThreadTimes, type ThreadTimes } from '../measure/process-cost.ts'
import type { MoneyLine } from '../measure/figures.ts'
import { ServedCounts } from '../measure/served.ts'
import type { Plan, ProxyName } from '../options.ts'
import { plainCases, startNginxProxy } from '../proxies/nginx.ts'
import { startEnvoy, startHaproxy, startLitellm, startPortkey } from '../proxies/peers.ts'
import type { Bench, Proxy, SlowCases } from '../proxies/proxy.ts'
import type { PythonPeers } from '../proxies/python-peers.ts'
import {
  embeddedPath,
  prepareTurnpike,
  readAudit,
  readUsage,
  startTurnpike,
  type TurnpikeStore,
} from '../proxies/turnpike.ts'
import {
  readEmbeddedTransactions,
  readServerTimes,
  readServerTransactions,
} from '../stores/store-setup.ts'

export interface Target {
  /** `none`: the load reaches its own vendor without a proxy. */
  readonly name: ProxyName | 'none'
  readonly title: string
  readonly port: number
  readonly cases: SlowCases
  /** Absent without a proxy. */
  readonly proxy?: Proxy
  readonly books?: Books
}

/** The store of a gateway, as it is seen from outside. */
interface Books {
  readonly served: ServedCounts
  countTransactions(): Promise<number>
  /** Of the store's own processes. */
  readTimes(): ThreadTimes
  compare(): Promise<readonly MoneyLine[]>
}

export interface TargetSetting {
  readonly bench: Bench
  readonly plan: Plan
  /** Absent if nothing is measured on PostgreSQL. */
  readonly server: PostgresServer | undefined
  readonly python: PythonPeers | undefined
  readonly hasHaproxy: boolean
  /** Distinguishes the stores of several parts. */
  readonly part: string
  readonly profileFolder: string | undefined
}

/** The measured rate times the delay is more than one key may have by default. */
const environment = {
  TURNPIKE_MAX_RUNNING_PER_KEY: '0',
  TURNPIKE_MAX_RUNNING_PER_ACCOUNT: '0',
  TURNPIKE_MAX_CONNECTIONS: '20000',
  // All clients have one address.
  TURNPIKE_MAX_CONNECTIONS_PER_ADDRESS: '0',
}

export function loadAlone(bench: Bench): Target {
  const cases = { title: 'no proxy', ...plainCases() }
  return { name: 'none', title: cases.title, port: bench.jsonPort, cases }
}

export async function startTargets(setting: TargetSetting): Promise<readonly Target[]> {
  const { bench, plan, server, python, hasHaproxy } = setting
  const targets: Target[] = []
  const add = (proxy: Proxy): void => void targets.push(toTarget(proxy))
  if (plan.proxies.has('nginx')) add(await startNginxProxy(bench))
  if (hasHaproxy) add(await startHaproxy(bench))
  if (python !== undefined && plan.proxies.has('envoy')) add(await startEnvoy(bench, python.envoy))
  if (plan.against !== undefined) targets.push(...(await startOurs(setting, plan.against)))
  targets.push(...(await startOurs(setting, bench.root)))
  if (plan.proxies.has('portkey')) add(await startPortkey(bench))
  if (python !== undefined && plan.proxies.has('litellm'))
    add(await startLitellm(bench, python.litellm))
  return targets

  async function startOurs(
    { part, profileFolder }: TargetSetting,
    root: string,
  ): Promise<readonly Target[]> {
    const isBaseline = root !== bench.root
    const ours: Target[] = []
    for (const name of ['turnpike', 'postgres'] as const) {
      const onServer = name === 'postgres' ? server : undefined
      if (!plan.proxies.has(name) || (name === 'postgres' && server === undefined)) continue
      const program = { name: isBaseline ? 'baseline' : 'turnpike', root } as const
      const folder = `${part}-${program.name}-${name}`
      const target = await startGateway(bench, { program, folder, server: onServer, profileFolder })
      const title = `${target.title}, ${onServer === undefined ? 'SQLite' : 'PostgreSQL'}`
      ours.push({ ...target, name: nameOf(isBaseline, onServer !== undefined), title })
    }
    return ours
  }
}

export interface GatewayPlan {
  readonly program: Pick<TurnpikeStore, 'name' | 'root'>
  readonly folder: string
  /** By default the store is embedded. */
  readonly server: PostgresServer | undefined
  readonly profileFolder: string | undefined
  /** One by default. */
  readonly processCount?: number
}

/** Starts a gateway of ours on a new store. */
export async function startGateway(
  bench: Bench,
  { program, folder, server, profileFolder, processCount = 1 }: GatewayPlan,
): Promise<Target & { readonly proxy: Proxy }> {
  const store = await prepareTurnpike(bench, program, folder, await server?.createDatabase())
  const profiles = profileFolder === undefined ? undefined : join(profileFolder, folder)
  if (profiles !== undefined) mkdirSync(profiles, { recursive: true })
  const proxy = await startTurnpike(bench, store, {
    awaitsAudit: true,
    environment,
    processCount,
    ...(profiles !== undefined && { profileFolder: profiles }),
  })
  return { ...toTarget(proxy), proxy, books: booksOf(bench, store, server) }
}

function toTarget(proxy: Proxy): Target {
  const { name, port, slow } = proxy
  return { name, title: slow.title, port, cases: slow, proxy }
}

function nameOf(isBaseline: boolean, isOnServer: boolean): ProxyName {
  if (isBaseline) return isOnServer ? 'baseline-postgres' : 'baseline'
  return isOnServer ? 'postgres' : 'turnpike'
}

function booksOf(bench: Bench, store: TurnpikeStore, server: PostgresServer | undefined): Books {
  const served = new ServedCounts()
  return {
    served,
    countTransactions: async () =>
      server === undefined
        ? readEmbeddedTransactions(embeddedPath(store.folder))
        : readServerTransactions(server),
    readTimes: () => (server === undefined ? new Map() : readServerTimes(server)),
    compare: async () =>
      served.compare(await readUsage(bench, store), await readAudit(bench, store)),
  }
}

/** Of all threads of the proxy. */
export function readProxyTimes(target: Target): ThreadTimes {
  return readThreadTimes(findPids(target))
}

export function findPids({ proxy }: Target): readonly number[] {
  return proxy === undefined ? [] : findProcessTree(proxy.process.pid)
}

/** Stops the proxies, then compares each gateway's charges with the vendor's answers. */
export async function stopAndCompare(
  { group }: Bench,
  targets: readonly Target[],
): Promise<readonly MoneyLine[]> {
  await Promise.all(
    targets.map(async ({ proxy }) => {
      if (proxy !== undefined) await group.stop(proxy.process)
    }),
  )
  const money: MoneyLine[] = []
  for (const { title, books } of targets) {
    const lines = (await books?.compare()) ?? []
    money.push(...lines.map(({ what, isRight }) => ({ what: `${title}, ${what}`, isRight })))
  }
  return money
}
