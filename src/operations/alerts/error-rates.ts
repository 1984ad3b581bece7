/**
 * The error rates of accounts and channels over ten minutes, from the growth of counts. For an account it
 * counts what its clients saw; for a channel each attempt on it, also one that another channel has made
 * good. Samples are in memory: after a start there is no finding until there is a whole window. Many
 * errors begin an alert, few end it, so that it does not flicker.
 */
import type { Alert, AlertKind, Finding } from './alert-kind.ts'
import { keyOf } from './account-rules.ts'

export const errorRateKinds = [
  'account.error_rate',
  'channel.error_rate',
] as const satisfies readonly AlertKind[]
type ErrorRateKind = (typeof errorRateKinds)[number]

/** How many requests or attempts have ended so far, and how many of them in an error. */
export interface ErrorCount {
  /** An account's id or a channel's name. */
  readonly subject: string
  /** What counts; a subject can have several. Its counts grow until it begins anew. */
  readonly source: string
  readonly ended: number
  readonly failed: number
}

interface Sample {
  readonly atMs: number
  readonly counts: ReadonlyMap<string, ErrorCount>
}

const windowMs = 600_000
/** After a longer gap between samples the growth would be that of a longer time. */
const windowMaxMs = 2 * windowMs
const samplesMax = 12
/** Fewer in a window say nothing. */
const endedMin = 20
const firingShare = 0.5
const restingShare = 0.25

export class ErrorRates {
  readonly kind: ErrorRateKind
  #samples: readonly Sample[] = []

  constructor(kind: ErrorRateKind) {
    this.kind = kind
  }

  /** Takes a sample; returns the conditions that hold, or undefined without a whole window. */
  observe(
    counts: readonly ErrorCount[],
    atMs: number,
    firing: ReadonlyMap<string, Alert>,
  ): readonly Finding[] | undefined {
    const sample = { atMs, counts: new Map(counts.map((one) => [placeOf(one), one])) }
    this.#samples = [...this.#samples, sample].slice(-samplesMax)
    const before = this.#samples.findLast((one) => atMs - one.atMs >= windowMs)
    if (before === undefined || atMs - before.atMs > windowMaxMs) return undefined
    return [...Map.groupBy(counts, ({ subject }) => subject)].flatMap(([subject, own]) => {
      const grown = own.map((now) => growthOf(now, before.counts.get(placeOf(now))))
      const ended = grown.reduce((sum, one) => sum + one.ended, 0)
      const failed = grown.reduce((sum, one) => sum + one.failed, 0)
      const least = firing.has(keyOf(this.kind, subject)) ? restingShare : firingShare
      const isBad = ended >= endedMin && failed >= least * ended
      return isBad ? [findingOf(this.kind, subject, { ended, failed })] : []
    })
  }
}

type Growth = Pick<ErrorCount, 'ended' | 'failed'>

/** A source that counts less than before has begun anew. */
function growthOf(now: ErrorCount, then: ErrorCount | undefined): Growth {
  if (then === undefined || now.ended < then.ended) return now
  return { ended: now.ended - then.ended, failed: now.failed - then.failed }
}

function placeOf({ subject, source }: ErrorCount): string {
  return `${subject}\n${source}`
}

function findingOf(kind: ErrorRateKind, subject: string, { ended, failed }: Growth): Finding {
  const percent = Math.round((100 * failed) / ended)
  if (kind === 'account.error_rate')
    return {
      kind,
      subject,
      accountId: subject,
      title: `${percent} % of the requests of the account ${subject} fail`,
      text:
        `${failed} of ${ended} requests of the account ${subject} have failed in ten minutes. Look at ` +
        `them with: turnpike request list --account ${subject}`,
      facts: { requests: ended, errors: failed, percent },
    }
  return {
    kind,
    subject,
    channel: subject,
    title: `${percent} % of the attempts on the channel ${subject} fail`,
    text:
      `${failed} of ${ended} attempts on the channel ${subject} have failed in ten minutes. Requests may ` +
      `have succeeded on another channel. The failures by class: turnpike channel show ${subject}`,
    facts: { attempts: ended, errors: failed, percent },
  }
}
