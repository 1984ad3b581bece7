/**
 * Decides in memory whether an exchange may start: balances, open holds, today's charges and request
 * windows of the accounts seen so far. No I/O and no own clock. Invariants:
 *
 *     held       = Σ open holds + Σ charges not durable yet        (never negative)
 *     balance    = the store's balance as last read; it includes only acknowledged charges
 *     admitted   only if amount ≤ balance − held, and used today + held + amount ≤ each daily limit
 */
import { invariant } from '../../base/errors.ts'
import { addPicos, subtractPicos, zeroPicos, type Picos } from '../../base/money.ts'
import {
  freeRequestsPerRequest,
  type CountRequest,
  type Headroom,
  type Hold,
  type HoldRefusal,
  type HoldRequest,
} from '../ledger.ts'
import { RequestWindow } from './request-window.ts'

/** With more accounts than this, idle accounts are forgotten and loaded again when needed. */
const accountsMax = 100_000
const dayMs = 86_400_000
const minuteMs = 60_000

export interface AccountFacts {
  readonly accountId: string
  readonly balancePicos: Picos
  readonly dailyLimitPicos: Picos
  readonly rpm: number
  readonly windowMinutes: number
}

/** Everything about an account that a restart loads again. */
export interface LoadedAccount {
  readonly facts: AccountFacts
  /** Charges booked on the requested day, by key. */
  readonly usedByKey: readonly (readonly [keyId: string, usedPicos: Picos])[]
  /** Wall times at which recorded exchanges within the window began, oldest first. */
  readonly startedAtMs: readonly number[]
}

/** The stored charge of an exchange. */
export interface BookedCharge {
  readonly exchangeId: string
  readonly endedAtMs: number
  readonly amountPicos: Picos
}

/** The figures for a daily limit, of an account or a key. */
interface DayFigures {
  usedPicos: Picos
  heldPicos: Picos
  /** Holds can be zero, so the amount does not show whether there are any. */
  openCount: number
}

interface Account extends DayFigures {
  facts: AccountFacts
  /** The UTC day of the used amounts, counted from 1970. */
  day: number
  /** The latest day with a decision or a booking; only on later days nothing is used yet. */
  lastDay: number
  /** Set when the used amounts must be loaded again. */
  isStale: boolean
  readonly keys: Map<string, DayFigures>
  readonly window: RequestWindow
  /** Made with the first free request. */
  freeRequests: RequestWindow | undefined
}

interface OpenHold {
  readonly hold: Hold
  readonly account: Account
  readonly key: DayFigures
  /** The hold's amount; then the exact charge, while it is being stored. */
  amountPicos: Picos
  /** Set while the charge is being stored; settling again returns the same promise. */
  settling: Promise<void> | undefined
}

/** Returns the number of the UTC day; booking.ts uses it, too, so both agree on a charge's day. */
export function dayNumber(atMs: number): number {
  return Math.floor(atMs / dayMs)
}

export class Admission {
  readonly #accounts = new Map<string, Account>()
  readonly #holds = new Map<string, OpenHold>()

  /** Undefined = the account has to be loaded first. `nowMs` is monotonic. */
  place(request: HoldRequest, nowMs: number): Hold | HoldRefusal | undefined {
    const account = this.#current(request.accountId, request.atMs)
    if (account === undefined) return undefined
    const already = this.#holds.get(request.exchangeId)
    if (already !== undefined) return already.hold
    const key = keyOf(account, request.keyId)
    const refusal = refuseHold(account, key, { request, nowMs })
    if (refusal !== undefined) return refusal
    countRequest(account.window, account, nowMs)
    return this.#open(account, key, request)
  }

  /** Undefined = the account has to be loaded first, null = `place` would admit it. */
  check(request: HoldRequest, nowMs: number): HoldRefusal | null | undefined {
    const account = this.#current(request.accountId, request.atMs)
    if (account === undefined) return undefined
    return refuseHold(account, keyOf(account, request.keyId), { request, nowMs }) ?? null
  }

  /** Undefined = the account has to be loaded first, null = counted. */
  count(
    { accountId, allowance, atMs }: CountRequest,
    nowMs: number,
  ): HoldRefusal | null | undefined {
    const account = this.#current(accountId, atMs)
    if (account === undefined) return undefined
    const isRequest = allowance === 'requests'
    const window = isRequest ? account.window : (account.freeRequests ??= new RequestWindow())
    const factor = isRequest ? 1 : freeRequestsPerRequest
    const refusal = refuseRate(window, account, { factor, nowMs })
    if (refusal !== undefined) return refusal
    countRequest(window, account, nowMs)
    return null
  }

  /** Returns the settlement in flight of an open hold. */
  settlingOf(exchangeId: string): Promise<void> | undefined {
    return this.#holds.get(exchangeId)?.settling
  }

