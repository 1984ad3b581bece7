/**
 * A store that is older than the figures of reports gets them from what it has: exchanges where they are
 * kept, and daily figures where they are not. The audit then finds no difference in them.
 */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Database } from '../../src/storage/database.ts'
import { parsePostgresUrl } from '../../src/storage/location.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { openPostgres } from '../../src/storage/postgres/postgres.ts'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'
import { startPostgres } from '../support/postgres.ts'
import { makeFolder } from './embedded-harness.ts'
import { findDifferences } from './ledger-harness.ts'

const shipped = join(import.meta.dirname, '../../src/storage/migrations')
const dayMs = 86_400_000
const cutMs = Date.parse('2026-11-20')

const counts = { input: 10, output: 20, cache_read: 3, cache_write_5m: 4, cache_write_1h: 8 }
const usage = JSON.stringify({
  parts: [{ counts, promptTokens: 25 }],
  reported: { inputTokens: 10, outputTokens: 20, cacheTokens: 15 },
})

test('an embedded store gets the figures of its past', async (t) => {
  const folder = makeFolder()
  const database = openSqlite(join(folder.path, 'store.db'))
  t.after(async () => {
    await database.close()
    folder.remove()
  })
  await upgrade(database)
})

test('an embedded store gets the revenue without an own cost', async (t) => {
  const folder = makeFolder()
  const database = openSqlite(join(folder.path, 'store.db'))
  t.after(async () => {
    await database.close()
    folder.remove()
  })
  await upgradeRevenue(database)
})

test('a store on PostgreSQL gets the figures of its past', async (t) => {
  const server = await startPostgres()
  t.after(() => server.close())
  const location = parsePostgresUrl(await server.createDatabase())
  const database = await openPostgres(location, { connectionsMax: 2 })
  try {
    await upgrade(database)
  } finally {
    await database.close()
  }
})

test('a store on PostgreSQL gets the revenue without an own cost', async (t) => {
  const server = await startPostgres()
  t.after(() => server.close())
  const location = parsePostgresUrl(await server.createDatabase())
  const database = await openPostgres(location, { connectionsMax: 2 })
  try {
    await upgradeRevenue(database)
  } finally {
    await database.close()
  }
})

/** Migrates, with `pastSql` run before this version. */
async function migrateAfter(database: Database, version: number, past: string): Promise<void> {
  const folder = makeFolder()
  try {
    await migrate(database, copyOlder(folder.path, version))
  } finally {
    folder.remove()
  }
  await database.transact((transaction) => transaction.script(past))
  await migrate(database)
}

/** A row whose requests are known in part is split by its exchanges, less their refunds. */
async function upgradeRevenue(database: Database): Promise<void> {
  const zeros = '0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0'
  const row = (day: string, channel: string, known: number, revenue: number, refunded: number) =>
    `INSERT INTO report_day VALUES ('${day}', 'a', 'k', 'm', '${channel}', 3, 3, 0, 0, ${known}, 0, 0, 0, 0,
      ${zeros}, ${revenue}, 0, 0, ${refunded});`
  const ended = (id: string, amount: number, isKnown: number) =>
    exchange(id, `'part', ${endedMs}, ${endedMs}, 'completed', 200, 1, ${amount}, NULL, 0`)
      .replace('operator_cost_picos)', 'operator_cost_picos, is_own_cost_known)')
      .replace(', NULL, 0)', `, NULL, 0, ${isKnown})`)
  await migrateAfter(
    database,
    28,
    `INSERT INTO account (id, name, balance_picos, created_at_ms) VALUES ('a', 'a', 0, 0);
     ${row('2026-11-20', 'gone', 1, 90, 10)} ${row('2026-11-21', 'all', 3, 90, 10)}
     ${row('2026-11-21', 'none', 0, 90, 10)} ${row('2026-11-21', 'part', 1, 60, 7)}
     ${ended('1', 10, 1)} ${ended('2', 20, 0)} ${ended('3', 30, 0)}
     INSERT INTO entry (account_id, kind, reference, amount_picos, created_at_ms)
     VALUES ('a', 'refund', 'refund:ex_1', 3, ${endedMs}), ('a', 'refund', 'refund:ex_2', 4, ${endedMs});`,
  )
  const rows = await database.query(
    'SELECT channel, unknown_cost_revenue_picos AS picos FROM report_day ORDER BY channel',
  )
  assert.deepEqual(
    rows.map(({ channel, picos }) => `${String(channel)} ${String(picos)}`),
    // Without its exchanges all of a row counts as unknown.
    ['all 0', 'gone 80', 'none 80', `part ${20 + 30 - 4}`],
  )
}

