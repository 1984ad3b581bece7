/**
 * Derives all money anew from what is recorded and reports every difference. Works beside a running
 * gateway: each account is looked at in one snapshot, and no money moves between accounts. Memory
 * grows with the figures of one account, never with the number of its exchanges. What must hold:
 *
 *     balance      = Σ entries of the account
 *     charge       ⇔ exchange row with the same amount above zero, one for one, answered by a channel
 *     amount       = its price lines, added up again; their counts = those of the usage kept with it
 *     usage_day    = Σ charged exchanges, by the UTC day on which they ended, and Σ charges of that day
 *     usage_month  = Σ usage_day; total = Σ usage_month
 *     held         = Σ open holds, none of an exchange that has ended (PostgreSQL)
 *     credits      are what was booked for their account under their reference
 *     accounts     exist, of which there are entries, exchanges or figures
 *     sequence     without a gap up to the last number given (SQLite): no entry has been taken out;
 *                  the guarding triggers are there
 *
 * Exchanges that ended before the cut of `exchange_cut` need not be there; everything else needs to.
 */
import type { Database, Queryable } from '../storage/database.ts'
import { listTriggers } from '../storage/triggers.ts'
import { auditAccount } from './audit-account.ts'
import { findCheckpoint, saveCheckpoint, type AuditCheckpoint } from './audit-checkpoint-store.ts'
import type { AuditedBill } from './audit-exchanges.ts'
import { noFindings, report, type AuditDifference, type Findings } from './audit-findings.ts'
import { readExchangeCut } from './exchange-cut-store.ts'
import { auditHolds } from './postgres/audit-holds.ts'

export type { AuditedBill } from './audit-exchanges.ts'
export type { AuditDifference } from './audit-findings.ts'

export interface AuditOptions {
  /** Adds up the price lines of a charge again; may throw where they cannot be read. */
  readonly readBill: (priceLines: string) => AuditedBill
  /**
   * Look only at what has come since each account was last found right; `nowMs` is a wall time.
   * Without it everything is looked at and nothing is written.
   */
  readonly sinceCheckpoints?: SinceCheckpoints
  /** At most this many differences are described; the rest is counted only. */
  readonly differencesMax?: number
}

export interface SinceCheckpoints {
  readonly nowMs: number
  /** Whether how far each account is right by now is written down for the next audit. */
  readonly isRemembered: boolean
}

export interface AuditReport {
  readonly isClean: boolean
  readonly differences: readonly AuditDifference[]
  /** Exchanges that ended before this wall time were not asked for; 0 = all were. */
  readonly exchangesFromMs: number
  readonly counts: {
    readonly accounts: number
    readonly entries: number
    readonly exchanges: number
    readonly charges: number
    /** All that were found, described or not. */
    readonly differences: number
  }
}

/** Also how many checkpoints are written at once: a charge may have to wait for that long. */
const pageSize = 100
const dayMs = 86_400_000
const differencesMaxDefault = 1_000

export async function audit(database: Database, options: AuditOptions): Promise<AuditReport> {
  const findings = noFindings(options.differencesMax ?? differencesMaxDefault)
  const { sinceCheckpoints } = options
  const exchangesFromMs = await readExchangeCut(database)
  await auditGuards(database, findings)
  for await (const accountIds of accountPages(database)) {
    const earned: [accountId: string, checkpoint: AuditCheckpoint][] = []
    for (const accountId of accountIds) {
      const next = await auditOne(database, accountId, options, findings)
      if (next !== undefined) earned.push([accountId, next])
    }
    if (sinceCheckpoints?.isRemembered === true)
      await saveCheckpoints(database, earned, sinceCheckpoints.nowMs)
  }
  if (sinceCheckpoints === undefined) {
    await auditStrangers(database, findings)
    if (database.dialect === 'sqlite') await auditSequence(database, findings)
  }
  const { differences, counts } = findings
  return { isClean: counts.differences === 0, differences, exchangesFromMs, counts }
}