  /** From here until `booked` the hold reserves the exact charge. */
  settling(exchangeId: string, chargePicos: Picos, settling: Promise<void>): void {
    const open = this.#holds.get(exchangeId)
    if (open === undefined) return
    open.settling = settling
    const changePicos = subtractPicos(chargePicos, open.amountPicos)
    open.amountPicos = chargePicos
    open.account.heldPicos = addPicos(open.account.heldPicos, changePicos)
    open.key.heldPicos = addPicos(open.key.heldPicos, changePicos)
  }

  /** The store refused the charge: the hold stays, and settling it may be tried again. */
  refused(exchangeId: string): void {
    const open = this.#holds.get(exchangeId)
    if (open !== undefined) open.settling = undefined
  }

  /**
   * The charge is durable: removes its hold and counts the booked amount on its day. That can be less
   * than the charge in flight, which may have been withheld.
   */
  booked({ exchangeId, endedAtMs, amountPicos: bookedPicos }: BookedCharge): void {
    const open = this.#holds.get(exchangeId)
    if (open === undefined) return
    this.#holds.delete(exchangeId)
    // The Map may keep the hold alive in old copies of itself; the exchange must not stay alive with it.
    open.settling = undefined
    const { account, key, amountPicos } = open
    const day = dayNumber(endedAtMs)
    // While the hold still counts as open: a new day forgets the keys that have none.
    reachDay(account, day)
    account.openCount--
    key.openCount--
    account.heldPicos = subtractPicos(account.heldPicos, amountPicos)
    key.heldPicos = subtractPicos(key.heldPicos, amountPicos)
    invariant(account.heldPicos >= 0n && account.openCount >= 0, 'held is never negative')
    if (day !== account.day) return
    account.usedPicos = addPicos(account.usedPicos, bookedPicos)
    key.usedPicos = addPicos(key.usedPicos, bookedPicos)
  }

  /** Sets the balance that the store returned with a commit. */
  setBalance(accountId: string, balancePicos: Picos): void {
    const account = this.#accounts.get(accountId)
    if (account !== undefined) account.facts = { ...account.facts, balancePicos }
  }

  /** Sets limits and balance that were changed elsewhere. */
  update(facts: AccountFacts): void {
    const account = this.#accounts.get(facts.accountId)
    if (account !== undefined) account.facts = facts
  }

  /** Makes the next decision load the account's used amounts from the store. */
  invalidate(accountId: string): void {
    const account = this.#accounts.get(accountId)
    if (account !== undefined) account.isStale = true
  }

  /** Adds or updates an account; its open holds and its window stay. */
  put(loaded: LoadedAccount, atMs: number, nowMs: number): void {
    const { facts } = loaded
    const account = this.#accounts.get(facts.accountId) ?? this.#add(loaded, atMs, nowMs)
    account.facts = facts
    startDay(account, dayNumber(atMs))
    account.lastDay = Math.max(account.lastDay, account.day)
    account.isStale = false
    for (const [keyId, usedPicos] of loaded.usedByKey) {
      keyOf(account, keyId).usedPicos = usedPicos
      account.usedPicos = addPicos(account.usedPicos, usedPicos)
    }
  }

  headroom(accountId: string, nowMs: number): Headroom | undefined {
    const account = this.#accounts.get(accountId)
    if (account === undefined || account.facts.rpm === 0) return undefined
    const { rpm, windowMinutes } = account.facts
    const counted = account.window.dropUntil(nowMs - windowMinutes * minuteMs)
    const rpmLimit = rpm * windowMinutes
    const rpmResetMs = counted === 0 ? 0 : account.window.at(0) + windowMinutes * minuteMs - nowMs
    return { rpmLimit, rpmRemaining: Math.max(0, rpmLimit - counted), rpmResetMs }
  }

