/**
 * Audits the chains of sealed entries: each hash is derived again from the entry, each head from the chain
 * and its signature. So an edit that is coherent in all other tables is found, and a removed or a moved
 * entry. A wrong hash is reported once: the next one is derived from what is stored.
 */
import { picos, zeroPicos } from '../../base/money.ts'
import { eachRow, type Queryable, type Row } from '../../storage/database.ts'
import { billHashOf, hashAfter, headText, keyIdOf, keyText, leafOf } from '../proof/canonical.ts'
import {
  emptyChain,
  findHeadOfHour,
  listHeadsAfter,
  priceLinesOf,
  readSealed,
  readSealMark,
  type SealedEntry,
  type SealedHead,
} from '../proof/seal-store.ts'
import { isSignedBy, listSigningKeys, type PublicSigningKey } from '../proof/signing-keys.ts'
import { readPicos } from '../usage.ts'
import { report, usd, type Findings } from './findings.ts'

const pageSize = 1_000

interface ChainRange {
  readonly accountId: string
  /** Heads of hours that ended by then were audited before; 0 = none. */
  readonly sinceMs: number
}

export async function auditChain(
  snapshot: Queryable,
  range: ChainRange,
  findings: Findings,
): Promise<void> {
  const { accountId, sinceMs } = range
  const start = sinceMs === 0 ? undefined : await findHeadOfHour(snapshot, accountId, sinceMs)
  const keys = new Map((await listSigningKeys(snapshot)).map((key) => [key.id, key]))
  let { place, hash } = start ?? emptyChain
  let sum: bigint = start?.sumPicos ?? zeroPicos
  const heads = new HeadReader(snapshot, accountId, place)
  for await (const row of eachSealed(snapshot, accountId, place)) {
    const sealed = readSealed(row)
    auditPlace(sealed, place + 1, findings)
    auditSealed(row, { sealed, before: hash, findings })
    sum += row['kind'] === null ? 0n : readPicos(row, 'amount_picos')
    ;({ place, hash } = sealed)
    const head = await heads.take(place)
    if (head !== undefined) auditHead(head, { hash, sum, keys, findings })
  }
  const beyond = await heads.take(Number.MAX_SAFE_INTEGER)
  if (beyond !== undefined)
    report(findings, {
      kind: 'head',
      accountId,
      row: `sealed_head ${accountId} ${beyond.place}`,
      text: `the signed head of ${timeOf(beyond)} has no entry in the chain`,
      stored: `${beyond.place} entries`,
      derived: `${place}`,
    })
}

function eachSealed(
  snapshot: Queryable,
  accountId: string,
  afterPlace: number,
): AsyncGenerator<Row> {
  return eachRow(pageSize, (last) =>
    snapshot.query(
      `SELECT s.account_id, s.place, s.sequence, s.hash, s.bill_hash, e.account_id AS booked_for, e.kind,
              e.reference, e.amount_picos, e.created_at_ms, x.exchange_id, x.price_lines
         FROM sealed_entry s
         LEFT JOIN entry e ON e.sequence = s.sequence
         LEFT JOIN exchange x ON x.account_id = e.account_id AND x.exchange_id = e.reference
        WHERE s.account_id = $1 AND s.place > $2 ORDER BY s.place LIMIT $3`,
      [accountId, last?.['place'] ?? afterPlace, pageSize],
    ),
  )
}

function auditPlace({ accountId, place }: SealedEntry, expected: number, findings: Findings): void {
  if (place === expected) return
  report(findings, {
    kind: 'chain',
    accountId,
    row: `sealed_entry ${accountId} ${place}`,
    text: 'the chain has a gap',
    stored: `place ${place}`,
    derived: `place ${expected}`,
  })
}

interface SealedAudit {
  readonly sealed: SealedEntry
  /** The hash of the place before. */
  readonly before: string
  readonly findings: Findings
}

function auditSealed(row: Row, { sealed, before, findings }: SealedAudit): void {
  const { accountId, place, sequence, hash, billHash } = sealed
  const found = { accountId, row: `sealed_entry ${accountId} ${place}` }
  if (row['kind'] === null) {
    const text = `entry ${sequence}, which was sealed, is no longer in the ledger`
    report(findings, { kind: 'chain', ...found, text, stored: 'nothing', derived: hash })
    return
  }
  const derived = hashAfter(
    before,
    leafOf({
      accountId: String(row['booked_for']),
      place,
      sequence,
      kind: String(row['kind']),
      reference: String(row['reference']),
      amountPicos: readPicos(row, 'amount_picos'),
      createdAtMs: Number(row['created_at_ms']),
      billHash,
    }),
  )
  if (derived !== hash)
    report(findings, {
      kind: 'chain',
      ...found,
      text: `entry ${sequence} (${String(row['reference'])}) is not the one that was sealed at place ${place}`,
      stored: hash,
      derived,
    })
  if (row['exchange_id'] === null) return
  const priceLines = priceLinesOf(row)
  const bill = priceLines === undefined ? '' : billHashOf(priceLines)
  if (bill !== billHash)
    report(findings, {
      kind: 'chain',
      ...found,
      text: `the price lines of ${String(row['reference'])} are not those that were sealed`,
      stored: billHash,
      derived: bill,
    })
}

