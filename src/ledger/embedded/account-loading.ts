/**
 * Reads from the store what admission keeps in memory. Runs on the writer thread, between two
 * commits, so that what it tells is true exactly as of the batches answered before.
 */
import { utcDay } from '../../base/clock.ts'
import type { Row } from '../../storage/database.ts'
import type { SqliteConnection } from '../../storage/sqlite-connection.ts'
import { readPicos } from '../usage.ts'
import type { AccountFacts, LoadedAccount } from './admission.ts'

const factsColumns = 'id, balance_picos, daily_limit_picos, rpm, window_minutes'

export function loadAccount(
  connection: SqliteConnection,
  accountId: string,
  atMs: number,
): LoadedAccount | undefined {
  const row = connection.first(`SELECT ${factsColumns} FROM account WHERE id = $1`, [accountId])
  if (row === undefined) return undefined
  const facts = readFacts(row)
  const used = connection.all(
    `SELECT key_id, SUM(cost_picos) AS used_picos FROM usage_day
      WHERE account_id = $1 AND day = $2 GROUP BY key_id`,
    [accountId, utcDay(atMs)],
  )
  return {
    facts,
    usedByKey: used.map((key) => [String(key['key_id']), readPicos(key, 'used_picos')]),
    startedAtMs: readWindow(connection, facts, atMs),
  }
}

export function loadFacts(
  connection: SqliteConnection,
  accountIds: readonly string[],
): AccountFacts[] {
  return connection
    .all(`SELECT ${factsColumns} FROM account WHERE id IN (SELECT value FROM json_each($1))`, [
      JSON.stringify(accountIds),
    ])
    .map(readFacts)
}

/** When the exchanges recorded within the account's window began. */
function readWindow(connection: SqliteConnection, facts: AccountFacts, atMs: number): number[] {
  if (facts.rpm === 0) return []
  const windowStartMs = atMs - facts.windowMinutes * 60_000
  const startedAtMs: number[] = []
  // Ids are ordered by time, so the newest come first and the first old one ends the reading.
  const newestFirst = connection
    .prepare('SELECT started_at_ms FROM exchange WHERE account_id = $1 ORDER BY exchange_id DESC')
    .each(facts.accountId)
  for (const row of newestFirst) {
    const moment = Number(row['started_at_ms'])
    if (moment <= windowStartMs) break
    startedAtMs.push(moment)
  }
  return startedAtMs.sort((left, right) => left - right)
}

function readFacts(row: Row): AccountFacts {
  return {
    accountId: String(row['id']),
    balancePicos: readPicos(row, 'balance_picos'),
    dailyLimitPicos: readPicos(row, 'daily_limit_picos'),
    rpm: Number(row['rpm']),
    windowMinutes: Number(row['window_minutes']),
  }
}
