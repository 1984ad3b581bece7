/**
 * Tells of an outage of the store itself: from memory, straight to the targets as last known, because the
 * outbox is in the store. Each node tells of its own. Retried until the receiver takes it or the process
 * ends; the end of the outage is told to those who learnt of it.
 */
import type { Random } from '../../base/random.ts'
import { newId } from '../../base/id.ts'
import { alertKinds, type Alert, type AlertEvent } from './alert-kind.ts'
import { wants } from './raise.ts'
import { sendMessage, type OutgoingMessage, type Sending, type SendResult } from './send.ts'
import type { AlertTarget } from './target-store.ts'

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

interface Notice {
  readonly target: AlertTarget
  readonly message: OutgoingMessage
  dueAtMs: number
  isSending: boolean
}

export class OutageWatch {
  readonly #parts: OutageWatchParts
  #targets: readonly AlertTarget[] = []
  #outSinceMs: number | undefined
  #alert: Alert | undefined
  /** Targets that know of the outage. */
  readonly #told = new Map<string, AlertTarget>()
  /** At most two for each target. */
  #notices: Notice[] = []
  readonly #running = new Set<Promise<void>>()

  constructor(parts: OutageWatchParts) {
    this.#parts = parts
  }

  /** Remembers the targets while the store answers. */
  know(targets: readonly AlertTarget[]): void {
    this.#targets = targets
  }

  /** Looks whether the store is out, and sends what is due; does not wait for receivers. */
  look(): void {
    const { clock } = this.#parts.sending
    const nowMs = clock.monotonic()
    if (this.#parts.isStoreAvailable()) this.#end(nowMs)
    else {
      this.#outSinceMs ??= nowMs
      if (nowMs - this.#outSinceMs >= outageMs) this.#begin(nowMs)
    }
    for (const notice of this.#notices) this.#sendIfDue(notice, nowMs)
  }

  /** Resolves when nothing is being sent. */
  async settled(): Promise<void> {
    await Promise.all(this.#running)
  }

  #begin(nowMs: number): void {
    if (this.#alert !== undefined) return
    const { sending, nodeName } = this.#parts
    const firedAtMs = sending.clock.now()
    this.#alert = {
      id: newId('alr', firedAtMs),
      kind: 'store.outage',
      subject: nodeName,
      severity: alertKinds['store.outage'],
      title: `The store does not answer to ${nodeName}`,
      text:
        `The gateway ${nodeName} cannot reach its store. Requests get 503 until it answers. Look at the ` +
        'database and its disk, and run turnpike doctor.',
      facts: { node: nodeName },
      firedAtMs,
      resolvedAtMs: undefined,
    }
    for (const target of this.#targets)
      if (wants(target, this.#alert)) this.#add(target, this.#alert, 'firing', nowMs)
  }

  #end(nowMs: number): void {
    this.#outSinceMs = undefined
    if (this.#alert === undefined) return
    const over: Alert = { ...this.#alert, resolvedAtMs: this.#parts.sending.clock.now() }
    this.#alert = undefined
    // A target that has not learnt of the outage needs no message of its end, and no late one of it.
    this.#notices = this.#notices.filter(({ isSending }) => isSending)
    for (const target of this.#told.values()) this.#add(target, over, 'resolved', nowMs)
    this.#told.clear()
  }

  #add(target: AlertTarget, alert: Alert, event: AlertEvent, nowMs: number): void {
    const message = {
      id: newId('dlv', this.#parts.sending.clock.now()),
      recipient: '',
      createdAtMs: alert.resolvedAtMs ?? alert.firedAtMs,
      alert,
      event,
    }
    this.#notices.push({ target, message, dueAtMs: nowMs, isSending: false })
  }

  #sendIfDue(notice: Notice, nowMs: number): void {
    if (notice.isSending || nowMs < notice.dueAtMs) return
    notice.isSending = true
    const run = this.#send(notice).finally(() => {
      notice.isSending = false
      this.#running.delete(run)
    })
    this.#running.add(run)
  }

  async #send(notice: Notice): Promise<void> {
    const { sending, onAttempt, random } = this.#parts
    const { target, message } = notice
    const result = await sendMessage(target, message, sending)
    onAttempt(target, result)
    if (result.kind === 'delivered' || result.isFinal) {
      this.#notices = this.#notices.filter((one) => one !== notice)
      if (result.kind === 'delivered' && message.event === 'firing')
        this.#told.set(target.id, target)
      return
    }
    const waitMs = retryMs * (1 + spread * (2 * random() - 1))
    notice.dueAtMs = sending.clock.monotonic() + waitMs
  }
}