/** A checkpoint only where it has moved: an account at rest is not written again every hour. */
async function auditOne(
  database: Database,
  accountId: string,
  options: AuditOptions,
  findings: Findings,
): Promise<AuditCheckpoint | undefined> {
  const { readBill, sinceCheckpoints } = options
  return database.snapshot(async (snapshot) => {
    if (database.dialect === 'postgres') await auditHolds(snapshot, accountId, findings)
    if (sinceCheckpoints === undefined) {
      await auditAccount(snapshot, { accountId, readBill, settledMs: 0 }, findings)
      return undefined
    }
    // Today and yesterday stay in front of the checkpoint: an exchange that ended before midnight
    // may be booked after it.
    const settledMs = (Math.floor(sinceCheckpoints.nowMs / dayMs) - 1) * dayMs
    const checkpoint = await findCheckpoint(snapshot, accountId)
    const question = { accountId, readBill, settledMs, checkpoint }
    const next = await auditAccount(snapshot, question, findings)
    const hasMoved =
      next?.throughMs !== checkpoint?.throughMs || next?.balancePicos !== checkpoint?.balancePicos
    return hasMoved ? next : undefined
  })
}

async function saveCheckpoints(
  database: Database,
  earned: readonly (readonly [accountId: string, checkpoint: AuditCheckpoint])[],
  auditedAtMs: number,
): Promise<void> {
  if (earned.length === 0) return
  await database.transact(async (transaction) => {
    for (const [accountId, checkpoint] of earned)
      await saveCheckpoint(transaction, accountId, { ...checkpoint, auditedAtMs })
  })
}

async function* accountPages(database: Queryable): AsyncGenerator<readonly string[]> {
  let last = ''
  for (;;) {
    const rows = await database.query('SELECT id FROM account WHERE id > $1 ORDER BY id LIMIT $2', [
      last,
      pageSize,
    ])
    yield rows.map((row) => String(row['id']))
    if (rows.length < pageSize) return
    last = String(rows.at(-1)?.['id'])
  }
}

const guards = ['entry_is_never_changed', 'entry_is_never_deleted', 'exchange_is_never_changed']

/** The store itself refuses to change or delete an entry, as long as its triggers are there. */
async function auditGuards(database: Database, findings: Findings): Promise<void> {
  const triggers = await listTriggers(database)
  for (const guard of guards)
    if (!triggers.has(guard))
      report(findings, {
        kind: 'guard',
        accountId: '',
        row: `trigger ${guard}`,
        text: `the trigger ${guard}, which keeps the books from being edited, is missing`,
        stored: 'nothing',
        derived: guard,
      })
}

/** All that is looked at account by account, and so would never be looked at without one. */
const tablesByAccount = ['entry', 'exchange', 'usage_day', 'usage_month']

async function auditStrangers(database: Queryable, findings: Findings): Promise<void> {
  for (const table of tablesByAccount) {
    const strangers = await database.query(
      `SELECT DISTINCT account_id FROM ${table}
        WHERE NOT EXISTS (SELECT 1 FROM account WHERE account.id = ${table}.account_id) LIMIT $1`,
      [pageSize],
    )
    for (const row of strangers)
      report(findings, {
        kind: 'unknown_account',
        accountId: String(row['account_id']),
        row: `${table} of ${String(row['account_id'])}`,
        text: `rows of ${table} are recorded for an account that does not exist`,
        stored: String(row['account_id']),
        derived: 'nothing',
      })
  }
}

/**
 * SQLite numbers entries one by one and undoes the number with the entry, so a gap is a loss. It
 * remembers the last number it gave out, so that a loss at the end is a gap too.
 */
async function auditSequence(database: Queryable, findings: Findings): Promise<void> {
  const [row] = await database.query(
    `SELECT COUNT(*) AS entries,
            MAX(COALESCE(MAX(sequence), 0),
                COALESCE((SELECT seq FROM sqlite_sequence WHERE name = 'entry'), 0)) AS last
       FROM entry`,
  )
  const entries = String(row?.['entries'])
  const last = String(row?.['last'])
  if (entries !== last)
    report(findings, {
      kind: 'sequence',
      accountId: '',
      row: `entry of sequence ${last} and before`,
      text: 'entries are missing from the ledger',
      stored: `${entries} entries`,
      derived: `${last} were booked`,
    })
}
