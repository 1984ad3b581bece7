/**
 * One store under measurement with its gateways: a hot account and many others, each with a key, made
 * by the program's own operations. Knows how to count its transactions and to read its books.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/base/clock.ts'
import { picos, usdNumber, zeroPicos } from '../../src/base/money.ts'
import { Secret } from '../../src/base/secret.ts'
import { createAccount } from '../../src/operations/accounts.ts'
import type { OperationContext } from '../../src/operations/context.ts'
import { createClientKey } from '../../src/operations/keys.ts'
import { accountUsage } from '../../src/operations/usage.ts'
import { openStore } from '../../src/storage/open.ts'
import type { PostgresServer } from '../../test/support/postgres.ts'
import type { Running } from '../processes.ts'
import type { Bench } from '../proxies/proxy.ts'
import {
  embeddedPath,
  prepareStore,
  readAudit,
  startTurnpike,
  type AuditReport,
  type ModelUsage,
  type TurnpikeStore,
} from '../proxies/turnpike.ts'
import type { StandName } from './figures.ts'
import { readEmbeddedTransactions, readServerTransactions } from './transactions.ts'

const hotAccount = 'hot'
const balanceUsd = '100000'

export interface Stand {
  readonly name: StandName
  readonly ports: readonly [number, ...number[]]
  readonly gateways: readonly Running[]
  readonly hotKey: string
  /** One key a line, of as many accounts. */
  readonly keysPath: string
  countTransactions(): Promise<number>
  stop(): Promise<void>
  /** Once the gateways have stopped. */
  readBooks(): Promise<{ readonly usage: readonly ModelUsage[]; readonly audit: AuditReport }>
}

export interface StandWish {
  readonly name: StandName
  readonly accounts: number
  readonly gateways: 1 | 2
  /** Absent where the store is embedded. */
  readonly server?: PostgresServer
}

export async function startStand(bench: Bench, wish: StandWish): Promise<Stand> {
  const { name, server } = wish
  const storeUrl = await server?.createDatabase()
  const store = await prepareStore(bench, name, storeUrl)
  const names = Array.from({ length: wish.accounts }, (_, index) => `account-${index}`)
  const [hotKey = '', ...keys] = await makeKeys(store, [hotAccount, ...names])
  // Plans depend on it. Autovacuum does so by itself, but within a minute, so in the middle of a run.
  if (storeUrl !== undefined)
    await server?.run('VACUUM ANALYZE', new URL(storeUrl).pathname.slice(1))
  const keysPath = join(store.folder, 'keys')
  writeFileSync(keysPath, keys.join('\n') + '\n', { mode: 0o600 })
  const first = await startTurnpike(bench, store, { nodeName: 'bench-1', awaitsAudit: true })
  const others =
    wish.gateways === 1
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
    readBooks: async () => ({
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

/** By model, over all accounts. */
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
      const { figures } = await accountUsage(context, { account, period: 'total' })
      for (const line of figures.byModel) {
        const sum = sums.get(line.model) ?? { requests: 0, input: 0, output: 0, cost: zeroPicos }
        sum.requests += line.requests
        sum.input += line.inputTokens
        sum.output += line.outputTokens
        sum.cost += line.costPicos
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
      // Accounts and keys need nothing sealed.
      masterKey: () => new Secret(''),
      environment: (name) => store.environment[name],
    })
  } finally {
    await database.close()
  }
}
