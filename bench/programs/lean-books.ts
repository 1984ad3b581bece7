/**
 * The books of the lean relay: a thread that puts charges, which are durable in the journal already, into
 * SQLite. One row for each exchange, and sums by day and account, as little as any gateway needs to tell
 * later who spent how much.
 */
import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/** One exchange. */
export interface Charge {
  readonly id: string
  readonly account: string
  readonly model: string
  readonly atMs: number
  readonly inputTokens: number
  readonly outputTokens: number
  /** Millionths of a USD. */
  readonly costMicro: number
}

const database = new DatabaseSync(String(workerData))
database.exec(`
  PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE exchanges (
    id TEXT PRIMARY KEY, account TEXT, model TEXT, at_ms INTEGER, input INTEGER, output INTEGER,
    cost INTEGER
  );
  CREATE INDEX exchanges_by_account ON exchanges (account, at_ms);
  CREATE TABLE accounts (id TEXT PRIMARY KEY, spent INTEGER);
  CREATE TABLE days (
    day TEXT, account TEXT, model TEXT, exchanges INTEGER, cost INTEGER,
    PRIMARY KEY (day, account, model)
  );
`)
const begin = database.prepare('BEGIN IMMEDIATE')
const commit = database.prepare('COMMIT')
const insert = database.prepare('INSERT OR IGNORE INTO exchanges VALUES (?, ?, ?, ?, ?, ?, ?)')
const spend = database.prepare(
  'INSERT INTO accounts VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET spent = spent + excluded.spent',
)
const addToDay = database.prepare(`
  INSERT INTO days VALUES (?, ?, ?, ?, ?) ON CONFLICT (day, account, model)
  DO UPDATE SET exchanges = exchanges + excluded.exchanges, cost = cost + excluded.cost
`)

parentPort?.on('message', (charges: readonly Charge[]) => {
  begin.run()
  for (const { id, account, model, atMs, inputTokens, outputTokens, costMicro } of charges)
    insert.run(id, account, model, atMs, inputTokens, outputTokens, costMicro)
  const dayOf = ({ atMs }: Charge): string => new Date(atMs).toISOString().slice(0, 10)
  const groups = Map.groupBy(charges, (one) => `${dayOf(one)} ${one.account} ${one.model}`)
  for (const group of groups.values()) {
    const [first] = group
    if (first === undefined) continue
    const cost = group.reduce((sum, { costMicro }) => sum + costMicro, 0)
    addToDay.run(dayOf(first), first.account, first.model, group.length, cost)
    spend.run(first.account, cost)
  }
  commit.run()
})
