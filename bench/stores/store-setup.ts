/**
 * One measured store with its gateways: one busy account and many others, each with a key, created by the
 * program's own operations. Counts the store's transactions from outside and reads its ledger.
 */
import { noCheck } from '../../src/operations/channels/run-check.ts'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/base/clock.ts'
import { parseUsd, picos, usdNumber, zeroPicos } from '../../src/base/money.ts'
import { Secret } from '../../src/base/secret.ts'
import type { OperationContext } from '../../src/operations/operation.ts'
import { openStore } from '../../src/storage/open.ts'
import { accountUsage, createAccount, createClientKey } from '../../test/support/operations.ts'
import type { PostgresServer } from '../../test/support/postgres.ts'
import { findProcessTree, readThreadTimes, type ThreadTimes } from '../measure/process-cost.ts'
import type { Running } from '../processes.ts'
import type { Bench } from '../proxies/proxy.ts'
import {
  type AuditReport,
  embeddedPath,
  type ModelUsage,
  prepareStore,
  readAudit,
  startTurnpike,
  type TurnpikeStore,
} from '../proxies/turnpike.ts'
import type { StoreSetupName } from './report.ts'

const hotAccount = 'hot'
const balanceUsd = '100000'

export interface StoreSetup {
  readonly name: StoreSetupName
  readonly ports: readonly [number, ...number[]]
  readonly gateways: readonly Running[]
  readonly hotKey: string
  /** One key per line, each of another account. */
  readonly keysPath: string
  countTransactions(): Promise<number>
  stop(): Promise<void>
  /** Only after the gateways have stopped. */
  readLedger(): Promise<{ readonly usage: readonly ModelUsage[]; readonly audit: AuditReport }>
}

export interface StoreSetupOptions {
  readonly name: StoreSetupName
  readonly accounts: number
  readonly gateways: 1 | 2
  /** Absent for an embedded store. */
  readonly server?: PostgresServer
}

export async function startStoreSetup(
  bench: Bench,
  options: StoreSetupOptions,
): Promise<StoreSetup> {
  const { name, server } = options
  const storeUrl = await server?.createDatabase()
  const program = { name: 'turnpike', root: bench.root } as const
  const store = await prepareStore(bench, { ...program, folderName: name, storeUrl })
  const names = Array.from({ length: options.accounts }, (_, index) => `account-${index}`)
  const [hotKey = '', ...keys] = await makeKeys(store, [hotAccount, ...names])
  // Query plans need it. Otherwise autovacuum would do it within a minute, in the middle of a run.
  if (storeUrl !== undefined)
    await server?.run('VACUUM ANALYZE', new URL(storeUrl).pathname.slice(1))
  const keysPath = join(store.folder, 'keys')
  writeFileSync(keysPath, keys.join('\n') + '\n', { mode: 0o600 })
  const first = await startTurnpike(bench, store, { nodeName: 'bench-1', awaitsAudit: true })
  const others =
    options.gateways === 1
      ? []
      : [await startTurnpike(bench, store, { nodeName: 'bench-2', awaitsAudit: true })]
  const gateways = [first, ...others].map((gateway) => gateway.process)
  return {
    name,
    ports: [first.port, ...others.map(({ port }) => port)],
    gateways,
    hotKey,
    keysPath,
    countTransactions: async () =>
      server === undefined
        ? readEmbeddedTransactions(embeddedPath(store.folder))
        : readServerTransactions(server),
    stop: async () => {
      await Promise.all(gateways.map((gateway) => bench.group.stop(gateway)))
    },
    readLedger: async () => ({
      usage: await readUsageOfAll(store, [hotAccount, ...names]),
      audit: await readAudit(bench, store),
    }),
  }
}

function makeKeys(store: TurnpikeStore, accounts: readonly string[]): Promise<readonly string[]> {
  return withContext(store, async (context) => {
    const keys: string[] = []
    for (const name of accounts) {
      const account = await createAccount(context, { name, balance_usd: balanceUsd })
      const { secret } = await createClientKey(context, { account: account.id, name: 'bench' })
      keys.push(secret)
    }
    return keys
  })
}

/** Sums the usage of all accounts by model. */
function readUsageOfAll(
  store: TurnpikeStore,
  accounts: readonly string[],
): Promise<readonly ModelUsage[]> {
  return withContext(store, async (context) => {
    const sums = new Map<
      string,
      { requests: number; input: number; output: number; cost: bigint }
    >()
    for (const account of accounts) {
      const usage = await accountUsage(context, { account, period: 'total' })
      for (const line of usage.by_model) {
        const sum = sums.get(line.model) ?? { requests: 0, input: 0, output: 0, cost: zeroPicos }
        sum.requests += line.requests
        sum.input += line.input_tokens
        sum.output += line.output_tokens
        sum.cost += parseUsd(line.cost_usd) ?? zeroPicos
        sums.set(line.model, sum)
      }
    }
    return [...sums].map(([model, { requests, input, output, cost }]) => ({
      model,
      requests,
      input_tokens: input,
      output_tokens: output,
      cost_usd: usdNumber(picos(cost)),
    }))
  })
}

async function withContext<Result>(
  store: TurnpikeStore,
  work: (context: OperationContext) => Promise<Result>,
): Promise<Result> {
  const database = await openStore(store.environment['TURNPIKE_STORE'] ?? '')
  try {
    return await work({
      database,
      clock: systemClock,
      actor: 'bench',
      // Accounts and keys need no master key.
      masterKey: () => new Secret(''),
      environment: (name) => store.environment[name],
      runCheck: noCheck,
    })
  } finally {
    await database.close()
  }
}

/** Offset of the count of committed transactions in the index of SQLite's write-ahead log. */
const countOffset = 8

/** Returns a counter that wraps at 2^32, far above what a run commits. Only differences have a meaning. */
export function readEmbeddedTransactions(path: string): number {
  const index = readFileSync(`${path}-shm`)
  return new DataView(index.buffer, index.byteOffset).getUint32(countOffset, true)
}

/**
 * Returns the transaction counter of the server, which all its databases share. Only writing transactions
 * increase it. The statistics views show commits only seconds later.
 */
export async function readServerTransactions(server: PostgresServer): Promise<number> {
  return Number(await server.run('SELECT pg_snapshot_xmax(pg_current_snapshot())'))
}

/** Of the current processes: the server starts one per connection. */
export function readServerTimes({ folder }: PostgresServer): ThreadTimes {
  const [pid] = readFileSync(join(folder, 'data', 'postmaster.pid'), 'utf8').split('\n')
  return readThreadTimes(findProcessTree(Number(pid)))
}
