/**
 * Audits the ledger: derives all money again from the recorded rows and reports every difference.
 * Works beside a running gateway: each account is read in one snapshot, and no money moves between
 * accounts. Memory grows with the sums of one account, not with the number of its exchanges.
 *
 *     balance      = Σ entries of the account
 *     charge       ⇔ one exchange row with the same amount above zero, answered by a channel
 *     amount       = Σ its price lines; their counts = the counts of the usage stored with it
 *     report_day   = Σ exchanges by the UTC day on which they ended, key, model and channel; its
 *                    revenue = Σ charges of that day; refunded = Σ refunds of these charges
 *     usage_month  = Σ report_day; total = Σ usage_month; the same for each key
 *     refund       is at most the charge that it names
 *     held         = Σ open holds, none of an exchange that has ended (PostgreSQL)
 *     credits      match the hash of the request for their account and reference
 *     accounts     exist for all entries, exchanges and sums
 *     sequence     has no gap up to the last number given (SQLite): no entry was removed
 *     triggers     that refuse edits exist
 *     chains       follow from the sealed entries; their heads have the chain's hash and sum, and are signed
 *
 * Exchanges that ended before the retention limit (table `exchange_cut`) may be missing.
 */
import { dayMs } from '../../base/clock.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import {
  auditAccount,
  type AuditCheckpoint,
  auditHolds,
  findCheckpoint,
  saveCheckpoint,
} from './account.ts'
import { auditSeals } from './chain.ts'
import type { AuditedBill } from './entries.ts'
import { eachAccount } from '../account-store.ts'
import { type AuditDifference, type Findings, noFindings, report } from './findings.ts'
import { readExchangeCut } from '../exchange-retention.ts'

export type { AuditedBill } from './entries.ts'
export type { AuditDifference } from './findings.ts'

export interface AuditOptions {
  /** Sums the price lines of a charge again; may throw where they cannot be read. */
  readonly readBill: (priceLines: string) => AuditedBill
  /**
   * Audits only the rows since each account's checkpoint. Without it everything is audited and nothing
   * is written.
   */
  readonly sinceCheckpoints?: SinceCheckpoints
  /** At most this many differences are described; the rest is counted only. */
  readonly differencesMax?: number
}

export interface SinceCheckpoints {
  /** Wall time. */
  readonly nowMs: number
  /** Whether new checkpoints are stored for the next audit. */
  readonly isRemembered: boolean
}

export interface AuditReport {
  readonly isClean: boolean
  readonly differences: readonly AuditDifference[]
  /** Exchanges that ended before this wall time may be missing; 0 = none may. */
  readonly exchangesFromMs: number
  readonly counts: {
    readonly accounts: number
    readonly entries: number
    readonly exchanges: number
    readonly charges: number
    /** All differences, described or not. */
    readonly differences: number
  }
}

/** A charge may have to wait for this transaction. */
const checkpointsPerTransaction = 100
const unknownAccountsMax = 100
const differencesMaxDefault = 1_000

interface Earned {
  readonly accountId: string
  readonly checkpoint: AuditCheckpoint
}

export async function audit(database: Database, options: AuditOptions): Promise<AuditReport> {
  const findings = noFindings(options.differencesMax ?? differencesMaxDefault)
  const { sinceCheckpoints } = options
  const exchangesFromMs = await readExchangeCut(database)
  await auditGuards(database, findings)
  let earned: Earned[] = []
  const save = async (): Promise<void> => {
    if (sinceCheckpoints?.isRemembered === true && earned.length > 0)
      await saveCheckpoints(database, earned, sinceCheckpoints.nowMs)
    earned = []
  }
  for await (const { id } of eachAccount(database)) {
    const accountId = String(id)
    const checkpoint = await auditOne(database, accountId, options, findings)
    if (checkpoint !== undefined) earned.push({ accountId, checkpoint })
    if (earned.length >= checkpointsPerTransaction) await save()
  }
  await save()
  if (sinceCheckpoints === undefined) {
    await auditUnknownAccounts(database, findings)
    await database.snapshot((snapshot) => auditSeals(snapshot, findings))
    if (database.dialect === 'sqlite') await auditSequence(database, findings)
  }
  const { differences, counts } = findings
  return { isClean: counts.differences === 0, differences, exchangesFromMs, counts }
}

/** Returns a checkpoint only where it has moved: an idle account is not written again every hour. */
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
    // Today and yesterday are always audited: an exchange that ended before midnight may be booked
    // after it.
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
  earned: readonly Earned[],
  auditedAtMs: number,
): Promise<void> {
  await database.transact(async (transaction) => {
    for (const { accountId, checkpoint } of earned)
      await saveCheckpoint(transaction, accountId, { ...checkpoint, auditedAtMs })
  })
}

const guards = [
  'entry_is_never_changed',
  'entry_is_never_deleted',
  'exchange_is_never_changed',
  'sealed_entry_is_never_changed',
  'sealed_entry_is_never_deleted',
  'sealed_head_is_never_changed',
  'sealed_head_is_never_deleted',
]

/** The store itself refuses to change or delete an entry, as long as its triggers exist. */
async function auditGuards(database: Database, findings: Findings): Promise<void> {
  const triggers = await listTriggers(database)
  for (const guard of guards)
    if (!triggers.has(guard))
      report(findings, {
        kind: 'guard',
        accountId: '',
        row: `trigger ${guard}`,
        text: `the trigger ${guard}, which protects the ledger from edits, is missing`,
        stored: 'nothing',
        derived: guard,
      })
}

/** These tables are read account by account; rows without an account would never be read. */
const tablesByAccount = [
  'sealed_entry',
  'entry',
  'exchange',
  'usage_month',
  'usage_key_month',
  'report_day',
]

async function auditUnknownAccounts(database: Queryable, findings: Findings): Promise<void> {
  for (const table of tablesByAccount) {
    const unknown = await database.query(
      `SELECT DISTINCT account_id FROM ${table}
        WHERE NOT EXISTS (SELECT 1 FROM account WHERE account.id = ${table}.account_id) LIMIT $1`,
      [unknownAccountsMax],
    )
    for (const row of unknown)
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

const listTriggersSql: Readonly<Record<Database['dialect'], string>> = {
  sqlite: "SELECT name FROM sqlite_schema WHERE type = 'trigger'",
  postgres: "SELECT tgname AS name FROM pg_trigger WHERE NOT tgisinternal AND tgenabled <> 'D'",
}

async function listTriggers(database: Database): Promise<ReadonlySet<string>> {
  const rows = await database.query(listTriggersSql[database.dialect])
  return new Set(rows.map((row) => String(row['name'])))
}
