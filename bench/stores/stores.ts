/**
 * Measures what the store costs: one gateway on SQLite, one on PostgreSQL and two on one PostgreSQL,
 * under the same load in turn, compared with no proxy and with nginx. One busy account, where all
 * charges change the same row, and many accounts. At the end each ledger is audited and compared with
 * what was served.
 */
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startPostgres, type PostgresServer } from '../../test/support/postgres.ts'
import { formatPaths, freePath, models, type FormatName } from '../exchanges.ts'
import { chooseCores, describeMachine, moveToCore, provideTools } from '../machine.ts'
import type { MoneyLine } from '../measure/figures.ts'
import { findProcessTree, readThreadTimes, usedBetween } from '../measure/process-cost.ts'
import { lateAnswersMs, rotate, runWrk, type WrkLoad } from '../measure/requests.ts'
import { ServedCounts } from '../measure/served.ts'
import type { StoresPlan } from '../options.ts'
import type { ProcessGroup, Running } from '../processes.ts'
import { readServedCount, startJsonUpstream, startNginxProxy } from '../proxies/nginx.ts'
import type { Bench } from '../proxies/proxy.ts'
import type { StoreFigures, StoreRound } from './report.ts'
import { readServerTimes, startStoreSetup, type StoreSetup } from './store-setup.ts'

/** The memory of a small production server; other settings have their defaults. */
export const serverSettings = { shared_buffers: '256MB', max_wal_size: '1GB' }

export interface StoresSetting {
  readonly plan: StoresPlan
  readonly group: ProcessGroup
  readonly workFolder: string
  readonly root: string
}

/** One row of the table: a target and the number of accounts. */
interface Case {
  readonly place: StoreRound['place']
  readonly accounts: number
  readonly format: FormatName
  readonly target: Pick<WrkLoad, 'ports' | 'path' | 'headers' | 'keysPath'>
  readonly gateways: readonly Running[]
  /** Absent for no proxy and nginx. */
  readonly setup?: StoreSetup
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
    // This part has no streams.
    streamPort: upstream.port,
  }
  // Not in the work folder: the server runs as another system user, which may not read it.
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
  readonly #counts = new Map<StoreSetup, ServedCounts>()

  constructor(bench: Bench, plan: StoresPlan, server: PostgresServer) {
    this.#bench = bench
    this.#plan = plan
    this.#server = server
  }

  async measure(): Promise<Pick<StoreFigures, 'rounds' | 'money'>> {
    const setups = await this.#startStoreSetups()
    const cases = [
      ...(await this.#floors()),
      ...setups.slice(0, 1).map((setup) => freeCase(setup)),
      ...setups.flatMap((setup) => this.#casesOf(setup)),
    ]
    const rounds: StoreRound[] = []
    // Many first: V8 has optimized the code only after some ten thousand requests.
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
    for (const setup of setups) money.push(...(await this.#compare(setup)))
    return { rounds: rounds.toSorted(byConnections), money }
  }

  async #startStoreSetups(): Promise<readonly StoreSetup[]> {
    const { accounts } = this.#plan
    const server = this.#server
    console.error(`bench: stores: creating three stores of ${accounts} accounts`)
    return [
      await startStoreSetup(this.#bench, { name: 'sqlite', accounts, gateways: 1 }),
      await startStoreSetup(this.#bench, { name: 'postgres', accounts, gateways: 1, server }),
      await startStoreSetup(this.#bench, { name: 'postgres-two', accounts, gateways: 2, server }),
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

  #casesOf(setup: StoreSetup): readonly Case[] {
    const { name: place, ports, gateways, hotKey, keysPath } = setup
    const target = { ports, path: `/beta${formatPaths.chat}`, headers: {} }
    const common = { place, format: 'chat', gateways, setup } as const
    return [
      { ...common, accounts: 1, target: { ...target, headers: bearer(hotKey) } },
      { ...common, accounts: this.#plan.accounts, target: { ...target, keysPath } },
    ]
  }

  async #measureOnce(given: Case, connections: number, seconds: number): Promise<StoreRound> {
    const { place, accounts, format, target, setup } = given
    const gatewayPids = given.gateways.flatMap(({ pid }) => findProcessTree(pid))
    const servedBefore = await readServedCount(this.#bench.jsonPort)
    const transactionsBefore = (await setup?.countTransactions()) ?? Number.NaN
    const gatewayBefore = readThreadTimes(gatewayPids)
    const serverBefore = readServerTimes(this.#server)
    const result = await runWrk(this.#bench, { ...target, format, connections, seconds })
    const gatewayCpu = usedBetween(gatewayBefore, readThreadTimes(gatewayPids))
    const serverCpu = usedBetween(serverBefore, readServerTimes(this.#server))
    const transactions = ((await setup?.countTransactions()) ?? Number.NaN) - transactionsBefore
    // The upstream still answers the requests that were running at the end. The count includes this query.
    await delay(lateAnswersMs)
    const answered = (await readServedCount(this.#bench.jsonPort)) - servedBefore - 1
    const failures = result.badStatus + result.socketErrors
    if (failures * 100 > result.requests || result.requests === 0)
      throw new Error(`${place}: ${failures} of ${result.requests} requests failed`)
    if (setup !== undefined) {
      const complete = result.requests - result.badStatus
      this.#countsOf(setup).add(models.chat, { complete, answered, outputTokens: 0 })
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

  #countsOf(setup: StoreSetup): ServedCounts {
    const served = this.#counts.get(setup) ?? new ServedCounts()
    this.#counts.set(setup, served)
    return served
  }

  async #compare(setup: StoreSetup): Promise<readonly MoneyLine[]> {
    await setup.stop()
    const { usage, audit } = await setup.readLedger()
    return this.#countsOf(setup)
      .compare(usage, audit)
      .map(({ what, isRight }) => ({ what: `${setup.name}, ${what}`, isRight }))
  }
}

function byConnections(left: StoreRound, right: StoreRound): number {
  return left.connections - right.connections
}

/** The gateway without the ledger: counting tokens makes no hold and no charge. */
function freeCase({ ports, gateways, hotKey }: StoreSetup): Case {
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
