/**
 * Upgrades of stores with money in them, from the schema of every earlier version: accounts, keys, credits,
 * charges and figures are written as that version had them, and the store is then opened by this program.
 */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { utcDay } from '../../src/base/clock.ts'
import type { Database } from '../../src/storage/database.ts'
import { migrate, schemaVersion } from '../../src/storage/migrate.ts'
import { makeFolder } from './embedded-harness.ts'
import { findDifferences } from './ledger-harness.ts'

const shipped = join(import.meta.dirname, '../../src/storage/migrations')
const versions = readdirSync(join(shipped, 'sqlite')).map((name) => Number(name.slice(0, 3)))
const newest = Math.max(...versions)
/** From this schema on the figures of reports are written with each charge. */
const reportsSince = 20
/** From this schema on they say how much of the revenue lacks an own cost. */
const unknownCostSince = 28

const endedMs = Date.parse('2026-11-20T12:00:00Z')
const usage = JSON.stringify({
  parts: [{ counts: { input: 10, output: 20, cache_read: 5 }, promptTokens: 15 }],
  reported: { inputTokens: 10, outputTokens: 20, cacheTokens: 5 },
})

/** Amounts in pico-dollars, two of them larger than a double can hold exactly. */
const accounts = [
  { id: 'acc_a', credit: 9_007_199_254_740_993n, charges: [7n, 9_000_000_000_000_001n] },
  { id: 'acc_b', credit: 5n, charges: [] },
  { id: 'acc_c', credit: 100n, charges: [99n, 1n] },
] as const

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, one) => total + one, 0n)

const balances = Object.fromEntries(
  accounts.map(({ id, credit, charges }) => [id, String(credit - sum(charges))]),
)

const figureColumns = 'requests, input_tokens, output_tokens, cache_tokens, cost_picos'

/** The hash of a credit in its first form, which stores still contain. */
function hashCredit(amountPicos: bigint): string {
  return hash('sha256', JSON.stringify(['adjustment', String(amountPicos), null]))
}

/** Writes what a gateway of that schema would have written. Its columns exist since the first schema. */
function pastSql(version: number): string {
  const day = utcDay(endedMs)
  return accounts
    .flatMap(({ id, credit, charges }) => {
      const cost = sum(charges)
      const count = charges.length
      const figures = `${count}, ${10 * count}, ${20 * count}, ${5 * count}, ${cost}`
      return [
        `INSERT INTO account (id, name, balance_picos, created_at_ms)
           VALUES ('${id}', 'name of ${id}', ${balances[id]}, 0)`,
        `INSERT INTO key (id, kind, account_id, head, secret_hash, created_at_ms)
           VALUES ('key_${id}', 'client', '${id}', 'cr_x', 'hash of ${id}', 0)`,
        `INSERT INTO entry (account_id, kind, reference, amount_picos, input_hash, created_at_ms)
           VALUES ('${id}', 'adjustment', 'first credit', ${credit}, '${hashCredit(credit)}', ${endedMs})`,
        ...charges.flatMap((amount, index) => [
          `INSERT INTO entry (account_id, kind, reference, amount_picos, created_at_ms)
             VALUES ('${id}', 'charge', 'ex_${id}_${index}', ${-amount}, ${endedMs})`,
          `INSERT INTO exchange (account_id, exchange_id, key_id, vendor, model, operation, is_stream, channel,
               started_at_ms, ended_at_ms, ending, status, attempt_count, amount_picos, usage, price_lines)
             VALUES ('${id}', 'ex_${id}_${index}', 'key_${id}', 'alpha', 'large-1', 'messages.create', 1,
               'alpha-main', ${endedMs}, ${endedMs}, 'completed', 200, 1, ${amount}, '${usage}', '${amount}')`,
        ]),
        ...(count === 0
          ? []
          : [
              `INSERT INTO usage_day (account_id, day, key_id, model, ${figureColumns}) VALUES ('${id}', '${day}', 'key_${id}', 'large-1', ${figures})`,
              ...[day.slice(0, 7), 'total'].map(
                (month) =>
                  `INSERT INTO usage_month (account_id, month, model, ${figureColumns}) VALUES ('${id}', '${month}', 'large-1', ${figures})`,
              ),
              ...(version < reportsSince ? [] : reportSql(version, { id, day, count, cost })),
            ]),
      ]
    })
    .concat(
      `INSERT INTO key (id, kind, head, secret_hash, created_at_ms${version < 18 ? '' : ', role'})
         VALUES ('key_admin', 'admin', 'ad_x', 'hash of the admin token', 0${version < 18 ? '' : ", 'owner'"})`,
    )
    .join(';\n')
}

