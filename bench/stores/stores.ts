/**
 * What the store costs: the same gateway on SQLite, on PostgreSQL, and twice on one PostgreSQL, under
 * the same load in rounds that take turns, beside no proxy and nginx as floors. One hot account, where
 * every charge meets the same row, and many. At the end each store's books are compared with what was
 * served, and audited.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startPostgres, type PostgresServer } from '../../test/support/postgres.ts'
import { formatPaths, freePath, models, type FormatName } from '../exchanges.ts'
import { chooseCores, describeMachine, moveToCore } from '../machine.ts'
import type { MoneyLine } from '../measure/figures.ts'
import {
  findProcessTree,
  readThreadTimes,
  usedBetween,
  type ThreadTimes,
} from '../measure/process-cost.ts'
import { rotate } from '../measure/requests.ts'
import { ServedBook } from '../measure/served.ts'
import { afterglowMs, runWrk, type WrkLoad } from '../measure/wrk.ts'
import type { StoresPlan } from '../options.ts'
import type { ProcessGroup, Running } from '../processes.ts'
import { readServedCount, startJsonUpstream, startNginxProxy } from '../proxies/nginx.ts'
import type { Bench } from '../proxies/proxy.ts'
import { provideTools } from '../tools.ts'
import type { StoreFigures, StoreRound } from './figures.ts'
import { startStand, type Stand } from './stand.ts'

/** Room for its pages in memory as a small server in production has; all else as it comes. */
const serverSettings = { shared_buffers: '256MB', max_wal_size: '1GB' }

export interface StoresSetting {
  readonly plan: StoresPlan
  readonly group: ProcessGroup
  readonly workFolder: string
  readonly root: string
}

/** One row of the table: somewhere to ask, by so many accounts. */
interface Case {
  readonly place: StoreRound['place']
  readonly accounts: number
  readonly format: FormatName
  readonly target: Pick<WrkLoad, 'ports' | 'path' | 'headers' | 'keysPath'>
  readonly gateways: readonly Running[]
  /** Absent at the floors. */
  readonly stand?: Stand
}

export async function measureStores(setting: StoresSetting): Promise<StoreFigures> {
  const { plan, group, workFolder, root } = setting
  provideTools(false)
  const cores = chooseCores()
  moveToCore(cores.load)
  const upstream = await startJsonUpstream(group, workFolder, cores.load)
  const bench: Bench = {
    group,
    cores,
    workFolder,
    root,
    jsonPort: upstream.port,
    // Nothing of this part streams; whoever wants to know where streams are finds nobody there.
    streamPort: upstream.port,
  }
  // Beside the work folder: the server runs as another account, which may not look into it.
  const server = await startPostgres({
    settings: serverSettings,
    parentFolder: dirname(workFolder),
  })
  try {
    const figures = await new StoresRun(bench, plan, server).measure()
    return {
      machine: describeMachine(root, workFolder, join(root, 'bench', 'peers')),
      plan,
      server: await server.run('SHOW server_version'),
      ...figures,
    }
  } finally {
    await group.stopAll()
    await server.close()
  }
}

class StoresRun {
  readonly #bench: Bench
  readonly #plan: StoresPlan
  readonly #server: PostgresServer
  readonly #books = new Map<Stand, ServedBook>()

  constructor(bench: Bench, plan: StoresPlan, server: PostgresServer) {
    this.#bench = bench
    this.#plan = plan
    this.#server = server
  }