interface HeadAudit {
  readonly hash: string
  readonly sum: bigint
  readonly keys: ReadonlyMap<string, PublicSigningKey>
  readonly findings: Findings
}

function auditHead(head: SealedHead, { hash, sum, keys, findings }: HeadAudit): void {
  const { accountId, place } = head
  const found = { kind: 'head', accountId, row: `sealed_head ${accountId} ${place}` } as const
  const name = `the signed head of ${timeOf(head)}`
  if (head.hash !== hash)
    report(findings, {
      ...found,
      text: `${name} has another hash`,
      stored: head.hash,
      derived: hash,
    })
  if (head.sumPicos !== sum)
    report(findings, {
      ...found,
      text: `${name} has another sum than the entries before it`,
      stored: usd(head.sumPicos),
      derived: usd(picos(sum)),
    })
  const key = keys.get(head.keyId)
  if (key === undefined || !isSignedBy(key.publicKey, headText(head), head.signature))
    report(findings, {
      ...found,
      text: `${name} has a signature that key ${head.keyId} did not make`,
      stored: head.signature,
      derived: key === undefined ? 'no such key' : 'another signature',
    })
}

/** Reads heads in the order of their places, page by page. */
class HeadReader {
  readonly #snapshot: Queryable
  readonly #accountId: string
  #afterPlace: number
  #page: SealedHead[] = []
  #isAtEnd = false

  constructor(snapshot: Queryable, accountId: string, afterPlace: number) {
    this.#snapshot = snapshot
    this.#accountId = accountId
    this.#afterPlace = afterPlace
  }

  /** Returns the next head where it covers at most so many entries. */
  async take(placeMax: number): Promise<SealedHead | undefined> {
    if (this.#page.length === 0 && !this.#isAtEnd) await this.#readPage()
    const [head] = this.#page
    if (head === undefined || head.place > placeMax) return undefined
    this.#page.shift()
    return head
  }

  async #readPage(): Promise<void> {
    const page = { accountId: this.#accountId, afterPlace: this.#afterPlace, countMax: pageSize }
    this.#page = [...(await listHeadsAfter(this.#snapshot, page))]
    this.#isAtEnd = this.#page.length < pageSize
    this.#afterPlace = this.#page.at(-1)?.place ?? this.#afterPlace
  }
}

const unsealedMax = 100

/** Finds entries without a place in a chain, and keys that nothing vouches for. For the whole store. */
export async function auditSeals(snapshot: Queryable, findings: Findings): Promise<void> {
  await auditKeys(snapshot, findings)
  const { throughSequence } = await readSealMark(snapshot)
  const rows = await snapshot.query(
    `SELECT e.account_id, e.sequence, e.reference FROM entry e
      WHERE e.sequence <= $1
        AND NOT EXISTS (SELECT 1 FROM sealed_entry s WHERE s.sequence = e.sequence)
      ORDER BY e.sequence LIMIT $2`,
    [throughSequence, unsealedMax],
  )
  for (const row of rows)
    report(findings, {
      kind: 'chain',
      accountId: String(row['account_id']),
      row: `entry ${String(row['reference'])}`,
      text: `entry ${String(row['sequence'])} is in no chain, and all entries up to ${throughSequence} were sealed`,
      stored: 'not sealed',
      derived: 'sealed',
    })
}

async function auditKeys(snapshot: Queryable, findings: Findings): Promise<void> {
  const keys = await listSigningKeys(snapshot)
  for (const key of keys) {
    const signer = keys.find(({ id }) => id === key.signedBy)
    const isVouchedFor =
      key.signedBy === undefined ||
      (signer !== undefined && isSignedBy(signer.publicKey, keyText(key), key.signature ?? ''))
    if (key.id === keyIdOf(key.publicKey) && isVouchedFor) continue
    report(findings, {
      kind: 'signing_key',
      accountId: '',
      row: `signing_key ${key.id}`,
      text: `the signing key ${key.id} is not the one that was made`,
      stored: key.publicKey,
      derived: `signed by ${key.signedBy ?? 'no key'}`,
    })
  }
}

function timeOf({ hourMs }: SealedHead): string {
  return new Date(hourMs).toISOString()
}
