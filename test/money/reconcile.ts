/**
 * The three-way join that settles every argument about money: what the vendors' own log says they
 * served, what the client saw, and what the ledger charged, by marker. It trusts none of the three.
 */
import assert from 'node:assert/strict'
import type { ServedRecord } from '../../src/sandbox/served-record.ts'
import type { Database } from '../../src/storage/database.ts'
import { chargesOf, exchangesOf, holdBound, sandboxIndex, vendorPrice } from './harness.ts'

/** What one client saw of the answer to its one request. */
export interface Seen {
  readonly marker: string
  readonly hasEnd: boolean
}

export interface Reconciled {
  readonly chargedCount: number
  readonly chargedPicos: bigint
}

interface Books {
  readonly records: readonly ServedRecord[]
  readonly database: Database
  readonly seen: readonly Seen[]
  readonly maxTokens: number
}

/**
 * Client saw the end: exactly one charge, the price of what the vendor counted. Vendor complete and
 * client without the end: one charge of at most that, or none. Vendor never reached: none. Where a
 * charge was estimated the hold is the bound.
 */
export async function reconcile(books: Books): Promise<Reconciled> {
  const byIndex = new Map(books.records.map((record) => [record.index, record]))
  const charges = new Map(await chargesOf(books.database))
  const chargedBy = new Map<string, { record: ServedRecord; picos: bigint }>()
  let chargedPicos = 0n
  for (const exchange of await exchangesOf(books.database)) {
    const picos = charges.get(exchange.exchangeId)
    assert.equal(picos ?? 0n, exchange.amountPicos)
    if (picos === undefined) continue
    const record = byIndex.get(sandboxIndex(exchange.vendorRequestId) ?? -1)
    assert.ok(record?.marker !== undefined, `${exchange.exchangeId} was charged, and not served`)
    assert.ok(!chargedBy.has(record.marker), `${record.marker} is charged twice`)
    const isEstimated = exchange.marks.includes('estimated')
    const most = isEstimated ? holdBound(record, books.maxTokens) : vendorPrice(record)
    assert.ok(picos <= most, `${record.marker} costs ${picos}, more than ${most}`)
    chargedBy.set(record.marker, { record, picos })
    chargedPicos += picos
    charges.delete(exchange.exchangeId)
  }
  assert.equal(charges.size, 0, 'every charge belongs to an exchange')
  const freeMarkers = new Set(books.records.filter(isFree).map(({ marker }) => marker))
  for (const { marker, hasEnd } of books.seen) {
    if (!hasEnd) continue
    const charged = chargedBy.get(marker)
    if (freeMarkers.has(marker)) {
      assert.equal(charged, undefined, `${marker} has nothing in it and is charged`)
      continue
    }
    assert.ok(charged !== undefined, `${marker} was delivered to its end for nothing`)
    assert.equal(charged.picos, vendorPrice(charged.record), marker)
    assert.ok(charged.record.isTerminalSent, `${marker} ended although the vendor had not`)
  }
  return { chargedCount: chargedBy.size, chargedPicos }
}

/** An answer with nothing in it, or a refusal before any output. */
function isFree({ kind, status, usage }: ServedRecord): boolean {
  if (status !== 200) return false
  return kind === 'empty_refusal' || (kind === 'answer' && usage?.counts.output === 0)
}
