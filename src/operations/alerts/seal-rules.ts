/**
 * The alert of books that are not sealed: an hour with entries has ended long ago, and its heads are not
 * signed. From the store alone, so it holds whichever gateway should have sealed.
 */
import { hourMs, minuteMs } from '../../base/clock.ts'
import { findOverdue, type SealMark } from '../../ledger/proof/seal-store.ts'
import { keyOf, type Finding } from './alert-kind.ts'
import { applyObservation, readConditions, type RaiseOptions } from './raise.ts'

const kind = 'ledger.not_sealed'
const subject = ''
/** An hour is sealed a few minutes after its end. */
const overdueMs = 2 * hourMs
/** The first gateway after a long stop seals within a few minutes; until then it is no failure. */
const patienceMs = 5 * minuteMs

/** Looks one time after the other. */
export class SealWatch {
  readonly #options: RaiseOptions
  #overdueSinceMs: number | undefined

  constructor(options: RaiseOptions) {
    this.#options = options
  }

  async look(nowMs: number): Promise<void> {
    const overdue = await findOverdue(this.#options.database, nowMs - overdueMs)
    const findings =
      overdue !== undefined && (await this.#holds(nowMs)) ? [finding(overdue, nowMs)] : []
    if (overdue === undefined) this.#overdueSinceMs = undefined
    await applyObservation(this.#options, { kinds: [kind], findings }, nowMs)
  }

  /** Another gateway may have raised it before. */
  async #holds(nowMs: number): Promise<boolean> {
    this.#overdueSinceMs ??= nowMs
    if (nowMs - this.#overdueSinceMs >= patienceMs) return true
    return (await readConditions(this.#options.database)).has(keyOf({ kind, subject }))
  }
}

function finding({ hourMs: sealedMs }: SealMark, nowMs: number): Finding {
  const isSealed = sealedMs > 0
  const hours = isSealed ? Math.floor((nowMs - sealedMs) / hourMs) : null
  return {
    kind,
    subject,
    title:
      hours === null
        ? 'The books have never been sealed'
        : `The books have not been sealed for ${hours} h`,
    text:
      'Lines wait for their seal, so account holders cannot prove them yet. Charges and balances are not ' +
      'affected. The doctor says whether the key that signs the books can be opened; of another failure the ' +
      'log of the gateway has a fault.',
    command: 'turnpike doctor',
    facts: { sealed_until: isSealed ? new Date(sealedMs).toISOString() : null, hours },
  }
}
