/**
 * Collects what proves the lines of a statement: the signed heads of the hours in which they were sealed, and
 * the leaves of the entries of these hours that are not in the statement. So its reader can follow the chain
 * from head to head. Memory grows with the hours, and not with the lines.
 */
import type { Queryable } from '../../storage/database.ts'
import { leafOf } from './canonical.ts'
import { findHead, listHeadsAfter, readSealedRange, type SealedHead } from './seal-store.ts'

export interface StatementProof {
  /** In the order of their places. The first one is before the first line, unless the chain begins there. */
  readonly heads: readonly SealedHead[]
  /** Entries of their hours that are not in the statement. */
  readonly gaps: readonly ChainGap[]
}

export interface ChainGap {
  readonly place: number
  readonly leaf: string
}

interface Range {
  readonly from: number
  /** The last one. */
  to: number
}

/** Hours with more entries that are not in the statement are left out. */
const gapsMax = 20_000
const headsPerPage = 500

export class ProofCollector {
  readonly #accountId: string
  /** In order, none beside another one. */
  #ranges: Range[] = []

  constructor(accountId: string) {
    this.#accountId = accountId
  }

  /** Notes an entry of the statement. */
  add(place: number): void {
    const ranges = this.#ranges
    let index = ranges.length
    while (index > 0 && (ranges[index - 1]?.from ?? 0) > place) index--
    const before = ranges[index - 1]
    const next = ranges[index]
    if (before !== undefined && before.to >= place - 1) before.to = Math.max(before.to, place)
    else ranges.splice(index++, 0, { from: place, to: place })
    const grown = ranges[index - 1]
    if (grown === undefined || next === undefined || grown.to < next.from - 1) return
    grown.to = Math.max(grown.to, next.to)
    ranges.splice(index, 1)
  }

  /** Reads the heads and gaps. Sealed rows do not change, so `store` need not be one moment. */
  async read(store: Queryable): Promise<StatementProof> {
    const heads: SealedHead[] = []
    const gaps: ChainGap[] = []
    const [first] = this.#ranges
    if (first === undefined) return { heads, gaps }
    let before = await findHead(store, this.#accountId, first.from - 1)
    for await (const head of this.#eachHead(store, before?.place ?? 0)) {
      const missing = this.#missingIn((before?.place ?? 0) + 1, head.place)
      const count = missing?.reduce((sum, { from, to }) => sum + to - from + 1, 0) ?? Infinity
      if (missing !== undefined && gaps.length + count <= gapsMax) {
        if (before !== undefined && heads.at(-1) !== before) heads.push(before)
        heads.push(head)
        for (const range of missing) gaps.push(...(await this.#readLeaves(store, range)))
      }
      before = head
    }
    return { heads, gaps }
  }

  async *#eachHead(store: Queryable, afterPlace: number): AsyncGenerator<SealedHead> {
    const lastPlace = this.#ranges.at(-1)?.to ?? 0
    const accountId = this.#accountId
    for (let after = afterPlace; after < lastPlace;) {
      const page = { accountId, afterPlace: after, countMax: headsPerPage }
      const heads = await listHeadsAfter(store, page)
      for (const head of heads) {
        if (after >= lastPlace) return
        yield head
        after = head.place
      }
      if (heads.length < headsPerPage) return
    }
  }

  /**
   * Returns the places from `from` to `to` that are not in the statement; undefined where none of them is.
   */
  #missingIn(from: number, to: number): readonly Range[] | undefined {
    const within = this.#ranges.filter((range) => range.to >= from && range.from <= to)
    if (within.length === 0) return undefined
    const missing: Range[] = []
    let next = from
    for (const range of within) {
      if (range.from > next) missing.push({ from: next, to: range.from - 1 })
      next = range.to + 1
    }
    if (next <= to) missing.push({ from: next, to })
    return missing
  }

  async #readLeaves(store: Queryable, { from, to }: Range): Promise<ChainGap[]> {
    const entries = await readSealedRange(store, { accountId: this.#accountId, from, to })
    return entries.map((entry) => ({ place: entry.place, leaf: leafOf(entry) }))
  }
}
