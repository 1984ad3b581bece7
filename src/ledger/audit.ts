/**
 * Derives all money anew from what is recorded and reports every difference. Read-only; works beside
 * a running gateway, because each account is looked at in one snapshot. Memory grows with the
 * figures of one account, never with the number of its exchanges. What must hold:
 *
 *     balance      = Σ entries of the account
 *     charge       ⇔ exchange row with the same amount above zero, one for one, answered by a channel
 *     amount       = its price lines, added up again
 *     usage_day, usage_month, total = Σ charged exchanges, by the UTC day on which they ended
 *     sequence     without a gap (SQLite): no entry has been taken out
 */
import { picos, zeroPicos, type Picos } from '../base/money.ts'
import type { Database, Queryable, Row } from '../storage/database.ts'
import { addToFigures, auditFigures, type Figures } from './audit-figures.ts'
import { report, usd, type AuditDifference, type Findings } from './audit-findings.ts'
import { readPicos } from './usage.ts'

export type { AuditDifference } from './audit-findings.ts'

export interface AuditOptions {
  /** Adds up the price lines of a charge again; may throw where they cannot be read. */
  readonly recompute: (priceLines: string) => Picos
  /** At most this many differences are described; the rest is counted only. */
  readonly differencesMax?: number
}

export interface AuditReport {
  readonly isClean: boolean
  readonly differences: readonly AuditDifference[]
  readonly counts: {
    readonly accounts: number
    readonly entries: number
    readonly exchanges: number
    readonly charges: number
    /** All that were found, described or not. */
    readonly differences: number
  }
}

const pageSize = 1_000
const differencesMaxDefault = 1_000

interface AuditRun extends Findings {
  readonly recompute: AuditOptions['recompute']
}

export async function audit(database: Database, options: AuditOptions): Promise<AuditReport> {
  const findings: AuditRun = {
    recompute: options.recompute,
    differencesMax: options.differencesMax ?? differencesMaxDefault,
    differences: [],
    counts: { accounts: 0, entries: 0, exchanges: 0, charges: 0, differences: 0 },
  }
  for await (const accountId of eachAccount(database)) {
    findings.counts.accounts++
    await database.snapshot((snapshot) => auditAccount(snapshot, accountId, findings))
  }
  await auditStrangers(database, findings)
  if (database.dialect === 'sqlite') await auditSequence(database, findings)
  const { differences, counts } = findings
  return { isClean: counts.differences === 0, differences, counts }
}

async function* eachAccount(database: Queryable): AsyncGenerator<string> {
  let last = ''
  for (;;) {
    const rows = await database.query('SELECT id FROM account WHERE id > $1 ORDER BY id LIMIT $2', [
      last,
      pageSize,
    ])
    for (const row of rows) yield String(row['id'])
    if (rows.length < pageSize) return
    last = String(rows.at(-1)?.['id'])
  }
}

async function auditAccount(
  snapshot: Queryable,
  accountId: string,
  findings: AuditRun,
): Promise<void> {
  await auditBalance(snapshot, accountId, findings)
  await auditStrays(snapshot, accountId, findings)
  const figures = new Map<string, Figures>()
  for await (const row of eachExchange(snapshot, accountId)) {
    findings.counts.exchanges++
    auditExchange(row, accountId, findings)
    addToFigures(figures, row)
  }
  await auditFigures(snapshot, { accountId, table: 'usage_day', figures }, findings)
  await auditFigures(snapshot, { accountId, table: 'usage_month', figures }, findings)
}

async function auditBalance(
  snapshot: Queryable,
  accountId: string,
  findings: Findings,
): Promise<void> {
  const [account] = await snapshot.query('SELECT balance_picos FROM account WHERE id = $1', [
    accountId,
  ])
  if (account === undefined) return
  // Added up in halves: sums in whatever order the engine takes could pass 64 bits on the way.
  const [sums] = await snapshot.query(
    `SELECT COUNT(*) AS entries, COALESCE(SUM(amount_picos >> 32), 0) AS high,
            COALESCE(SUM(amount_picos & 4294967295), 0) AS low
       FROM entry WHERE account_id = $1`,
    [accountId],
  )
  findings.counts.entries += Number(sums?.['entries'] ?? 0)
  const derived = picos(BigInt(String(sums?.['high'])) * 2n ** 32n + BigInt(String(sums?.['low'])))
  const balance = readPicos(account, 'balance_picos')
  if (balance !== derived)
    report(findings, accountId, 'balance', {
      text: 'the balance differs from the sum of its entries',
      stored: usd(balance),
      derived: usd(derived),
    })
}

