/**
 * The alerts of one running gateway: once a second it sends the due messages of the outbox, and now and then
 * it looks at the conditions. One node at a time has the lease on both; every node tells of an outage of the
 * store by itself. Invariant: no request and no charge waits for it; its failures are reported and retried.
 */
import { dayMs, every, minuteMs, type Timer } from '../../base/clock.ts'
import type { Membership } from '../../storage/membership.ts'
import { readStoreTime } from '../../storage/node-store.ts'
import { watchAudits } from './audit-rules.ts'
import { watchCaches } from './cache-rules.ts'
import { noBalances } from './balance-sums.ts'
import { countWaiting, removeOldDeliveries } from './delivery-store.ts'
import { OutageWatch, type OutageWatchParts } from './outage-watch.ts'
import { targetsMax, wakeSnoozed } from './raise.ts'
import { watchPayments } from './payment-rules.ts'
import { SealWatch } from './seal-rules.ts'
import { AlertSender, type SenderParts } from './sender.ts'
import { listTargets } from './target-store.ts'
import { ChannelWatch, watchAccounts, watchBackups, type WatchOptions } from './watch.ts'

export interface AlertingOptions extends WatchOptions, OutageWatchParts, SenderParts {
  readonly membership: Pick<Membership, 'addTask' | 'hasTask'>
  /** The store's time where a test controls it. */
  readonly readTime?: (() => number) | undefined
  /** How many messages wait to be sent. */
  readonly onWaiting: (count: number) => void
}

/** The task of raising and sending alerts: one node at a time has the lease on it. */
const alertTask = 'alerts'

const roundMs = 1_000
const channelsMs = 5_000
const accountsMs = 15_000
/** How long deliveries are kept. */
const keptMs = 30 * dayMs
const removedPerMinute = 1_000

/** Something that the node with the lease does now and then. */
interface Look {
  readonly everyMs: number
  readonly run: (nowMs: number) => Promise<void>
  /** Monotonic. */
  dueMs: number
}

export class Alerting {
  readonly #options: AlertingOptions
  readonly #sender: AlertSender
  readonly #outage: OutageWatch
  #timer: Timer | undefined
  /** Empty while another node has the lease. */
  #looks: readonly Look[] = []
  #round: Promise<void> | undefined
  /** This node has recorded an audit that no round has looked at. */
  #hasNewAudit = false

  private constructor(options: AlertingOptions) {
    this.#options = options
    this.#sender = new AlertSender(options)
    this.#outage = new OutageWatch(options)
  }

  static start(options: AlertingOptions): Alerting {
    const alerting = new Alerting(options)
    options.membership.addTask(alertTask)
    const { clock } = options.sending
    alerting.#timer = every(clock, roundMs, () => alerting.round(), options.onError)
    return alerting
  }

  /** Runs a round now, or waits for the one that runs; a round does not wait for receivers. */
  round(): Promise<void> {
    this.#round ??= this.#runRound().finally(() => {
      this.#round = undefined
    })
    return this.#round
  }

  /** Resolves when no message is being sent. */
  async settled(): Promise<void> {
    await Promise.all([this.#sender.settled(), this.#outage.settled()])
  }

  /** This node has recorded an audit: the next round looks at it, leader or not. */
  noteAudit(): void {
    this.#hasNewAudit = true
  }

  /** Ends the rounds. Messages that are being sent are not waited for; the outbox has them. */
  async close(): Promise<void> {
    this.#timer?.cancel()
    this.#sender.close()
    await this.#round?.catch(() => undefined)
  }

  async #runRound(): Promise<void> {
    this.#outage.look()
    const { database, isStoreAvailable } = this.#options
    if (!isStoreAvailable()) return
    const list = await listTargets(database, { afterName: '', countMax: targetsMax })
    this.#outage.know(list)
    await this.#lookAtNewAudit()
    if (!this.#isLeader()) return this.#follow()
    if (this.#looks.length === 0) this.#looks = this.#newLooks()
    const nowMs = await this.#readTime()
    const targets = new Map(list.map((target) => [target.id, target]))
    await this.#sender.sendDue(targets, nowMs)
    await this.#watch(nowMs)
  }

  #newLooks(): readonly Look[] {
    const options = this.#options
    const look = (everyMs: number, run: Look['run']): Look => ({ everyMs, run, dueMs: 0 })
    const channels = new ChannelWatch(options)
    const seals = new SealWatch(options)
    return [
      look(channelsMs, (nowMs) => channels.look(nowMs)),
      look(channelsMs, (nowMs) => wakeSnoozed(options, nowMs)),
      look(accountsMs, (nowMs) => watchAccounts(options, nowMs)),
      look(accountsMs, () => this.#countWaiting()),
      look(accountsMs, (nowMs) => watchPayments(options, nowMs)),
      look(minuteMs, (nowMs) => watchBackups(options, nowMs)),
      look(minuteMs, (nowMs) => watchAudits(options, nowMs)),
      look(minuteMs, (nowMs) => seals.look(nowMs)),
      look(minuteMs, (nowMs) => watchCaches(options, nowMs)),
      look(minuteMs, (nowMs) => this.#removeOld(nowMs)),
    ]
  }

  async #lookAtNewAudit(): Promise<void> {
    if (!this.#hasNewAudit) return
    this.#hasNewAudit = false
    try {
      await watchAudits(this.#options, await this.#readTime())
    } catch (error) {
      this.#hasNewAudit = true
      throw error
    }
  }

  /** Another node may have looked last, so each look compares with the store. */
  async #watch(nowMs: number): Promise<void> {
    const { sending, onError } = this.#options
    for (const look of this.#looks) {
      const atMs = sending.clock.monotonic()
      if (atMs < look.dueMs) continue
      look.dueMs = atMs + look.everyMs
      // One that fails keeps no other from looking.
      await look.run(nowMs).catch(onError)
    }
  }

  async #countWaiting(): Promise<void> {
    const waiting = await countWaiting(this.#options.database)
    this.#options.onWaiting(waiting.values().reduce((sum, count) => sum + count, 0))
  }

  /** Another node has the lease now: what this one has counted and shown is out of date. */
  #follow(): void {
    if (this.#looks.length === 0) return
    this.#looks = []
    this.#options.onBalances(noBalances)
    this.#options.onWaiting(0)
  }

  async #removeOld(nowMs: number): Promise<void> {
    const old = { beforeMs: nowMs - keptMs, countMax: removedPerMinute }
    await this.#options.database.transact((transaction) => removeOldDeliveries(transaction, old))
  }

  #isLeader(): boolean {
    return this.#options.membership.hasTask(alertTask)
  }

  async #readTime(): Promise<number> {
    const { database, sending, readTime } = this.#options
    return readTime?.() ?? readStoreTime(database, sending.clock)
  }
}
