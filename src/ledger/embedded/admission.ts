/**
 * Decides in memory whether an exchange may start: balances, open holds, used amounts and windows of the
 * accounts and keys seen so far. No I/O and no own clock. Invariants:
 *
 *     held       = Σ open holds + Σ charges not durable yet        (never negative)
 *     balance    = the store's balance as last read; it includes only acknowledged charges
 *     admitted   only if enough is left for the likely cost: balance + credit line − held, and in each limit
 *                of a period limit − used − held. The hold then is the most that it can cost
 */
import { minuteMs } from '../../base/clock.ts'
import { invariant } from '../../base/errors.ts'
import { addPicos, subtractPicos, zeroPicos, type Picos } from '../../base/money.ts'
import {
  freeRequestsPerRequest,
  tighterOf,
  type CountRequest,
  type Headroom,
  type HeadroomQuestion,
  type Hold,
  type HoldRefusal,
  type HoldRequest,
} from '../ledger.ts'
import {
  applyLoaded,
  countCharge,
  countRequest,
  dayNumber,
  isIdle,
  isLoaded,
  keyOf,
  newAccount,
  reachDay,
  type Account,
  type AccountFacts,
  type KeyState,
  type LoadedAccount,
  type Moment,
} from './account-state.ts'
import { RequestWindow } from './request-window.ts'
import { isUncovered, refuseHold, refuseRate, refuseRequest } from './rules.ts'

/** With more accounts than this, idle accounts are forgotten and loaded again when needed. */
const accountsMax = 100_000

/** The stored charge of an exchange. */
export interface BookedCharge {
  readonly exchangeId: string
  readonly endedAtMs: number
  readonly amountPicos: Picos
  /** Input and output tokens as the answer called them. */
  readonly tokens: number
}

interface OpenHold {
  readonly hold: Hold
  readonly account: Account
  readonly key: KeyState
  /** The hold's amount; then the exact charge, while it is being stored. */
  amountPicos: Picos
  /** Set while the charge is being stored; settling again returns the same promise. */
  settling: Promise<void> | undefined
}

export class Admission {
  readonly #accounts = new Map<string, Account>()
  readonly #holds = new Map<string, OpenHold>()

  /** Undefined = the account has to be loaded first. `nowMs` is monotonic. */
  place(request: HoldRequest, nowMs: number): Hold | HoldRefusal | undefined {
    const account = this.#current(request, nowMs)
    if (account === undefined) return undefined
    const already = this.#holds.get(request.exchangeId)
    if (already !== undefined) return already.hold
    const key = keyOf(account, request.keyId)
    const asking = { account, key, request, nowMs }
    const refusal = refuseHold(asking)
    if (refusal !== undefined) return refusal
    countRequest(account, key, request.keyLimits, nowMs)
    return this.#open(account, key, { request, isUncovered: isUncovered(asking) })
  }

  /** Undefined = the account has to be loaded first, null = `place` would admit it. */
  check(request: HoldRequest, nowMs: number): HoldRefusal | null | undefined {
    const account = this.#current(request, nowMs)
    if (account === undefined) return undefined
    const key = keyOf(account, request.keyId)
    return refuseHold({ account, key, request, nowMs }) ?? null
  }

