/**
 * The limits in USD and of tokens per minute as plain sums over everything that has happened: what a ledger
 * has to decide, worked out apart from it. Amounts are bare pico-dollars. It also knows what was left in each
 * scope when a request was admitted, and holds the ledger to its promise: no scope passes its limit, or the
 * balance its line, by more than one request's charge less what was left then.
 */
import assert from 'node:assert/strict'
import { utcDay, utcMonth } from '../../src/base/clock.ts'
import type { KeyLimits } from '../../src/base/key-limits.ts'
import type { HoldRefusal } from '../../src/ledger/ledger.ts'

export interface ModelLimits {
  readonly creditLinePicos: bigint
  readonly dailyPicos: bigint
  readonly monthlyPicos: bigint
  readonly tpm: number
  readonly setsClock: boolean
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
  readonly likelyPicos: bigint
  readonly atMs: number
}

/** One limit in USD, as it is at some moment. */
interface Scope {
  readonly name: string
  readonly limitPicos: bigint
  readonly usedPicos: bigint
  readonly heldPicos: bigint
}

interface Placed {
  readonly keyId: string
  readonly keyLimits: KeyLimits
  readonly amountPicos: bigint
  /** By the name of a scope. */
  readonly left: ReadonlyMap<string, bigint>
}

/** A decision as text, with the figures that it names. */
export type Decision = string

export class LimitsModel {
  readonly #limits: ModelLimits
  readonly charges: Charge[] = []
  readonly #holds = new Map<string, Placed>()
  /** The most by which one charge has passed what was left of a scope: the line that it must not pass. */
  readonly #passed = new Map<string, bigint>()
  #balancePicos: bigint

  constructor(balancePicos: bigint, limits: ModelLimits) {
    this.#balancePicos = balancePicos
    this.#limits = limits
  }

  /** What an operator takes away is no charge: the balance may pass its line by it. */
  credit(amountPicos: bigint): void {
    this.#balancePicos += amountPicos
    if (amountPicos < 0n) this.#notePassed('balance', -amountPicos, true)
  }

  hold(exchangeId: string, request: ModelRequest): void {
    const { keyId, keyLimits, amountPicos } = request
    const left = new Map(this.#scopesOf(request).map((scope) => [scope.name, leftOf(scope)]))
    this.#holds.set(exchangeId, { keyId, keyLimits, amountPicos, left })
  }

  isUncovered(request: ModelRequest): boolean {
    return this.#scopesOf(request).some((scope) => leftOf(scope) < request.amountPicos)
  }

  settle(exchangeId: string, charge: Omit<Charge, 'exchangeId' | 'keyId' | 'refundedPicos'>): void {
    const placed = this.#holds.get(exchangeId)
    assert.ok(placed !== undefined)
    const { keyId } = placed
    this.#holds.delete(exchangeId)
    this.#balancePicos -= charge.amountPicos
    this.charges.push({ ...charge, exchangeId, keyId, refundedPicos: 0n })
    for (const [name, picos] of placed.left)
      this.#notePassed(passedName(name, keyId), charge.amountPicos - picos, false)
    this.#assertWithin(placed, charge.endedAtMs)
  }

  #notePassed(name: string, picos: bigint, isAdded: boolean): void {
    const before = this.#passed.get(name) ?? 0n
    if (isAdded) this.#passed.set(name, before + picos)
    else if (picos > before) this.#passed.set(name, picos)
  }

  /** As of the day and month on which the charge is booked, unless the clock is set back to those before. */
  #assertWithin({ keyId, keyLimits, left }: Placed, atMs: number): void {
    const asked = { keyId, keyLimits, amountPicos: 0n, likelyPicos: 0n, atMs }
    for (const scope of this.#scopesOf(asked)) {
      if (!left.has(scope.name)) continue
      if (this.#limits.setsClock && /day|month/.test(scope.name)) continue
      const { name, usedPicos, limitPicos } = scope
      const overPicos = usedPicos - limitPicos
      const passed = this.#passed.get(passedName(name, keyId)) ?? 0n
      assert.ok(overPicos <= passed, `${name} is passed by ${overPicos}, one request by ${passed}`)
    }
  }

  /** Belongs to the day and month of its charge, whenever it is given back. */
  refund(charge: Charge, amountPicos: bigint): void {
    charge.refundedPicos = amountPicos
    this.#balancePicos += amountPicos
  }

  decide(request: ModelRequest): Decision {
    const { keyId, keyLimits, amountPicos, atMs } = request
    const isOfKey = (one: { readonly keyId: string }): boolean => one.keyId === keyId
    if (reaches(this.#limits.tpm, this.#tokensSince(atMs))) return 'token_limited account'
    if (reaches(keyLimits.tpm, this.#tokensSince(atMs, isOfKey))) return 'token_limited key'
    const leastPicos = request.likelyPicos > 1n ? request.likelyPicos : min(amountPicos, 1n)
    for (const scope of this.#scopesOf(request)) {
      if (leftOf(scope) >= leastPicos) continue
      if (scope.name === 'balance') return 'insufficient_balance'
      const { name, usedPicos, heldPicos, limitPicos } = scope
      return `spending_limit ${name}: ${usedPicos} used and ${heldPicos} held of ${limitPicos}`
    }
    return 'hold'
  }

  /** Those with a limit, in the order in which they decide. */
  #scopesOf({ keyId, keyLimits, atMs }: ModelRequest): readonly Scope[] {
    const day = utcDay(atMs)
    const month = utcMonth(atMs)
    const isOfKey = (one: { readonly keyId: string }): boolean => one.keyId === keyId
    const isToday = ({ endedAtMs }: Charge): boolean => utcDay(endedAtMs) === day
    const isThisMonth = ({ endedAtMs }: Charge): boolean => utcMonth(endedAtMs) === month
    const held = this.#held()
    const keyHeld = this.#held(isOfKey)
    const { charges } = this
    const ofKey = charges.filter(isOfKey)
    const { creditLinePicos, dailyPicos, monthlyPicos } = this.#limits
    const scopes = [
      ['account day', dailyPicos, sumOf(charges.filter(isToday)), held],
      ['account month', monthlyPicos, sumOf(charges.filter(isThisMonth)), held],
      ['key day', keyLimits.dailyPicos, sumOf(ofKey.filter(isToday)), keyHeld],
      ['key month', keyLimits.monthlyPicos, sumOf(ofKey.filter(isThisMonth)), keyHeld],
      ['key total', keyLimits.totalPicos, sumOf(ofKey), keyHeld],
    ] as const
    const balance = {
      name: 'balance',
      limitPicos: creditLinePicos,
      usedPicos: -this.#balancePicos,
      heldPicos: held,
    }
    const others = scopes.map(([name, limitPicos, usedPicos, heldPicos]) => ({
      name,
      limitPicos,
      usedPicos,
      heldPicos,
    }))
    return [balance, ...others.filter(({ limitPicos }) => limitPicos > 0n)]
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

function leftOf({ limitPicos, usedPicos, heldPicos }: Scope): bigint {
  return limitPicos - usedPicos - heldPicos
}

/** The limits of a key are its own; the day and the month are those of any request. */
function passedName(scope: string, keyId: string): string {
  return scope.startsWith('key') ? `${scope} ${keyId}` : scope
}

function min(left: bigint, right: bigint): bigint {
  return left < right ? left : right
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
