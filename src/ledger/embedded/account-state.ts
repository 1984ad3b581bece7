/**
 * The state of an account and its keys in memory: held and used amounts, and what counts toward limits per
 * minute. Here a new day or month begins, and amounts are loaded. Invariant: an amount is either exact or
 * `undefined`, and then it is loaded before a limit needs it.
 */
import { dayMs, minuteMs, utcMonth } from '../../base/clock.ts'
import type { KeyLimits } from '../../base/key-limits.ts'
import { addPicos, zeroPicos, type Picos } from '../../base/money.ts'
import type { KeyUsage } from '../key-usage.ts'
import { RequestWindow } from './request-window.ts'
import { TokenWindow } from './token-window.ts'

export interface AccountFacts {
  readonly accountId: string
  readonly balancePicos: Picos
  /** How far below zero the balance may go. */
  readonly creditLinePicos: Picos
  readonly dailyLimitPicos: Picos
  readonly monthlyLimitPicos: Picos
  readonly rpm: number
  readonly windowMinutes: number
  readonly tpm: number
  /** Its latest entry that is no charge: after a new one, used amounts may differ. */
  readonly lastOperatorEntry: bigint
}

/** Tokens by the second (of wall time) in which their requests ended, oldest first. */
type LoadedTokens = readonly (readonly [second: number, tokens: number])[]

/** Everything about an account that a restart loads again. */
export interface LoadedAccount {
  readonly facts: AccountFacts
  /** Charges booked on the requested day, and in its month where the account has a limit of it. */
  readonly used: AccountUsage
  /** Wall times at which recorded exchanges within the window began, oldest first. */
  readonly startedAtMs: readonly number[]
  readonly tokens: LoadedTokens
  /** Where the question named a key. */
  readonly key: LoadedKey | undefined
}

export interface AccountUsage {
  readonly dayPicos: Picos
  /** Undefined = not loaded. */
  readonly monthPicos: Picos | undefined
}

/** Windows are read where the key has the limit. */
export interface LoadedKey {
  readonly keyId: string
  readonly used: KeyUsage
  readonly startedAtMs: readonly number[] | undefined
  readonly tokens: LoadedTokens | undefined
}

/** Open holds can be zero, so the amount does not show whether there are any. */
interface HeldAmount {
  heldPicos: Picos
  openCount: number
}

/** Windows are maintained once they exist, and loaded when a limit needs one. */
export interface KeyState extends HeldAmount {
  used: KeyUsage | undefined
  requests: RequestWindow | undefined
  freeRequests: RequestWindow | undefined
  tokens: TokenWindow | undefined
}

export interface Account extends HeldAmount {
  facts: AccountFacts
  /** The UTC day of the used amounts, counted from 1970. */
  day: number
  /** The latest day with a decision or a booking; only on later days nothing is used yet. */
  lastDay: number
  used: AccountUsage
  /** Set when the used amounts must be loaded again. */
  isStale: boolean
  readonly keys: Map<string, KeyState>
  readonly window: RequestWindow
  /** Made with the first free request. */
  freeRequests: RequestWindow | undefined
  tokens: TokenWindow | undefined
}

/** Wall time and monotonic time of one moment. */
export interface Moment {
  readonly atMs: number
  readonly nowMs: number
}

/** Returns the number of the UTC day; report-booking.ts uses it, too, so both agree on a charge's day. */
export function dayNumber(atMs: number): number {
  return Math.floor(atMs / dayMs)
}

function monthOf(day: number): string {
  return utcMonth(day * dayMs)
}

export function newAccount(loaded: LoadedAccount, moment: Moment): Account {
  const day = dayNumber(moment.atMs)
  return {
    facts: loaded.facts,
    heldPicos: zeroPicos,
    openCount: 0,
    day,
    lastDay: day,
    used: loaded.used,
    isStale: false,
    keys: new Map(),
    window: requestWindowOf(loaded.startedAtMs, moment),
    freeRequests: undefined,
    tokens: undefined,
  }
}

/** Takes loaded amounts over; open holds and windows that exist stay. */
export function applyLoaded(account: Account, loaded: LoadedAccount, moment: Moment): void {
  const day = dayNumber(moment.atMs)
  // Amounts of the other keys stay exact only on the same day, where no other program has changed them.
  if (account.isStale || day !== account.day) forgetUsed(account)
  account.facts = loaded.facts
  account.used = loaded.used
  account.day = day
  account.lastDay = Math.max(account.lastDay, day)
  account.isStale = false
  if (loaded.facts.tpm > 0) account.tokens ??= tokenWindowOf(loaded.tokens, moment)
  if (loaded.key === undefined) return
  const { keyId, used, startedAtMs, tokens } = loaded.key
  const key = keyOf(account, keyId)
  key.used = used
  if (startedAtMs !== undefined) key.requests ??= requestWindowOf(startedAtMs, moment)
  if (tokens !== undefined) key.tokens ??= tokenWindowOf(tokens, moment)
}

