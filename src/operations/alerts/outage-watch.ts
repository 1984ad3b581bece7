/**
 * Tells of an outage of the store itself: from memory, straight to the targets as last known, because the
 * outbox is in the store. Each node tells of its own. Retried until the receiver takes it or the process
 * ends; the targets that got it also get the end of the outage.
 */
import type { Random } from '../../base/random.ts'
import { newId } from '../../base/id.ts'
import { alertKinds, isSevereEnough, type Notice } from './alert-kind.ts'
import { atTarget, type Message } from './delivery-store.ts'
import { sendMessage, type Sending, type SendResult } from './send.ts'
import { contactAddress, type AlertTarget } from './target-store.ts'

export interface OutageWatchParts {
  readonly sending: Sending
  readonly random: Random
  /** The operator's name for this node. */
  readonly nodeName: string
  readonly isStoreAvailable: () => boolean
  readonly onAttempt: (target: AlertTarget, result: SendResult) => void
}

/** Shorter outages are a restart or a failover of the server. */
const outageMs = 15_000
const retryMs = 30_000
const spread = 0.2

/** A message that is not taken yet. */
interface Waiting {
  readonly target: AlertTarget
  readonly message: Message
  dueAtMs: number
  isSending: boolean
}

export class OutageWatch {
  readonly #parts: OutageWatchParts
  #targets: readonly AlertTarget[] = []
  #outSinceMs: number | undefined
  #notice: Notice | undefined
  /** Targets that know of the outage. */
  readonly #told = new Map<string, AlertTarget>()
  /** At most two for each target. */
  #waiting: Waiting[] = []
  readonly #running = new Set<Promise<void>>()

  constructor(parts: OutageWatchParts) {
    this.#parts = parts
  }

  /** Remembers the targets while the store answers. */
  know(targets: readonly AlertTarget[]): void {
    this.#targets = targets
  }

  /** Looks whether the store is out, and sends the messages that are due; does not wait for receivers. */
  look(): void {
    const { clock } = this.#parts.sending
    const nowMs = clock.monotonic()
    if (this.#parts.isStoreAvailable()) this.#end(nowMs)
    else {
      this.#outSinceMs ??= nowMs
      if (nowMs - this.#outSinceMs >= outageMs) this.#begin(nowMs)
    }
    for (const one of this.#waiting) this.#sendIfDue(one, nowMs)
  }

  /** Resolves when nothing is being sent. */
  async settled(): Promise<void> {
    await Promise.all(this.#running)
  }

  #begin(nowMs: number): void {
    if (this.#notice !== undefined) return
    const { sending, nodeName } = this.#parts
    const atMs = sending.clock.now()
    const kind = 'store.outage'
    const severity = alertKinds[kind]
    const condition = {
      kind,
      subject: nodeName,
      title: `The store does not answer to ${nodeName}`,
      text:
        `The gateway ${nodeName} cannot reach its store. Requests get 503 until it answers. Look at the ` +
        'database and its disk.',
      command: 'turnpike doctor',
      facts: { node: nodeName },
    } as const
    const begun = {
      alertId: newId('alr', atMs),
      event: 'firing',
      type: kind,
      includes: [],
    } as const
    this.#notice = { ...begun, severity, condition, firedAtMs: atMs, atMs }
    for (const target of this.#targets)
      if (target.address !== contactAddress && isSevereEnough(severity, target.minSeverity))
        this.#add(target, this.#notice, nowMs)
  }

  #end(nowMs: number): void {
    this.#outSinceMs = undefined
    if (this.#notice === undefined) return
    const { type, ...begun } = this.#notice
    const atMs = this.#parts.sending.clock.now()
    this.#notice = undefined
    // A target that has not learnt of the outage needs no message of its end, and no late one of it.
    this.#waiting = this.#waiting.filter(({ isSending }) => isSending)
    const over = { ...begun, event: 'resolved', type: `${type}.resolved`, atMs } as const
    for (const target of this.#told.values()) this.#add(target, over, nowMs)
    this.#told.clear()
  }

  #add(target: AlertTarget, notice: Notice, nowMs: number): void {
    const message = { id: newId('dlv', notice.atMs), ...atTarget, notice }
    this.#waiting.push({ target, message, dueAtMs: nowMs, isSending: false })
  }

  #sendIfDue(one: Waiting, nowMs: number): void {
    if (one.isSending || nowMs < one.dueAtMs) return
    one.isSending = true
    const run = this.#send(one).finally(() => {
      one.isSending = false
      this.#running.delete(run)
    })
    this.#running.add(run)
  }

  async #send(one: Waiting): Promise<void> {
    const { sending, onAttempt, random } = this.#parts
    const { target, message } = one
    const result = await sendMessage(target, message, sending)
    onAttempt(target, result)
    if (result.kind === 'delivered' || result.isFinal) {
      this.#waiting = this.#waiting.filter((other) => other !== one)
      if (result.kind === 'delivered' && message.notice.event === 'firing')
        this.#told.set(target.id, target)
      return
    }
    const waitMs = retryMs * (1 + spread * (2 * random() - 1))
    one.dueAtMs = sending.clock.monotonic() + waitMs
  }
}
