/**
 * The error rates of accounts and channels, from the growth of the figures of reports over ten minutes.
 * Samples are in memory: after a start, and at 00:00 UTC when the figures begin anew, there is no finding
 * until there is a whole window. Many errors begin an alert, few end it, so that it does not flicker.
 */
import type { Alert, AlertKind, Finding } from './alert-kind.ts'
import { keyOf } from './account-rules.ts'

export const errorRateKinds = [
  'account.error_rate',
  'channel.error_rate',
] as const satisfies readonly AlertKind[]
type ErrorRateKind = (typeof errorRateKinds)[number]

/** Requests that have ended today, and how many of them in an error. */
export interface ErrorCount {
  readonly kind: ErrorRateKind
  /** An account's id or a channel's name. */
  readonly subject: string
  readonly requests: number
  readonly errors: number
}

interface Sample {
  readonly atMs: number
  readonly day: string
  readonly counts: ReadonlyMap<string, ErrorCount>
}

const windowMs = 600_000
const samplesMax = 12
/** Fewer requests in a window say nothing. */
const requestsMin = 20
const firingShare = 0.5
const restingShare = 0.25

export class ErrorRates {
  #samples: Sample[] = []

  /** Takes a sample; returns the conditions that hold, or undefined without a whole window. */
  observe(
    counts: readonly ErrorCount[],
    moment: { readonly nowMs: number; readonly day: string },
    firing: ReadonlyMap<string, Alert>,
  ): readonly Finding[] | undefined {
    const { nowMs: atMs, day } = moment
    const sample: Sample = {
      atMs,
      day,
      counts: new Map(counts.map((one) => [keyOf(one.kind, one.subject), one])),
    }
    this.#samples = [...this.#samples.filter((one) => one.day === day), sample].slice(-samplesMax)
    const before = this.#samples.findLast((one) => atMs - one.atMs >= windowMs)
    if (before === undefined) return undefined
    return counts.flatMap((now) => {
      const key = keyOf(now.kind, now.subject)
      const then = before.counts.get(key)
      const requests = now.requests - (then?.requests ?? 0)
      const errors = now.errors - (then?.errors ?? 0)
      const least = firing.has(key) ? restingShare : firingShare
      const isBad = requests >= requestsMin && errors >= least * requests
      return isBad ? [findingOf(now, { requests, errors })] : []
    })
  }
}

function findingOf(
  { kind, subject }: ErrorCount,
  { requests, errors }: Pick<ErrorCount, 'requests' | 'errors'>,
): Finding {
  const isAccount = kind === 'account.error_rate'
  const what = isAccount ? `the account ${subject}` : `the channel ${subject}`
  const advice = isAccount
    ? `turnpike request list --account ${subject}`
    : `turnpike request list --channel ${subject}`
  const percent = Math.round((100 * errors) / requests)
  return {
    kind,
    subject,
    ...(isAccount ? { accountId: subject } : { channel: subject }),
    title: `${percent} % of the requests of ${what} fail`,
    text: `${errors} of ${requests} requests of ${what} have failed in ten minutes. Look at them with: ${advice}`,
    facts: { requests, errors, percent },
  }
}