  openHolds(): { readonly count: number; readonly heldPicos: Picos } {
    let heldPicos = zeroPicos
    for (const open of this.#holds.values()) heldPicos = addPicos(heldPicos, open.amountPicos)
    return { count: this.#holds.size, heldPicos }
  }

  /** Holds that have not ended durably yet. */
  get openCount(): number {
    return this.#holds.size
  }

  accountIds(): string[] {
    return [...this.#accounts.keys()]
  }

  #open(account: Account, key: DayFigures, request: HoldRequest): Hold {
    const { exchangeId, accountId, keyId, amountPicos } = request
    const hold: Hold = { kind: 'hold', exchangeId, accountId, keyId, amountPicos }
    account.openCount++
    key.openCount++
    account.heldPicos = addPicos(account.heldPicos, amountPicos)
    key.heldPicos = addPicos(key.heldPicos, amountPicos)
    this.#holds.set(exchangeId, { hold, account, key, amountPicos, settling: undefined })
    return hold
  }

  /** Returns the account with its figures for the day of `atMs`, if memory has them. */
  #current(accountId: string, atMs: number): Account | undefined {
    const account = this.#accounts.get(accountId)
    if (account === undefined || account.isStale) return undefined
    const day = dayNumber(atMs)
    reachDay(account, day)
    // Wall time has jumped back over midnight, or back to the later day: the store knows the used amounts.
    return day === account.day ? account : undefined
  }

  #add(loaded: LoadedAccount, atMs: number, nowMs: number): Account {
    if (this.#accounts.size >= accountsMax) this.#forgetIdle(nowMs)
    const account: Account = {
      facts: loaded.facts,
      heldPicos: zeroPicos,
      openCount: 0,
      day: dayNumber(atMs),
      lastDay: dayNumber(atMs),
      usedPicos: zeroPicos,
      isStale: false,
      keys: new Map(),
      window: new RequestWindow(),
      freeRequests: undefined,
    }
    for (const startedAtMs of loaded.startedAtMs)
      account.window.add(nowMs - Math.max(0, atMs - startedAtMs))
    this.#accounts.set(loaded.facts.accountId, account)
    return account
  }

  #forgetIdle(nowMs: number): void {
    for (const [accountId, account] of this.#accounts) {
      const windowStartMs = nowMs - account.facts.windowMinutes * minuteMs
      const isIdle =
        account.window.dropUntil(windowStartMs) === 0 &&
        (account.freeRequests?.dropUntil(windowStartMs) ?? 0) === 0
      if (account.openCount === 0 && isIdle) this.#accounts.delete(accountId)
    }
  }
}

/** Requests per minute, then balance, then daily limits. */
function refuseHold(
  account: Account,
  key: DayFigures,
  { request, nowMs }: { readonly request: HoldRequest; readonly nowMs: number },
): HoldRefusal | undefined {
  return (
    refuseRate(account.window, account, { factor: 1, nowMs }) ??
    refuseBalance(account, request.amountPicos) ??
    refuseDay(account, key, request)
  )
}

function refuseRate(
  window: RequestWindow,
  { facts }: Account,
  { factor, nowMs }: { readonly factor: number; readonly nowMs: number },
): HoldRefusal | undefined {
  const { windowMinutes } = facts
  const rpm = facts.rpm * factor
  if (rpm === 0) return undefined
  const windowMs = windowMinutes * minuteMs
  const counted = window.dropUntil(nowMs - windowMs)
  const excess = counted - rpm * windowMinutes
  if (excess < 0) return undefined
  // After a limit was lowered, more than the oldest request has to leave the window.
  const retryAfterMs = window.at(excess) + windowMs - nowMs
  return { kind: 'rate_limited', retryAfterMs, rpm, windowMinutes }
}

function countRequest(window: RequestWindow, { facts }: Account, nowMs: number): void {
  if (facts.rpm > 0) window.add(nowMs)
}

function refuseBalance(account: Account, amountPicos: Picos): HoldRefusal | undefined {
  const { heldPicos, facts } = account
  const { balancePicos } = facts
  if (balancePicos - heldPicos >= amountPicos) return undefined
  const isHeldOnly = balancePicos >= amountPicos
  return { kind: 'insufficient_balance', balancePicos, heldPicos, isHeldOnly }
}

function refuseDay(
  account: Account,
  key: DayFigures,
  request: HoldRequest,
): HoldRefusal | undefined {
  const { amountPicos, keyDailyLimitPicos } = request
  const { dailyLimitPicos } = account.facts
  if (isOverDay(account, amountPicos, dailyLimitPicos)) {
    const { usedPicos, heldPicos } = account
    return {
      kind: 'daily_limit',
      scope: 'account',
      limitPicos: dailyLimitPicos,
      usedPicos,
      heldPicos,
    }
  }
  if (isOverDay(key, amountPicos, keyDailyLimitPicos)) {
    const { usedPicos, heldPicos } = key
    return {
      kind: 'daily_limit',
      scope: 'key',
      limitPicos: keyDailyLimitPicos,
      usedPicos,
      heldPicos,
    }
  }
  return undefined
}

function isOverDay(figures: DayFigures, amountPicos: Picos, limitPicos: Picos): boolean {
  return limitPicos > 0n && figures.usedPicos + figures.heldPicos + amountPicos > limitPicos
}

function keyOf(account: Account, keyId: string): DayFigures {
  const known = account.keys.get(keyId)
  if (known !== undefined) return known
  const key: DayFigures = { usedPicos: zeroPicos, heldPicos: zeroPicos, openCount: 0 }
  account.keys.set(keyId, key)
  return key
}

/** Moves on to a day without bookings; any other day has to be loaded from the store. */
function reachDay(account: Account, day: number): void {
  if (day <= account.lastDay) return
  account.lastDay = day
  startDay(account, day)
}

/** Resets the used amounts for a new day; holds stay. */
function startDay(account: Account, day: number): void {
  account.day = day
  account.usedPicos = zeroPicos
  for (const [keyId, key] of account.keys) {
    key.usedPicos = zeroPicos
    if (key.openCount === 0) account.keys.delete(keyId)
  }
}
