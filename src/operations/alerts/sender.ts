/**
 * Sends due messages from the outbox: each target by itself, so that one that hangs keeps no other waiting;
 * the messages of a target one after the other. At least once: a message is marked after it was sent, so a
 * process that dies in between leaves it to be sent again, with the same id.
 */
import { dayMs, hourMs } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { Database } from '../../storage/database.ts'
import { listDueMessages, saveAttempt, type Delivery } from './delivery-store.ts'
import { sendMessage, type Sending, type SendResult } from './send.ts'
import type { AlertTarget } from './target-store.ts'

export interface SenderParts {
  readonly database: Database
  readonly random: Random
  readonly sending: Sending
  readonly onError: (error: unknown) => void
  /** An attempt is over; for counters and the log. */
  readonly onAttempt: (target: AlertTarget, result: SendResult) => void
}

/** Read in one round. One that hangs with many messages must leave room for the others. */
const messagesPerTarget = 50
const firstRetryMs = 10_000
const retryMaxMs = hourMs
/** Each wait is longer or shorter by up to this share, so that senders do not meet. */
const spread = 0.2
/** From the moment that the alert began or ended. */
const giveUpMs = dayMs

export class AlertSender {
  readonly #parts: SenderParts
  /** By target: the messages that are being sent. */
  readonly #running = new Map<string, Promise<void>>()
  #isClosed = false
  /** The store's time less this process's. */
  #clockOffsetMs = 0

  constructor(parts: SenderParts) {
    this.#parts = parts
  }

  /** Starts to send the messages that are due, and does not wait for them. */
  async sendDue(targets: ReadonlyMap<string, AlertTarget>, nowMs: number): Promise<void> {
    if (targets.size === 0) return
    const { database, onError, sending } = this.#parts
    this.#clockOffsetMs = nowMs - sending.clock.now()
    const due = await listDueMessages(database, { nowMs, perTargetMax: messagesPerTarget })
    const byTarget = Map.groupBy(due, ({ targetId }) => targetId)
    for (const [targetId, messages] of byTarget) {
      const target = targets.get(targetId)
      if (target === undefined || this.#running.has(targetId)) continue
      const run = this.#sendAll(target, messages)
        .catch(onError)
        .finally(() => this.#running.delete(targetId))
      this.#running.set(targetId, run)
    }
  }

  /** Resolves when nothing is being sent. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.values())
  }

  /** Sends no further message. One that is being sent is sent again by the next process. */
  close(): void {
    this.#isClosed = true
  }

  async #sendAll(target: AlertTarget, messages: readonly Delivery[]): Promise<void> {
    const { sending, onAttempt } = this.#parts
    for (const message of messages) {
      if (this.#isClosed) return
      const result = await sendMessage(target, message, sending)
      onAttempt(target, result)
      if (this.#isClosed) return
      await this.#save(message, result)
      // The others would most likely fail too, each with its time limit.
      if (result.kind === 'not_delivered') return
    }
  }

  async #save(message: Delivery, result: SendResult): Promise<void> {
    const { database, sending } = this.#parts
    const atMs = sending.clock.now() + this.#clockOffsetMs
    await database.transact((transaction) =>
      saveAttempt(transaction, message.id, {
        atMs,
        outcome: result.outcome,
        next: this.#next(message, result, atMs),
      }),
    )
  }

  #next(
    { attempts, notice }: Delivery,
    result: SendResult,
    atMs: number,
  ): Parameters<typeof saveAttempt>[2]['next'] {
    if (result.kind === 'delivered') return { state: 'delivered' }
    if (result.isFinal || atMs - notice.atMs >= giveUpMs) return { state: 'failed' }
    const waitMs = Math.min(retryMaxMs, firstRetryMs * 2 ** attempts)
    const jittered = waitMs * (1 + spread * (2 * this.#parts.random() - 1))
    return {
      state: 'waiting',
      dueAtMs: atMs + Math.round(Math.max(jittered, result.retryAfterMs ?? 0)),
    }
  }
}