  async measure(): Promise<Pick<StoreFigures, 'rounds' | 'money'>> {
    const stands = await this.#startStands()
    const cases = [
      ...(await this.#floors()),
      ...stands.slice(0, 1).map((stand) => freeCase(stand)),
      ...stands.flatMap((stand) => this.#casesOf(stand)),
    ]
    const rounds: StoreRound[] = []
    // Many first: code is compiled for good only after some ten thousand requests.
    for (const connections of this.#plan.connections.toReversed()) {
      for (let round = -1; round < this.#plan.rounds; round++) {
        const isWarmUp = round < 0
        const seconds = isWarmUp ? this.#plan.warmUpSeconds : this.#plan.seconds
        for (const given of rotate(cases, round)) {
          const measured = await this.#measureOnce(given, connections, seconds)
          if (!isWarmUp) rounds.push(measured)
        }
      }
    }
    const money: MoneyLine[] = []
    for (const stand of stands) money.push(...(await this.#compare(stand)))
    return { rounds: rounds.toSorted(byConnections), money }
  }

  async #startStands(): Promise<readonly Stand[]> {
    const { accounts } = this.#plan
    const server = this.#server
    console.error(`bench: stores: making three stores of ${accounts} accounts`)
    return [
      await startStand(this.#bench, { name: 'sqlite', accounts, gateways: 1 }),
      await startStand(this.#bench, { name: 'postgres', accounts, gateways: 1, server }),
      await startStand(this.#bench, { name: 'postgres-two', accounts, gateways: 2, server }),
    ]
  }

  async #floors(): Promise<readonly Case[]> {
    const nginx = await startNginxProxy(this.#bench)
    const floor = { path: formatPaths.chat, headers: {} }
    return [
      {
        place: 'none',
        accounts: 0,
        format: 'chat',
        target: { ...floor, ports: [this.#bench.jsonPort] },
        gateways: [],
      },
      {
        place: 'nginx',
        accounts: 0,
        format: 'chat',
        target: { ...floor, ports: [nginx.port] },
        gateways: [nginx.process],
      },
    ]
  }

  #casesOf(stand: Stand): readonly Case[] {
    const { name: place, ports, gateways, hotKey, keysPath } = stand
    const target = { ports, path: `/beta${formatPaths.chat}`, headers: {} }
    const common = { place, format: 'chat', gateways, stand } as const
    return [
      { ...common, accounts: 1, target: { ...target, headers: bearer(hotKey) } },
      { ...common, accounts: this.#plan.accounts, target: { ...target, keysPath } },
    ]
  }

  async #measureOnce(given: Case, connections: number, seconds: number): Promise<StoreRound> {
    const { place, accounts, format, target, stand } = given
    const gatewayPids = given.gateways.flatMap(({ pid }) => findProcessTree(pid))
    const servedBefore = await readServedCount(this.#bench.jsonPort)
    const transactionsBefore = (await stand?.countTransactions()) ?? Number.NaN
    const gatewayBefore = readThreadTimes(gatewayPids)
    const serverBefore = readServerTimes(this.#server)
    const result = await runWrk(this.#bench, { ...target, format, connections, seconds })
    const gatewayCpu = usedBetween(gatewayBefore, readThreadTimes(gatewayPids))
    const serverCpu = usedBetween(serverBefore, readServerTimes(this.#server))
    const transactions = ((await stand?.countTransactions()) ?? Number.NaN) - transactionsBefore
    // What was under way when the load ended is answered meanwhile. Asking is counted itself.
    await delay(afterglowMs)
    const answered = (await readServedCount(this.#bench.jsonPort)) - servedBefore - 1
    const failures = result.badStatus + result.socketErrors
    if (failures * 100 > result.requests || result.requests === 0)
      throw new Error(`${place}: ${failures} of ${result.requests} requests failed`)
    if (stand !== undefined) {
      const complete = result.requests - result.badStatus
      this.#bookOf(stand).add(models.chat, { complete, answered, outputTokens: 0 })
    }
    return {
      place,
      accounts,
      connections,
      requests: result.requests,
      failures,
      requestsPerSecond: result.requests / (result.durationUs / 1e6),
      p50Us: result.p50Us,
      p99Us: result.p99Us,
      gatewayCpuUs: gatewayCpu.totalUs,
      serverCpuUs: serverCpu.totalUs,
      transactions,
    }
  }

  #bookOf(stand: Stand): ServedBook {
    const book = this.#books.get(stand) ?? new ServedBook()
    this.#books.set(stand, book)
    return book
  }

  async #compare(stand: Stand): Promise<readonly MoneyLine[]> {
    await stand.stop()
    const { usage, audit } = await stand.readBooks()
    return this.#bookOf(stand)
      .compare(usage, audit)
      .map(({ what, isRight }) => ({ what: `${stand.name}, ${what}`, isRight }))
  }
}

function byConnections(left: StoreRound, right: StoreRound): number {
  return left.connections - right.connections
}

/** The gateway with everything but money: counting tokens holds and charges nothing. */
function freeCase({ ports, gateways, hotKey }: Stand): Case {
  return {
    place: 'free',
    accounts: 0,
    format: 'messages',
    target: { ports, path: `/alpha${freePath}`, headers: bearer(hotKey) },
    gateways,
  }
}

function bearer(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}` }
}

/** Of the processes there are now: the server starts one for each connection. */
function readServerTimes({ folder }: PostgresServer): ThreadTimes {
  const [pid] = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')
  return readThreadTimes(findProcessTree(Number(pid)))
}
