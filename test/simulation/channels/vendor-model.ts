/**
 * How a simulated channel behaves at a moment: how likely an attempt fails and in which way, and how
 * long its first event takes. Faults are written down as functions of time, so that a scenario can
 * be read as a sentence.
 */
import type { Random } from '../../../src/base/random.ts'
import type { Form, Outcome } from '../../../src/channels/health/health-event.ts'

/** Cut in the middle of the answer, no answer within the time limit, or an error at once. */
type FailingHow = 'cut' | 'hang' | 'refuse'

export interface Behaviour {
  readonly errorRate: number
  /** How many answers break off after they have begun. */
  readonly breakRate?: number
  readonly latencyFactor: number
  /** Answers 429 and asks for so much time, or none named. */
  readonly throttle?: { readonly retryAfterMs: number | undefined } | undefined
  /** Every request of this form fails, in this way; the other form is answered. */
  readonly failing?: { readonly form: Form; readonly how: FailingHow } | undefined
  /** Keys whose requests always fail there. */
  readonly failingKeys?: ReadonlySet<string>
  readonly isRefusing?: boolean
}

/** At a moment, as a node sees it. */
export type Script = (at: number, node: number) => Behaviour

export interface Played {
  readonly outcome: Outcome
  readonly retryAfterMs?: number | undefined
  /** To the first event, or to the failure. */
  readonly firstMs: number
  /** From the first event to the end. */
  readonly restMs: number
}

const medianMs = 800
const sigma = 0.5
const tailShare = 0.02
const failureMedianMs = 150
const streamMs = 1_500

/** The gateway waits this long for the first event, and for a probe. */
const timeLimitMs = 30_000

export interface Asked {
  /** Undefined for a probe. */
  readonly keyId: string | undefined
  readonly form: Form
}

export function play(behaviour: Behaviour, { keyId, form }: Asked, random: Random): Played {
  const quick = failureMedianMs * logNormal(random)
  if (behaviour.isRefusing === true) return { outcome: 'config', firstMs: quick, restMs: 0 }
  if (behaviour.throttle !== undefined)
    return { outcome: 'throttle', ...behaviour.throttle, firstMs: quick, restMs: 0 }
  const { failing } = behaviour
  const how = failing !== undefined && failing.form === form ? failing.how : undefined
  if (how === 'hang') return { outcome: 'hard', firstMs: timeLimitMs, restMs: 0 }
  if (how === 'refuse') return { outcome: 'hard', firstMs: quick, restMs: 0 }
  const isFailingKey = keyId !== undefined && behaviour.failingKeys?.has(keyId) === true
  if (isFailingKey || random() < behaviour.errorRate)
    return { outcome: 'hard', firstMs: quick, restMs: 0 }
  const tail = random() < tailShare ? 2 + 4 * random() : 1
  const firstMs = medianMs * logNormal(random) * tail * behaviour.latencyFactor
  const restMs = keyId === undefined || form === 'whole' ? 0 : streamMs * logNormal(random)
  const isBreaking =
    how === 'cut' || (behaviour.breakRate !== undefined && random() < behaviour.breakRate)
  return { outcome: isBreaking ? 'broken' : 'ok', firstMs, restMs }
}

function logNormal(random: Random): number {
  const radius = Math.sqrt(-2 * Math.log(1 - random()))
  return Math.exp(sigma * radius * Math.cos(2 * Math.PI * random()))
}

/** The same at all times. */
export function steady(behaviour: Partial<Behaviour> = {}): Script {
  const always: Behaviour = { errorRate: 0.01, latencyFactor: 1, ...behaviour }
  return () => always
}

/** One behaviour in each of these spans of time, the other outside. */
export function during(
  span: { readonly from: number; readonly to: number },
  inside: Partial<Behaviour>,
  outside: Partial<Behaviour> = {},
): Script {
  const fault = steady(inside)
  const calm = steady(outside)
  return (at, node) => (at >= span.from && at < span.to ? fault(at, node) : calm(at, node))
}

/** One node sees the one, all others the other. */
export function onNode(node: number, there: Script, elsewhere: Script): Script {
  return (at, from) => (from === node ? there(at, from) : elsewhere(at, from))
}

/** Down for a while, up for as long, again and again within a span. */
export function flapping(
  span: { readonly from: number; readonly to: number },
  halfPeriodMs: number,
): Script {
  const down = steady({ errorRate: 1 })
  const up = steady()
  return (at, node) => {
    const isInside = at >= span.from && at < span.to
    return isInside && Math.floor((at - span.from) / halfPeriodMs) % 2 === 1
      ? down(at, node)
      : up(at, node)
  }
}