/** Columns of report_day that are 0 here, in the first schema that has the table. */
const emptyColumns = [
  'errors',
  'failovers',
  'known_cost_requests',
  'cache_write_tokens',
  ...[100, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 7500, 10_000, 20_000, 60_000].map(
    (ms) => `first_event_le_${ms}`,
  ),
  'first_event_above',
  'own_cost_picos',
  'lost_cost_picos',
  'refunded_picos',
]

function reportSql(
  version: number,
  booked: { id: string; day: string; count: number; cost: bigint },
): string[] {
  const { id, day, count, cost } = booked
  const figures: Readonly<Record<string, bigint | number>> = {
    ...Object.fromEntries(emptyColumns.map((name) => [name, 0])),
    requests: count,
    charged_requests: count,
    input_tokens: 10 * count,
    output_tokens: 20 * count,
    cache_read_tokens: 5 * count,
    revenue_picos: cost,
    ...(version < unknownCostSince ? {} : { unknown_cost_revenue_picos: cost }),
  }
  return [
    `INSERT INTO report_day (day, account_id, key_id, model, channel, ${Object.keys(figures).join(', ')})
       VALUES ('${day}', '${id}', 'key_${id}', 'large-1', 'alpha-main', ${Object.values(figures).join(', ')})`,
    ...[day.slice(0, 7), 'total'].map(
      (month) =>
        `INSERT INTO usage_key_month (account_id, key_id, month, cost_picos)
           VALUES ('${id}', 'key_${id}', '${month}', ${cost})`,
    ),
  ]
}

/** Copies the migrations up to a version. */
function copyUpTo(version: number, target: string): string {
  for (const dialect of ['sqlite', 'postgres']) {
    mkdirSync(join(target, dialect))
    for (const name of readdirSync(join(shipped, dialect)))
      if (Number(name.slice(0, 3)) <= version)
        cpSync(join(shipped, dialect, name), join(target, dialect, name))
  }
  return target
}

async function makePastStore(database: Database, version: number): Promise<void> {
  const folder = makeFolder()
  try {
    await migrate(database, copyUpTo(version, folder.path))
  } finally {
    folder.remove()
  }
  await database.transact((transaction) => transaction.script(pastSql(version)))
  assert.equal(await schemaVersion(database, database.dialect), version)
}

async function readBalances(database: Database): Promise<Record<string, string>> {
  const rows = await database.query(
    'SELECT id, CAST(balance_picos AS TEXT) AS balance FROM account ORDER BY id',
  )
  return Object.fromEntries(rows.map((row) => [String(row['id']), String(row['balance'])]))
}

async function readRoles(database: Database): Promise<string[]> {
  const rows = await database.query('SELECT id, role FROM key WHERE role IS NOT NULL')
  return rows.map((row) => `${String(row['id'])} ${String(row['role'])}`)
}

interface Opened {
  readonly database: Database
  close(): Promise<void>
}

/** `open` opens an empty store, without a schema. */
export function describeUpgrades(title: string, open: () => Promise<Opened>): void {
  void describe(title, () => {
    void it('has a schema to upgrade from', () => assert.ok(versions.length >= 20))

    for (const version of versions)
      void it(`keeps all money and keys from schema ${version} on`, async () => {
        const opened = await open()
        const { database } = opened
        try {
          await makePastStore(database, version)
          assert.equal((await migrate(database)).version, newest)
          assert.deepEqual(await readBalances(database), balances)
          assert.deepEqual(await findDifferences(database), [])
          assert.deepEqual(await readRoles(database), ['key_admin owner'])
        } finally {
          await opened.close()
        }
      })
  })
}