/** Every exchange of the account with the entry that charges it, and every charge without one. */
async function* eachExchange(snapshot: Queryable, accountId: string): AsyncGenerator<Row> {
  let last = ''
  for (;;) {
    const rows = await snapshot.query(
      `SELECT x.exchange_id, x.key_id, x.model, x.ended_at_ms, x.attempt_count, x.channel,
              x.amount_picos, x.usage, x.price_lines, e.kind, e.amount_picos AS entry_picos
         FROM exchange x
         LEFT JOIN entry e ON e.account_id = x.account_id AND e.reference = x.exchange_id
        WHERE x.account_id = $1 AND x.exchange_id > $2
        ORDER BY x.exchange_id LIMIT $3`,
      [accountId, last, pageSize],
    )
    yield* rows
    if (rows.length < pageSize) return
    last = String(rows.at(-1)?.['exchange_id'])
  }
}

function auditExchange(row: Row, accountId: string, findings: AuditRun): void {
  const exchangeId = String(row['exchange_id'])
  const amount = readPicos(row, 'amount_picos')
  const isCharged = row['kind'] === 'charge'
  if (isCharged) findings.counts.charges++
  if (isCharged !== amount > 0n) {
    report(findings, accountId, 'exchange_without_charge', {
      text: `exchange ${exchangeId} and the ledger disagree whether it was charged`,
      stored: isCharged ? 'an entry' : 'no entry',
      derived: usd(amount),
    })
    return
  }
  if (!isCharged) return
  const charged = picos(-BigInt(readPicos(row, 'entry_picos')))
  if (charged !== amount)
    report(findings, accountId, 'amount', {
      text: `exchange ${exchangeId} was charged another amount than it cost`,
      stored: usd(charged),
      derived: usd(amount),
    })
  if (Number(row['attempt_count']) < 1 || row['channel'] === null)
    report(findings, accountId, 'attempts', {
      text: `exchange ${exchangeId} was charged although no channel answered it`,
      stored: usd(amount),
      derived: usd(zeroPicos),
    })
  auditPriceLines(row, accountId, findings)
}

function auditPriceLines(row: Row, accountId: string, findings: AuditRun): void {
  const exchangeId = String(row['exchange_id'])
  const amount = readPicos(row, 'amount_picos')
  let derived: string
  try {
    const recomputed = findings.recompute(String(row['price_lines']))
    if (recomputed === amount) return
    derived = usd(recomputed)
  } catch (error) {
    derived = `price lines that cannot be read (${error instanceof Error ? error.message : 'no reason given'})`
  }
  report(findings, accountId, 'price_lines', {
    text: `the price lines of exchange ${exchangeId} do not add up to its amount`,
    stored: usd(amount),
    derived,
  })
}

/** Charges that no recorded exchange explains. */
async function auditStrays(
  snapshot: Queryable,
  accountId: string,
  findings: Findings,
): Promise<void> {
  let last = ''
  for (;;) {
    const rows = await snapshot.query(
      `SELECT e.reference, e.amount_picos, x.exchange_id FROM entry e
         LEFT JOIN exchange x ON x.account_id = e.account_id AND x.exchange_id = e.reference
        WHERE e.account_id = $1 AND e.reference > $2 AND e.kind = 'charge'
        ORDER BY e.reference LIMIT $3`,
      [accountId, last, pageSize],
    )
    for (const row of rows)
      if (row['exchange_id'] === null)
        report(findings, accountId, 'charge_without_exchange', {
          text: `charge ${String(row['reference'])} belongs to no recorded exchange`,
          stored: usd(readPicos(row, 'amount_picos')),
          derived: 'nothing',
        })
    if (rows.length < pageSize) return
    last = String(rows.at(-1)?.['reference'])
  }
}

async function auditStrangers(database: Queryable, findings: Findings): Promise<void> {
  const strangers = await database.query(
    `SELECT DISTINCT account_id FROM exchange
      WHERE NOT EXISTS (SELECT 1 FROM account WHERE account.id = exchange.account_id) LIMIT $1`,
    [pageSize],
  )
  for (const row of strangers)
    report(findings, String(row['account_id']), 'unknown_account', {
      text: 'exchanges are recorded for an account that does not exist',
      stored: String(row['account_id']),
      derived: 'nothing',
    })
}

/** SQLite numbers entries one by one and undoes the number with the entry, so a gap is a loss. */
async function auditSequence(database: Queryable, findings: Findings): Promise<void> {
  const [row] = await database.query(
    'SELECT COUNT(*) AS entries, COALESCE(MAX(sequence), 0) AS last FROM entry',
  )
  const entries = String(row?.['entries'])
  const last = String(row?.['last'])
  if (entries !== last)
    report(findings, '', 'sequence', {
      text: 'entries are missing from the ledger',
      stored: `${entries} entries`,
      derived: `${last} were booked`,
    })
}
