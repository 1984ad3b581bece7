/**
 * Checks a statement as docs/verify.md describes it, from its text alone: sums, bills, chain, heads,
 * signatures, and that it continues an older one. Pure: no store, and no other source of truth than the key
 * that its reader trusts.
 */
import { z } from 'zod'
import { hourMs } from '../../base/clock.ts'
import { parseUsd, subtractPicos, zeroPicos, type Picos } from '../../base/money.ts'
import {
  billHashOf,
  firstHash,
  hashAfter,
  headText,
  keyIdOf,
  keyText,
  leafOf,
} from '../../ledger/proof/canonical.ts'
import { isSignedBy } from '../../ledger/proof/signing-keys.ts'
import { readBill } from '../../metering/price-lines.ts'
import { headForm, keyForm, lineProofForm } from './proof-form.ts'

const money = z.string().transform((text, context): Picos => {
  const amount = parseUsd(text)
  if (amount !== undefined) return amount
  context.addIssue('invalid')
  return z.NEVER
})

const lineForm = z.object({
  sequence: z.int(),
  at: z.iso.datetime(),
  kind: z.string(),
  reference: z.string(),
  amount: money,
  balance: money,
  proof: lineProofForm.nullable(),
})
type Line = z.output<typeof lineForm>
type SealedLine = Line & { readonly proof: NonNullable<Line['proof']> }

const signedHeadForm = headForm.extend({ sum: money })
type Head = z.output<typeof signedHeadForm>

export const verifiableForm = z.object({
  account_id: z.string(),
  opening_balance: money,
  entries: z.array(lineForm),
  closing_balance: money,
  proof: z
    .object({
      heads: z.array(signedHeadForm),
      gaps: z.array(z.object({ place: z.int(), leaf: z.string().regex(/^[0-9a-f]{64}$/) })),
      keys: z.array(keyForm),
    })
    .nullable(),
})
export type Verifiable = z.output<typeof verifiableForm>

export interface Verified {
  readonly lines: number
  /** Lines with a place in the chain. */
  readonly sealed: number
  /** Lines whose bill is in the statement. */
  readonly bills: number
  readonly sealedUntil: string | undefined
  /** The key that all others follow from: the trusted one, or the first one. */
  readonly key: string | undefined
  readonly problems: readonly string[]
}

export interface VerifyOptions {
  /** A public key or its id. */
  readonly trustedKey?: string | undefined
  readonly older?: Verifiable | undefined
}

export function verifyStatement(
  statement: Verifiable,
  { trustedKey, older }: VerifyOptions,
): Verified {
  const problems: string[] = []
  const sealed = statement.entries.filter(isSealed)
  checkSums(statement, problems)
  const keys = followKeys(statement, trustedKey, problems)
  const hashes = checkChain(statement, { sealed, keys, problems })
  checkUnsealed(statement, problems)
  if (older !== undefined) checkContinues(statement, { older, hashes, problems })
  return {
    lines: statement.entries.length,
    sealed: sealed.length,
    bills: sealed.filter(({ proof }) => proof.bill !== null).length,
    sealedUntil: statement.proof?.heads.at(-1)?.hour,
    key: keys.keys().next().value,
    problems,
  }
}

function isSealed(line: Line): line is SealedLine {
  return line.proof !== null
}

function checkSums(statement: Verifiable, problems: string[]): void {
  let balance: bigint = statement.opening_balance
  for (const line of statement.entries) {
    balance += line.amount
    if (balance !== line.balance)
      problems.push(`${line.reference}: the balance after the line is not the sum`)
  }
  if (balance !== statement.closing_balance)
    problems.push('the lines do not add up to the closing balance')
}

/**
 * Returns the keys that lead from the trusted one, each signed by one before it; without one, from the
 * first.
 */
function followKeys(
  { proof }: Verifiable,
  trustedKey: string | undefined,
  problems: string[],
): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const [index, key] of (proof?.keys ?? []).entries()) {
    const { id, public_key: publicKey } = key
    const signer = found.get(key.signed_by ?? '')
    const text = keyText({ id, publicKey, createdAtMs: Date.parse(key.created_at) })
    const isStart =
      trustedKey === undefined ? index === 0 : trustedKey === id || trustedKey === publicKey
    if (keyIdOf(publicKey) !== id) problems.push(`the id of key ${id} is not that of its bytes`)
    else if (isStart || (signer !== undefined && isSignedBy(signer, text, key.signature ?? '')))
      found.set(id, publicKey)
  }
  return found
}

interface ChainCheck {
  readonly sealed: readonly SealedLine[]
  readonly keys: ReadonlyMap<string, string>
  readonly problems: string[]
}

type Hashes = ReadonlyMap<number, string>