/** Whether everything is in memory that the limits of the account and of the key need. */
export function isLoaded(
  { facts, used, tokens }: Account,
  key: KeyState,
  { rpm, tpm, dailyPicos, monthlyPicos, totalPicos }: KeyLimits,
): boolean {
  if (facts.monthlyLimitPicos > 0n && used.monthPicos === undefined) return false
  if (facts.tpm > 0 && tokens === undefined) return false
  if (rpm > 0 && key.requests === undefined) return false
  if (tpm > 0 && key.tokens === undefined) return false
  return key.used !== undefined || (dailyPicos === 0n && monthlyPicos === 0n && totalPicos === 0n)
}

export function keyOf(account: Account, keyId: string): KeyState {
  const known = account.keys.get(keyId)
  if (known !== undefined) return known
  const key: KeyState = {
    used: undefined,
    heldPicos: zeroPicos,
    openCount: 0,
    requests: undefined,
    freeRequests: undefined,
    tokens: undefined,
  }
  account.keys.set(keyId, key)
  return key
}

/** Counts an admitted request where a limit counts it. */
export function countRequest(
  account: Account,
  key: KeyState,
  { rpm }: KeyLimits,
  nowMs: number,
): void {
  if (account.facts.rpm > 0) account.window.add(nowMs)
  if (rpm > 0) key.requests?.add(nowMs)
}

/** Counts a booked charge where its day and month are the current ones. */
export function countCharge(
  account: Account,
  key: KeyState,
  day: number,
  bookedPicos: Picos,
): void {
  const isOfDay = day === account.day
  const isOfMonth = isOfDay || monthOf(day) === monthOf(account.day)
  const { used } = account
  account.used = {
    dayPicos: isOfDay ? addPicos(used.dayPicos, bookedPicos) : used.dayPicos,
    monthPicos:
      isOfMonth && used.monthPicos !== undefined
        ? addPicos(used.monthPicos, bookedPicos)
        : used.monthPicos,
  }
  if (key.used === undefined) return
  const { dayPicos, monthPicos, totalPicos } = key.used
  key.used = {
    dayPicos: isOfDay ? addPicos(dayPicos, bookedPicos) : dayPicos,
    monthPicos: isOfMonth ? addPicos(monthPicos, bookedPicos) : monthPicos,
    totalPicos: addPicos(totalPicos, bookedPicos),
  }
}

/** Moves on to a day without bookings; any other day has to be loaded from the store. */
export function reachDay(account: Account, day: number, nowMs: number): void {
  if (day <= account.lastDay) return
  const month = monthOf(day)
  const isSameMonth = month === monthOf(account.day)
  const isNewMonth = month !== monthOf(account.lastDay)
  account.day = day
  account.lastDay = day
  account.used = {
    dayPicos: zeroPicos,
    monthPicos: isSameMonth ? account.used.monthPicos : isNewMonth ? zeroPicos : undefined,
  }
  for (const [keyId, key] of account.keys) {
    if (isKeyIdle(key, nowMs)) account.keys.delete(keyId)
    else if (key.used !== undefined && (isSameMonth || isNewMonth))
      key.used = {
        dayPicos: zeroPicos,
        monthPicos: isSameMonth ? key.used.monthPicos : zeroPicos,
        totalPicos: key.used.totalPicos,
      }
    else key.used = undefined
  }
}

/** Whether nothing would be lost that the store does not have. */
export function isIdle(account: Account, nowMs: number): boolean {
  const windowStartMs = nowMs - account.facts.windowMinutes * minuteMs
  return (
    account.openCount === 0 &&
    account.window.dropUntil(windowStartMs) === 0 &&
    (account.freeRequests?.dropUntil(windowStartMs) ?? 0) === 0 &&
    account.keys.values().every((key) => isKeyIdle(key, nowMs))
  )
}

function isKeyIdle(key: KeyState, nowMs: number): boolean {
  return (
    key.openCount === 0 &&
    (key.requests?.dropUntil(nowMs - minuteMs) ?? 0) === 0 &&
    (key.freeRequests?.dropUntil(nowMs - minuteMs) ?? 0) === 0
  )
}

/** The store has the tokens, too, and exactly. */
function forgetUsed(account: Account): void {
  account.tokens = undefined
  for (const key of account.keys.values()) {
    key.used = undefined
    key.tokens = undefined
  }
}

function requestWindowOf(startedAtMs: readonly number[], { atMs, nowMs }: Moment): RequestWindow {
  const window = new RequestWindow()
  for (const startedMs of startedAtMs) window.add(nowMs - Math.max(0, atMs - startedMs))
  return window
}

function tokenWindowOf(tokens: LoadedTokens, { atMs, nowMs }: Moment): TokenWindow {
  const window = new TokenWindow()
  for (const [second, count] of tokens)
    window.add(nowMs - Math.max(0, atMs - second * 1_000), count)
  return window
}
