/**
 * The limits in USD and of tokens per minute as plain sums over everything that has happened: what a ledger
 * has to decide, worked out apart from it. Amounts are bare pico-dollars.
 */
import { utcDay, utcMonth } from '../../src/base/clock.ts'
import type { KeyLimits } from '../../src/base/key-limits.ts'
import type { HoldRefusal } from '../../src/ledger/ledger.ts'

export interface ModelLimits {
  readonly dailyPicos: bigint
  readonly tpm: number
}

interface Charge {
  readonly exchangeId: string
  readonly keyId: string
  readonly amountPicos: bigint
  readonly endedAtMs: number
  readonly tokens: number
  refundedPicos: bigint
}

export interface ModelRequest {
  readonly keyId: string
  readonly keyLimits: KeyLimits
  readonly amountPicos: bigint
  readonly atMs: number
}

/** A decision as text, with the figures that it names. */
export type Decision = string

export class LimitsModel {
  readonly #limits: ModelLimits
  readonly charges: Charge[] = []
  readonly #holds = new Map<string, { readonly keyId: string; readonly amountPicos: bigint }>()
  #balancePicos: bigint

  constructor(balancePicos: bigint, limits: ModelLimits) {
    this.#balancePicos = balancePicos
    this.#limits = limits
  }

  credit(amountPicos: bigint): void {
    this.#balancePicos += amountPicos
  }

  hold(exchangeId: string, { keyId, amountPicos }: ModelRequest): void {
    this.#holds.set(exchangeId, { keyId, amountPicos })
  }

  settle(exchangeId: string, charge: Omit<Charge, 'exchangeId' | 'keyId' | 'refundedPicos'>): void {
    const { keyId = '' } = this.#holds.get(exchangeId) ?? {}
    this.#holds.delete(exchangeId)
    this.#balancePicos -= charge.amountPicos
    this.charges.push({ ...charge, exchangeId, keyId, refundedPicos: 0n })
  }

  /** Belongs to the day and month of its charge, whenever it is given back. */
  refund(charge: Charge, amountPicos: bigint): void {
    charge.refundedPicos = amountPicos
    this.#balancePicos += amountPicos
  }

  decide(request: ModelRequest): Decision {
    const { keyId, keyLimits, amountPicos, atMs } = request
    const day = utcDay(atMs)
    const month = utcMonth(atMs)
    const isOfKey = (one: { readonly keyId: string }): boolean => one.keyId === keyId
    if (reaches(this.#limits.tpm, this.#tokensSince(atMs))) return 'token_limited account'
    if (reaches(keyLimits.tpm, this.#tokensSince(atMs, isOfKey))) return 'token_limited key'
    const held = this.#held()
    if (this.#balancePicos - held < amountPicos) return 'insufficient_balance'
    const isToday = ({ endedAtMs }: Charge): boolean => utcDay(endedAtMs) === day
    const isThisMonth = ({ endedAtMs }: Charge): boolean => utcMonth(endedAtMs) === month
    const keyHeld = this.#held(isOfKey)
    const ofKey = this.charges.filter(isOfKey)
    const rules = [
      ['account day', this.#limits.dailyPicos, sumOf(this.charges.filter(isToday)), held],
      ['key day', keyLimits.dailyPicos, sumOf(ofKey.filter(isToday)), keyHeld],
      ['key month', keyLimits.monthlyPicos, sumOf(ofKey.filter(isThisMonth)), keyHeld],
      ['key total', keyLimits.totalPicos, sumOf(ofKey), keyHeld],
    ] as const
    for (const [name, limit, used, reserved] of rules)
      if (limit > 0n && used + reserved + amountPicos > limit)
        return `spending_limit ${name}: ${used} used and ${reserved} held of ${limit}`
    return 'hold'
  }

  #held(fits: (hold: { readonly keyId: string }) => boolean = () => true): bigint {
    let sum = 0n
    for (const hold of this.#holds.values()) if (fits(hold)) sum += hold.amountPicos
    return sum
  }

  /** Of the second of this moment and the 59 before it. */
  #tokensSince(atMs: number, fits: (charge: Charge) => boolean = () => true): number {
    const first = Math.floor(atMs / 1_000) - 59
    return this.charges
      .filter((charge) => Math.floor(charge.endedAtMs / 1_000) >= first && fits(charge))
      .reduce((sum, { tokens }) => sum + tokens, 0)
  }
}

function reaches(limit: number, tokens: number): boolean {
  return limit > 0 && tokens >= limit
}

function sumOf(charges: readonly Charge[]): bigint {
  return charges.reduce((sum, one) => sum + one.amountPicos - one.refundedPicos, 0n)
}

/** What a ledger has decided, in the words of the model. */
export function decisionOf(refusal: HoldRefusal | { readonly kind: 'hold' } | undefined): Decision {
  if (refusal?.kind === 'spending_limit') {
    const { scope, period, usedPicos, heldPicos, limitPicos } = refusal
    return `spending_limit ${scope} ${period}: ${usedPicos} used and ${heldPicos} held of ${limitPicos}`
  }
  if (refusal?.kind === 'token_limited') return `token_limited ${refusal.scope}`
  return refusal?.kind ?? 'hold'
}