  /** Undefined = the account has to be loaded first, null = counted. */
  count(request: CountRequest, nowMs: number): HoldRefusal | null | undefined {
    const account = this.#current(request, nowMs)
    if (account === undefined) return undefined
    const key = keyOf(account, request.keyId)
    const { keyLimits } = request
    if (request.allowance === 'free_requests') return countFree(account, key, request, nowMs)
    const refusal = refuseRequest({ account, key, request, nowMs })
    if (refusal !== undefined) return refusal
    countRequest(account, key, keyLimits, nowMs)
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
  booked(
    { exchangeId, endedAtMs, amountPicos: bookedPicos, tokens }: BookedCharge,
    nowMs: number,
  ): void {
    const open = this.#holds.get(exchangeId)
    if (open === undefined) return
    this.#holds.delete(exchangeId)
    // The Map may keep the hold alive in old copies of itself; the exchange must not stay alive with it.
    open.settling = undefined
    const { account, key, amountPicos } = open
    const day = dayNumber(endedAtMs)
    // While the hold still counts as open: a new day forgets the keys that have none.
    reachDay(account, day, nowMs)
    account.openCount--
    key.openCount--
    account.heldPicos = subtractPicos(account.heldPicos, amountPicos)
    key.heldPicos = subtractPicos(key.heldPicos, amountPicos)
    invariant(account.heldPicos >= 0n && account.openCount >= 0, 'held is never negative')
    countCharge(account, key, day, bookedPicos)
    account.tokens?.add(nowMs, tokens)
    key.tokens?.add(nowMs, tokens)
  }

  /** Sets the balance that the store returned with a commit. */
  setBalance(accountId: string, balancePicos: Picos): void {
    const account = this.#accounts.get(accountId)
    if (account !== undefined) account.facts = { ...account.facts, balancePicos }
  }

  /**
   * Sets limits and balance that were changed elsewhere. After a new entry that is no charge the next
   * decision loads the used amounts: a refund lowers them.
   */
  update(facts: AccountFacts): void {
    const account = this.#accounts.get(facts.accountId)
    if (account === undefined) return
    if (facts.lastOperatorEntry !== account.facts.lastOperatorEntry) account.isStale = true
    account.facts = facts
  }

  /** Makes the next decision load the account's used amounts from the store. */
  invalidate(accountId: string): void {
    const account = this.#accounts.get(accountId)
    if (account !== undefined) account.isStale = true
  }

  /** Adds or updates an account; its open holds and its windows stay. */
  put(loaded: LoadedAccount, moment: Moment): void {
    const { accountId } = loaded.facts
    let account = this.#accounts.get(accountId)
    if (account === undefined) {
      if (this.#accounts.size >= accountsMax) this.#forgetIdle(moment.nowMs)
      account = newAccount(loaded, moment)
      this.#accounts.set(accountId, account)
    }
    applyLoaded(account, loaded, moment)
  }

  /** Returns the tighter of the account's requests per minute and the key's. */
  headroom({ accountId, keyId, keyLimits }: HeadroomQuestion, nowMs: number): Headroom | undefined {
    const account = this.#accounts.get(accountId)
    if (account === undefined) return undefined
    const { rpm, windowMinutes } = account.facts
    return tighterOf(
      headroomOf(account.window, { rpm, windowMinutes, nowMs }),
      headroomOf(account.keys.get(keyId)?.requests, {
        rpm: keyLimits.rpm,
        windowMinutes: 1,
        nowMs,
      }),
    )
  }

  openHolds(): { readonly count: number; readonly heldPicos: Picos } {
    let heldPicos = zeroPicos
    for (const open of this.#holds.values()) heldPicos = addPicos(heldPicos, open.amountPicos)
    return { count: this.#holds.size, heldPicos }
  }

  /** Returns what holds reserve of each of these accounts that has any. */
  heldOf(accountIds: readonly string[]): ReadonlyMap<string, Picos> {
    const held = new Map<string, Picos>()
    for (const accountId of accountIds) {
      const heldPicos = this.#accounts.get(accountId)?.heldPicos ?? zeroPicos
      if (heldPicos > 0n) held.set(accountId, heldPicos)
    }
    return held
  }

  /** Holds that have not ended durably yet. */
  get openCount(): number {
    return this.#holds.size
  }

  accountIds(): string[] {
    return [...this.#accounts.keys()]
  }

  #open(
    account: Account,
    key: KeyState,
    { request, isUncovered }: { readonly request: HoldRequest; readonly isUncovered: boolean },
  ): Hold {
    const { exchangeId, accountId, keyId, amountPicos } = request
    const hold: Hold = { kind: 'hold', exchangeId, accountId, keyId, amountPicos, isUncovered }
    account.openCount++
    key.openCount++
    account.heldPicos = addPicos(account.heldPicos, amountPicos)
    key.heldPicos = addPicos(key.heldPicos, amountPicos)
    this.#holds.set(exchangeId, { hold, account, key, amountPicos, settling: undefined })
    return hold
  }

  /** Returns the account with all amounts that this request needs, for its day, if memory has them. */
  #current(request: HoldRequest | CountRequest, nowMs: number): Account | undefined {
    const account = this.#accounts.get(request.accountId)
    if (account === undefined || account.isStale) return undefined
    const day = dayNumber(request.atMs)
    reachDay(account, day, nowMs)
    // Wall time has jumped back over midnight, or back to the later day: the store knows the used amounts.
    if (day !== account.day) return undefined
    return isLoaded(account, keyOf(account, request.keyId), request.keyLimits) ? account : undefined
  }

  #forgetIdle(nowMs: number): void {
    for (const [accountId, account] of this.#accounts)
      if (isIdle(account, nowMs)) this.#accounts.delete(accountId)
  }
}

function countFree(
  account: Account,
  key: KeyState,
  { keyLimits }: CountRequest,
  nowMs: number,
): HoldRefusal | null {
  const { facts } = account
  const rpm = facts.rpm * freeRequestsPerRequest
  const keyRpm = keyLimits.rpm * freeRequestsPerRequest
  if (rpm > 0) account.freeRequests ??= new RequestWindow()
  if (keyRpm > 0) key.freeRequests ??= new RequestWindow()
  const { windowMinutes } = facts
  const refusal =
    refuseRate(account.freeRequests, { scope: 'account', rpm, windowMinutes, nowMs }) ??
    refuseRate(key.freeRequests, { scope: 'key', rpm: keyRpm, windowMinutes: 1, nowMs })
  if (refusal !== undefined) return refusal
  if (rpm > 0) account.freeRequests?.add(nowMs)
  if (keyRpm > 0) key.freeRequests?.add(nowMs)
  return null
}

function headroomOf(
  window: RequestWindow | undefined,
  {
    rpm,
    windowMinutes,
    nowMs,
  }: { readonly rpm: number; readonly windowMinutes: number; readonly nowMs: number },
): Headroom | undefined {
  if (rpm === 0) return undefined
  const windowMs = windowMinutes * minuteMs
  const counted = window?.dropUntil(nowMs - windowMs) ?? 0
  const rpmLimit = rpm * windowMinutes
  const rpmResetMs = window === undefined || counted === 0 ? 0 : window.at(0) + windowMs - nowMs
  return { rpmLimit, rpmRemaining: Math.max(0, rpmLimit - counted), rpmResetMs }
}