async function upgrade(database: Database): Promise<void> {
  await migrateAfter(database, 20, pastSql)
  const reports = await database.query(
    `SELECT day, key_id, channel, requests, charged_requests, errors, failovers, input_tokens,
            output_tokens, cache_read_tokens, cache_write_tokens, revenue_picos, lost_cost_picos,
            unknown_cost_revenue_picos
       FROM report_day ORDER BY day, channel`,
  )
  assert.deepEqual(
    reports.map((row) => Object.values(row).map(String).join(' ')),
    [
      '2026-11-19 k  2 2 0 0 7 8 9 0 40 0 40',
      '2026-11-21 k  1 0 1 1 0 0 0 0 0 5 0',
      '2026-11-21 k main 2 2 0 2 20 40 6 24 60 1 60',
    ],
  )
  const keys = await database.query('SELECT month, cost_picos FROM usage_key_month ORDER BY month')
  assert.deepEqual(
    keys.map((row) => Object.values(row).map(String).join(' ')),
    ['2026-11 100', 'total 100'],
  )
  const found = await findDifferences(database)
  assert.deepEqual(
    found.filter((difference) => /^(report_day|usage_)/.test(difference)),
    [],
  )
}

/** Copies the migrations before this version. */
function copyOlder(target: string, firstNewVersion: number): string {
  for (const dialect of ['sqlite', 'postgres']) {
    mkdirSync(join(target, dialect))
    for (const name of readdirSync(join(shipped, dialect)))
      if (Number(name.slice(0, 3)) < firstNewVersion)
        cpSync(join(shipped, dialect, name), join(target, dialect, name))
  }
  return target
}

function exchange(id: string, values: string): string {
  return `INSERT INTO exchange (account_id, exchange_id, key_id, vendor, model, operation, is_stream,
      channel, started_at_ms, ended_at_ms, ending, status, attempt_count, amount_picos, usage,
      operator_cost_picos)
    VALUES ('a', 'ex_${id}', 'k', 'alpha', 'm', 'messages.create', 1, ${values});`
}

const endedMs = cutMs + dayMs
const earlierMs = cutMs - 1_000

/** Two days: of the first one only entries and figures are left. */
const pastSql = `
  INSERT INTO account (id, name, balance_picos, created_at_ms) VALUES ('a', 'a', 0, 0);
  INSERT INTO exchange_cut (cut_ms, decided_at_ms) VALUES (${cutMs}, ${cutMs});
  ${exchange('1', `'main', ${endedMs}, ${endedMs}, 'completed', 200, 1, 30, '${usage}', 0`)}
  ${exchange('2', `'main', ${endedMs}, ${endedMs}, 'client_left', 200, 3, 30, '${usage}', 1`)}
  ${exchange('3', `NULL, ${endedMs}, ${endedMs}, 'failed', 502, 2, 0, NULL, 5`)}
  ${exchange('0', `'main', ${earlierMs}, ${earlierMs}, 'completed', 200, 1, 20, '${usage}', 0`)}
  INSERT INTO entry (account_id, kind, reference, amount_picos, created_at_ms) VALUES
    ('a', 'charge', 'ex_0', -20, ${earlierMs}), ('a', 'charge', 'ex_00', -20, ${earlierMs}),
    ('a', 'charge', 'ex_1', -30, ${endedMs}), ('a', 'charge', 'ex_2', -30, ${endedMs});
  INSERT INTO usage_day VALUES
    ('a', '2026-11-19', 'k', 'm', 2, 7, 8, 9, 40), ('a', '2026-11-21', 'k', 'm', 2, 20, 40, 30, 60);
  INSERT INTO usage_month VALUES
    ('a', '2026-11', 'm', 4, 27, 48, 39, 100), ('a', 'total', 'm', 4, 27, 48, 39, 100);`
