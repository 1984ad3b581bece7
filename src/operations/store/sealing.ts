/**
 * Seals the hours that have ended, in a running gateway: one node of a store at a time has the lease on it. A
 * few minutes after each full hour, and soon after a start. Invariant: no charge waits for it; a round that
 * fails is reported, and the next minute tries again.
 */
import { every, hourMs, minuteMs, type Clock } from '../../base/clock.ts'
import type { Secret } from '../../base/secret.ts'
import type { SealReport } from '../../ledger/proof/sealing.ts'
import type { Membership } from '../../storage/membership.ts'

export interface SealingOptions {
  readonly clock: Clock
  readonly membership: Pick<Membership, 'addTask' | 'hasTask'>
  /** The store's time. */
  readonly readTime: () => Promise<number>
  readonly masterKey: () => Secret
  readonly seal: (order: { nowMs: number; masterKey: Secret }) => Promise<SealReport>
  readonly isStoreAvailable: () => boolean
  readonly onError: (error: unknown) => void
}

const sealTask = 'seals'
/** Most charges of an hour are booked by then, so that they are in its head. */
const delayMs = 3 * minuteMs

export interface Sealing {
  /** Starts no further round. One that runs may be stopped anywhere. */
  close(): void
}

export function startSealing(options: SealingOptions): Sealing {
  const { clock, membership } = options
  membership.addTask(sealTask)
  let sealedHour: number | undefined
  let isClosed = false
  async function round(): Promise<void> {
    if (!membership.hasTask(sealTask) || !options.isStoreAvailable()) return
    const nowMs = (await options.readTime()) - delayMs
    const hour = Math.floor(nowMs / hourMs)
    if (hour === sealedHour) return
    await options.seal({ nowMs, masterKey: options.masterKey() })
    sealedHour = hour
  }
  const timer = every(clock, minuteMs, round, (error) => {
    if (!isClosed) options.onError(error)
  })
  return {
    close() {
      isClosed = true
      timer.cancel()
    },
  }
}
