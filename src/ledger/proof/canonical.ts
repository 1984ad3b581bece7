/**
 * The canonical form of entries, heads and keys, as docs/verify.md describes it for others: UTF-8 JSON in one
 * line with a fixed order of members, all values strings. Pure; a change here breaks every proof ever given.
 *
 *     leaf(n) = SHA-256(form of entry n)
 *     hash(n) = SHA-256(hash(n − 1) ‖ leaf(n)),  hash(0) = 32 zero bytes
 */
import { hash } from 'node:crypto'
import type { Picos } from '../../base/money.ts'

export interface ProvenEntry {
  readonly accountId: string
  /** In the chain of its account, from 1. */
  readonly place: number
  readonly sequence: number
  readonly kind: string
  readonly reference: string
  readonly amountPicos: Picos
  readonly createdAtMs: number
  /** SHA-256 of the price lines; empty for an entry without. */
  readonly billHash: string
}

export interface ProvenHead {
  readonly accountId: string
  /** The end of the hour. */
  readonly hourMs: number
  /** The number of entries before it in the chain. */
  readonly place: number
  /** Of all these entries: a balance. */
  readonly sumPicos: Picos
  readonly hash: string
  readonly keyId: string
}

export interface ProvenKey {
  readonly id: string
  /** 32 bytes as hex. */
  readonly publicKey: string
  readonly createdAtMs: number
}

/** The hash before the first entry. */
export const firstHash = '0'.repeat(64)

export function leafOf(entry: ProvenEntry): string {
  const { accountId, place, sequence, kind, reference, amountPicos, createdAtMs, billHash } = entry
  return hash(
    'sha256',
    JSON.stringify({
      form: 'turnpike-entry-1',
      account: accountId,
      place: String(place),
      sequence: String(sequence),
      kind,
      reference,
      amount: String(amountPicos),
      at: timeOf(createdAtMs),
      bill: billHash,
    }),
  )
}

export function hashAfter(before: string, leaf: string): string {
  return hash('sha256', Buffer.from(before + leaf, 'hex'))
}

/** Returns the hash of the price lines of a charge, as they are stored. */
export function billHashOf(priceLines: string): string {
  return hash('sha256', priceLines)
}

/** Returns the text that a head's signature is of. */
export function headText(head: ProvenHead): string {
  return JSON.stringify({
    form: 'turnpike-head-1',
    account: head.accountId,
    hour: timeOf(head.hourMs),
    count: String(head.place),
    sum: String(head.sumPicos),
    hash: head.hash,
    key: head.keyId,
  })
}

/** Returns the text that an earlier key signs of a new one. */
export function keyText({ id, publicKey, createdAtMs }: ProvenKey): string {
  return JSON.stringify({
    form: 'turnpike-key-1',
    key: id,
    public_key: publicKey,
    created: timeOf(createdAtMs),
  })
}

const keyIdLength = 16

export function keyIdOf(publicKey: string): string {
  return hash('sha256', Buffer.from(publicKey, 'hex')).slice(0, keyIdLength)
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString()
}