/** Returns the hashes that signed heads prove, by place. */
function checkChain(statement: Verifiable, { sealed, keys, problems }: ChainCheck): Hashes {
  const accountId = statement.account_id
  const { heads = [], gaps = [] } = statement.proof ?? {}
  const lines = new Map(sealed.map((line) => [line.proof.place, line]))
  const leaves = new Map(gaps.map(({ place, leaf }) => [place, leaf]))
  for (const line of sealed) leaves.set(line.proof.place, checkedLeaf(accountId, line, problems))
  const hashes = new Map<number, string>()
  let before: Before = { count: 0, sum: zeroPicos, hash: firstHash }
  for (const head of heads) {
    const key = keys.get(head.key)
    if (key === undefined || !isSignedBy(key, signedText(accountId, head), head.signature))
      problems.push(`the head of ${head.hour} is not signed by a key that you can trust`)
    checkHour(head, { before, lines, leaves, hashes, problems })
    hashes.set(head.count, head.hash)
    before = head
  }
  for (const place of lines.keys())
    if (!hashes.has(place)) problems.push(`place ${place}: no signed head in the file proves it`)
  return hashes
}

type Before = Pick<Head, 'count' | 'sum' | 'hash'>

interface HourCheck {
  readonly before: Before
  readonly lines: ReadonlyMap<number, SealedLine>
  readonly leaves: ReadonlyMap<number, string>
  readonly hashes: Map<number, string>
  readonly problems: string[]
}

/** Follows the chain from one head to the next. Hours without a line in the statement are not in it. */
function checkHour(head: Head, hour: HourCheck): void {
  const { before, lines, leaves, hashes, problems } = hour
  const first = before.count + 1
  if (first > head.count || !(leaves.has(first) || leaves.has(head.count))) return
  let hash = before.hash
  let sum: bigint | undefined = before.sum
  for (let place = first; place <= head.count; place++) {
    const leaf = leaves.get(place)
    if (leaf === undefined) {
      problems.push(`place ${place}: the line is missing`)
      return
    }
    hash = hashAfter(hash, leaf)
    hashes.set(place, hash)
    const line = lines.get(place)
    sum = line === undefined || sum === undefined ? undefined : sum + line.amount
    if (line !== undefined && line.proof.hash !== hash)
      problems.push(`place ${place}: the line does not follow from the lines before it`)
  }
  if (hash !== head.hash) problems.push(`the head of ${head.hour} is not the end of its lines`)
  if (sum !== undefined && sum !== head.sum)
    problems.push(`the head of ${head.hour} has another sum than its lines`)
}

function signedText(accountId: string, head: Head): string {
  return headText({
    accountId,
    hourMs: Date.parse(head.hour),
    place: head.count,
    sumPicos: head.sum,
    hash: head.hash,
    keyId: head.key,
  })
}

function checkedLeaf(accountId: string, line: SealedLine, problems: string[]): string {
  const { place, bill, bill_hash: billHash } = line.proof
  if (bill !== null && billHashOf(bill) !== billHash)
    problems.push(`${line.reference}: the bill is not the one that was sealed`)
  if (bill !== null && amountOf(bill) !== subtractPicos(zeroPicos, line.amount))
    problems.push(`${line.reference}: counts × prices are not the amount`)
  return leafOf({
    accountId,
    place,
    sequence: line.sequence,
    kind: line.kind,
    reference: line.reference,
    amountPicos: line.amount,
    createdAtMs: Date.parse(line.at),
    billHash,
  })
}

/** Undefined where the text is no bill. */
function amountOf(bill: string): bigint | undefined {
  try {
    return readBill(bill).amountPicos
  } catch {
    // Whatever is wrong with it: it is not the amount.
    return undefined
  }
}

/** A charge that is booked late is sealed an hour later. */
const lateMs = 2 * hourMs

function checkUnsealed({ entries, proof }: Verifiable, problems: string[]): void {
  const last = proof?.heads.at(-1)
  if (last === undefined) return
  for (const line of entries)
    if (line.proof === null && Date.parse(line.at) < Date.parse(last.hour) - lateMs)
      problems.push(`${line.reference}: the line is older than a signed head and is not sealed`)
}

function checkContinues(
  statement: Verifiable,
  found: { readonly older: Verifiable; readonly hashes: Hashes; readonly problems: string[] },
): void {
  const { older, hashes, problems } = found
  const heads = older.proof?.heads ?? []
  const last = heads.at(-1)
  if (older.account_id !== statement.account_id || last === undefined) {
    problems.push('the older statement is of another account, or has no signed head')
    return
  }
  if (!hashes.has(last.count))
    problems.push('the newer statement does not reach back to the last head of the older one')
  for (const head of heads)
    if ((hashes.get(head.count) ?? head.hash) !== head.hash)
      problems.push(`the head of ${head.hour} that you kept is not in the newer books`)
}
