/**
 * Decides in memory whether an exchange may start: balances, open holds, today's charges and the
 * request windows of the accounts seen so far. No I/O and no time of its own. It keeps:
 *
 *     held       = Σ open holds + Σ charges not durable yet        (never negative)
 *     balance    = the store's balance as last read; only charges acknowledged as durable are in it
 *     admitted   only if amount ≤ balance − held, and used today + held + amount ≤ each daily limit
 */
import { invariant } from '../../base/errors.ts'
import { addPicos, subtractPicos, zeroPicos, type Picos } from '../../base/money.ts'
import type { Headroom, Hold, HoldRefusal, HoldRequest } from '../ledger.ts'
import { RequestWindow } from './request-window.ts'

/** Beyond this many, accounts without anything in flight are forgotten and read again when needed. */
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

/** Everything about an account that a restart has to find again. */
export interface LoadedAccount {
  readonly facts: AccountFacts
  /** Charges booked on the day asked about, by key. */
  readonly usedByKey: readonly (readonly [keyId: string, usedPicos: Picos])[]
  /** Wall times at which recorded exchanges within the window began, oldest first. */
  readonly startedAtMs: readonly number[]
}

/** What an exchange has come to in the store. */
export interface BookedCharge {
  readonly exchangeId: string
  readonly endedAtMs: number
  readonly amountPicos: Picos
}

/** What counts against a daily limit, an account's or a key's. */
interface DayFigures {
  usedPicos: Picos
  heldPicos: Picos
  /** Holds may be of zero; this tells whether there are any. */
  openCount: number
}

interface Account extends DayFigures {
  facts: AccountFacts
  /** The UTC day that the used amounts speak of, counted from 1970. */
  day: number
  /** The latest day that anything was decided or booked on; only behind it nothing is used yet. */
  lastDay: number
  /** Set when memory cannot know the used amounts any more; the store does. */
  isStale: boolean
  readonly keys: Map<string, DayFigures>
  readonly window: RequestWindow
}

interface OpenHold {
  readonly hold: Hold
  readonly account: Account
  readonly key: DayFigures
  /** The hold's amount, then the exact charge once it is on its way to the store. */
  amountPicos: Picos
  /** Set while the charge is on its way; tells whoever settles again what becomes of it. */
  settling: Promise<void> | undefined
}

/** The number of the UTC day; the same division as in booking.ts decides where a charge belongs. */
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
    const refusal =
      refuseRate(account, nowMs) ??
      refuseBalance(account, request.amountPicos) ??
      refuseDay(account, key, request)
    if (refusal !== undefined) return refusal
    countRequest(account, nowMs)
    return this.#open(account, key, request)
  }

  /** Undefined = the account has to be loaded first, null = admitted. */
  admitUnmetered(
    request: { readonly accountId: string; readonly atMs: number },
    nowMs: number,
  ): HoldRefusal | null | undefined {
    const account = this.#current(request.accountId, request.atMs)
    if (account === undefined) return undefined
    const refusal = refuseRate(account, nowMs)
    if (refusal !== undefined) return refusal
    countRequest(account, nowMs)
    return null
  }

  /** The settlement that is under way for an open hold, if there is one. */
  settlingOf(exchangeId: string): Promise<void> | undefined {
    return this.#holds.get(exchangeId)?.settling
  }

  /** From here until `booked` the hold stands at the exact charge. */
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
   * The charge is durable: its hold is gone, and what was booked counts for the day on which it was.
   * That may be less than what was on its way: a charge that had to wait too long is withheld.
   */
  booked({ exchangeId, endedAtMs, amountPicos: bookedPicos }: BookedCharge): void {
    const open = this.#holds.get(exchangeId)
    if (open === undefined) return
    this.#holds.delete(exchangeId)
    // Old copies that the Map makes of itself may keep the hold; they are not to keep its exchange.
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

  /** Takes over a balance that the store has told together with a commit. */
  setBalance(accountId: string, balancePicos: Picos): void {
    const account = this.#accounts.get(accountId)
    if (account !== undefined) account.facts = { ...account.facts, balancePicos }
  }

  /** Takes over limits and balance that were changed elsewhere. */
  update(facts: AccountFacts): void {
    const account = this.#accounts.get(facts.accountId)
    if (account !== undefined) account.facts = facts
  }

  /** Has the account's used amounts read from the store before the next decision. */
  distrust(accountId: string): void {
    const account = this.#accounts.get(accountId)
    if (account !== undefined) account.isStale = true
  }

  /** Takes an account in, or brings one up to date; its open holds and its window stay. */
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

  /** The account with its figures for the day of `atMs`, if memory has them. */
  #current(accountId: string, atMs: number): Account | undefined {
    const account = this.#accounts.get(accountId)
    if (account === undefined || account.isStale) return undefined
    const day = dayNumber(atMs)
    reachDay(account, day)
    // Wall time has gone back over midnight, or comes from there: only the store knows what is used.
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
    }
    for (const startedAtMs of loaded.startedAtMs)
      account.window.add(nowMs - Math.max(0, atMs - startedAtMs))
    this.#accounts.set(loaded.facts.accountId, account)
    return account
  }

  #forgetIdle(nowMs: number): void {
    for (const [accountId, account] of this.#accounts) {
      const windowStartMs = nowMs - account.facts.windowMinutes * minuteMs
      if (account.openCount === 0 && account.window.dropUntil(windowStartMs) === 0)
        this.#accounts.delete(accountId)
    }
  }
}

function refuseRate(account: Account, nowMs: number): HoldRefusal | undefined {
  const { rpm, windowMinutes } = account.facts
  if (rpm === 0) return undefined
  const windowMs = windowMinutes * minuteMs
  const counted = account.window.dropUntil(nowMs - windowMs)
  const excess = counted - rpm * windowMinutes
  if (excess < 0) return undefined
  // After a limit was lowered, more than the oldest one has to leave the window.
  const retryAfterMs = account.window.at(excess) + windowMs - nowMs
  return { kind: 'rate_limited', retryAfterMs, rpm, windowMinutes }
}

function countRequest(account: Account, nowMs: number): void {
  if (account.facts.rpm > 0) account.window.add(nowMs)
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

/** Goes on to a day on which nothing has happened yet; any other day has to be read from the store. */
function reachDay(account: Account, day: number): void {
  if (day <= account.lastDay) return
  account.lastDay = day
  startDay(account, day)
}

/** Nothing is used yet on a new day; what is held stays held. */
function startDay(account: Account, day: number): void {
  account.day = day
  account.usedPicos = zeroPicos
  for (const [keyId, key] of account.keys) {
    key.usedPicos = zeroPicos
    if (key.openCount === 0) account.keys.delete(keyId)
  }
}
