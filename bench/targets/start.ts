/**
 * Starts what a run compares: the load on itself, the proxies, and Turnpike in several ways, also that of
 * another checkout.
 */
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { z } from 'zod'
import type { PostgresServer } from '../../test/support/postgres.ts'
import { findProcessTree, readThreadTimes, type ThreadTimes } from '../measure/process-cost.ts'
import type { MoneyLine } from '../measure/served.ts'
import type { Plan, TargetName } from '../options.ts'
import { forwarding, startNginx } from './nginx.ts'
import { startEnvoy, startLean, startLitellm, startPortkey } from './peers.ts'
import type { PythonPeers } from './python-peers.ts'
import { stopTarget, type Bench, type Target } from './target.ts'
import { prepareStore, startTurnpike, type Gateway, type Store } from './turnpike.ts'

export interface TargetSetting {
  readonly bench: Bench
  readonly plan: Plan
  /** Absent if nothing is measured on PostgreSQL. */
  readonly server: PostgresServer | undefined
  readonly python: PythonPeers | undefined
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

interface Way {
  readonly title: string
  readonly isOnServer?: boolean
  readonly gateways?: number
  readonly processes?: number
  readonly isTraced?: boolean
}

/** The ways in which our gateway is measured. */
const ways = {
  turnpike: { title: 'Turnpike, SQLite' },
  traced: { title: 'Turnpike, SQLite, all traced', isTraced: true },
  postgres: { title: 'Turnpike, PostgreSQL', isOnServer: true },
  'two-gateways': { title: 'Turnpike, PostgreSQL, two gateways', isOnServer: true, gateways: 2 },
  'two-processes': { title: 'Turnpike, PostgreSQL, two processes', isOnServer: true, processes: 2 },
} as const satisfies Readonly<Partial<Record<TargetName, Way>>>

export function loadAlone(bench: Bench): Target {
  const ports = [bench.vendorPort] as const
  return { name: 'none', title: 'no proxy', ports, processes: [], cases: forwarding }
}

export async function startTargets(setting: TargetSetting): Promise<readonly Target[]> {
  const { bench, plan, python } = setting
  const targets: Target[] = []
  const add = async (name: TargetName, start: () => Promise<Target>): Promise<void> => {
    if (plan.targets.has(name)) targets.push(await start())
  }
  await add('nginx', () => startNginx(bench))
  await add('lean', () => startLean(bench))
  if (python !== undefined) await add('envoy', () => startEnvoy(bench, python.envoy))
  for (const [name, way] of Object.entries<Way>(ways)) {
    const { against } = plan
    const onServer = way.isOnServer === true ? setting.server : undefined
    if (!plan.targets.has(name as TargetName) || (way.isOnServer && onServer === undefined))
      continue
    if (against !== undefined)
      targets.push(
        await startOurs(
          { ...setting, bench: { ...bench, root: against } },
          { ...way, name: `baseline-${name}`, title: `baseline: ${way.title}`, onServer },
        ),
      )
    targets.push(await startOurs(setting, { ...way, name, onServer }))
  }
  await add('portkey', () => startPortkey(bench))
  if (python !== undefined) await add('litellm', () => startLitellm(bench, python.litellm))
  return targets
}

interface OurWay extends Way {
  readonly name: string
  readonly onServer: PostgresServer | undefined
}

async function startOurs(setting: TargetSetting, way: OurWay): Promise<Target> {
  const { bench, plan, part } = setting
  const folder = `${part}-${way.name}`
  const store = await prepareStore(bench, folder, { server: way.onServer })
  const profileFolder = setting.profileFolder && join(setting.profileFolder, folder)
  if (profileFolder !== undefined) mkdirSync(profileFolder, { recursive: true })
  const traces = way.isTraced === true ? { TURNPIKE_OTLP_ENDPOINT: await collectTraces() } : {}
  const target = await startTurnpike(bench, store, {
    ...way,
    awaitsAudit: true,
    environment: { ...environment, ...traces },
    profileFolder,
  })
  if (!plan.parts.has('requests')) return target
  const keys = await createKeys(target, store)
  const many = { ...target.cases.json, headers: {}, keys }
  return { ...target, cases: { ...target.cases, many } }
}

const accounts = 1_000
const createdAtOnce = 8
const created = z.looseObject({ id: z.string().default(''), secret: z.string().default('') })

/** Returns the keys of many new accounts. */
async function createKeys({ adminPort }: Gateway, store: Store): Promise<readonly string[]> {
  const post = async (below: string, body: object): Promise<z.output<typeof created>> => {
    const answer = await fetch(`http://127.0.0.1:${adminPort}/admin/v1/accounts${below}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${store.adminToken}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    })
    return created.parse(await answer.json())
  }
  const keys: string[] = []
  let index = 0
  const createSome = async (): Promise<void> => {
    while (index < accounts) {
      const { id } = await post('', { name: `account-${index++}`, balance_usd: '1000' })
      keys.push((await post(`/${id}/keys`, { name: 'bench' })).secret)
    }
  }
  await Promise.all(Array.from({ length: createdAtOnce }, createSome))
  // Query plans need it. Otherwise autovacuum would do it within a minute, in the middle of a run.
  const database = new URL(store.environment['TURNPIKE_STORE'] ?? '').pathname.slice(1)
  await store.server?.run('VACUUM ANALYZE', database)
  return keys
}

/** Returns the address of what takes all spans and keeps none, until the benchmark ends. */
async function collectTraces(): Promise<string> {
  const server = createServer((received, answer) => {
    received.resume().on('end', () => answer.end())
  })
  server.unref().listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Of all threads of the target. */
export function readTargetTimes(target: Target): ThreadTimes {
  return readThreadTimes(findPids(target))
}

export function findPids({ processes }: Target): readonly number[] {
  return processes.flatMap(({ pid }) => findProcessTree(pid))
}

/** Stops the targets, then compares each gateway's charges with the vendors' answers. */
export async function stopAndCompare(
  bench: Bench,
  targets: readonly Target[],
): Promise<readonly MoneyLine[]> {
  await Promise.all(targets.map((target) => stopTarget(bench, target)))
  const money: MoneyLine[] = []
  for (const { title, books } of targets) {
    const lines = (await books?.compare()) ?? []
    money.push(...lines.map(({ what, isRight }) => ({ what: `${title}, ${what}`, isRight })))
  }
  return money
}
