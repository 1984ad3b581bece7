/**
 * Seals the entries of the hours that have ended: appends them to the chains of their accounts, and signs a
 * head for each chain that has grown. Beside charges and in small transactions. A chain has entries in the
 * order in which they were sealed, so an entry that is booked late breaks none: it comes into the next hour.
 * After a crash anywhere the next round goes on: a page is sealed as a whole, and the mark moves after the
 * last head. Where two nodes seal at the same time, one of them fails and changes nothing.
 */
import { hourMs } from '../../base/clock.ts'
import { addPicos } from '../../base/money.ts'
import type { Secret } from '../../base/secret.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { billHashOf, hashAfter, headText, leafOf } from './canonical.ts'
import {
  findHead,
  insertHeads,
  insertSealed,
  listSealedAccounts,
  listWriters,
  readChainEnd,
  readSealMark,
  readSettling,
  readUnsealed,
  saveSealMark,
  sumSealed,
  type ChainEnd,
  type SealedEntry,
  type SealedHead,
  type UnsealedEntry,
} from './seal-store.ts'
import { openSigner, type Signer } from './signing-keys.ts'

export interface SealOrder {
  /** Entries of hours that have ended by then are sealed. */
  readonly nowMs: number
  readonly masterKey: Secret
  /** Waited for after each transaction. */
  readonly pause: () => Promise<void>
}

export interface SealReport {
  readonly entries: number
  readonly heads: number
}

const entriesPerTransaction = 250
const headsPerTransaction = 50
/** How often a round looks whether transactions that were running have ended. */
const looksMax = 100

export async function sealHours(database: Database, order: SealOrder): Promise<SealReport> {
  const untilMs = Math.floor(order.nowMs / hourMs) * hourMs
  const mark = await readSealMark(database)
  // A mark that is further ahead comes from a clock that was wrong.
  if (untilMs <= mark.hourMs && mark.hourMs <= untilMs + hourMs) return { entries: 0, heads: 0 }
  const settled = await waitForWriters(database, order)
  const sealed = await sealEntries(database, { ...order, untilMs, after: mark.throughSequence })
  await order.pause()
  const heads = await signHeads(database, { ...order, untilMs, after: mark.throughSequence })
  const through = Math.min(settled ?? mark.throughSequence, sealed.firstLeft - 1)
  const throughSequence = Math.max(through, mark.throughSequence)
  await database.transact((transaction) =>
    saveSealMark(transaction, { hourMs: untilMs, throughSequence }),
  )
  return { entries: sealed.count, heads }
}

/** Resolves with a number below which no entry comes any more; undefined where a transaction stays open. */
async function waitForWriters(
  database: Database,
  { pause }: SealOrder,
): Promise<number | undefined> {
  const { sequence, running } = await readSettling(database)
  let waiting = new Set(running)
  for (let looks = 0; waiting.size > 0; looks++) {
    if (looks === looksMax) return undefined
    await pause()
    waiting = new Set((await listWriters(database)).filter((id) => waiting.has(id)))
  }
  return sequence
}

interface Hours extends SealOrder {
  readonly untilMs: number
  /** All entries up to this number were sealed before. */
  readonly after: number
}

/** Returns the number of the first entry that is not sealed, because its hour has not ended. */
async function sealEntries(
  database: Database,
  { after, untilMs, pause }: Hours,
): Promise<{ readonly count: number; readonly firstLeft: number }> {
  let count = 0
  let firstLeft = Number.MAX_SAFE_INTEGER
  for (let afterSequence = after; ;) {
    const page = { afterSequence, countMax: entriesPerTransaction }
    const entries = await readUnsealed(database, page)
    const ended = entries.filter(({ createdAtMs }) => createdAtMs < untilMs)
    const left = entries.find(({ createdAtMs }) => createdAtMs >= untilMs)
    firstLeft = Math.min(firstLeft, left?.sequence ?? firstLeft)
    if (ended.length > 0)
      await database.transact(async (transaction) =>
        insertSealed(transaction, await extendChains(transaction, ended)),
      )
    count += ended.length
    const last = entries.at(-1)
    if (last === undefined || entries.length < entriesPerTransaction) return { count, firstLeft }
    afterSequence = last.sequence
    await pause()
  }
}

async function extendChains(
  queryable: Queryable,
  entries: readonly UnsealedEntry[],
): Promise<SealedEntry[]> {
  const ends = new Map<string, ChainEnd>()
  const sealed: SealedEntry[] = []
  for (const entry of entries) {
    const { accountId, sequence, priceLines } = entry
    const end = ends.get(accountId) ?? (await readChainEnd(queryable, accountId))
    const place = end.place + 1
    const billHash = priceLines === undefined ? '' : billHashOf(priceLines)
    const hash = hashAfter(end.hash, leafOf({ ...entry, place, billHash }))
    ends.set(accountId, { place, hash })
    sealed.push({ accountId, place, sequence, hash, billHash })
  }
  return sealed
}

/** Also those of chains that a round before this one has extended and not signed. */
async function signHeads(database: Database, hours: Hours): Promise<number> {
  let count = 0
  for (let afterAccountId = ''; ;) {
    const accounts = await listSealedAccounts(database, {
      aboveSequence: hours.after,
      afterAccountId,
      countMax: headsPerTransaction,
    })
    const last = accounts.at(-1)
    if (last === undefined) return count
    count += await signSome(database, accounts, hours)
    afterAccountId = last
    await hours.pause()
  }
}

async function signSome(
  database: Database,
  accounts: readonly string[],
  { untilMs, masterKey, nowMs }: Hours,
): Promise<number> {
  return database.transact(async (transaction) => {
    const signer = await openSigner(transaction, { masterKey, nowMs })
    const heads: SealedHead[] = []
    for (const accountId of accounts) {
      const head = await nextHead(transaction, accountId, { signer, untilMs })
      if (head !== undefined) heads.push(head)
    }
    if (heads.length > 0) await insertHeads(transaction, heads)
    return heads.length
  })
}

/** Returns nothing where the newest head covers the whole chain. */
async function nextHead(
  queryable: Queryable,
  accountId: string,
  { signer, untilMs }: { readonly signer: Signer; readonly untilMs: number },
): Promise<SealedHead | undefined> {
  const former = await findHead(queryable, accountId)
  const { place, hash } = await readChainEnd(queryable, accountId)
  const afterPlace = former?.place ?? 0
  if (place === afterPlace) return undefined
  const since = await sumSealed(queryable, { accountId, afterPlace, toPlace: place })
  const sumPicos = former === undefined ? since : addPicos(former.sumPicos, since)
  const head = { accountId, place, hourMs: untilMs, hash, sumPicos, keyId: signer.keyId }
  return { ...head, signature: signer.sign(headText(head)) }
}
