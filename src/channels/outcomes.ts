/**
 * The outcomes of an attempt on a channel: one row for each class, and the only place that says what a class
 * means. The relay judges by it, health and probes learn from it, recorded attempts are explained by it, and
 * docs/architecture.md prints it. Invariant: the next step (`next`) and the blame (`health`) are two
 * facts, and only the second one changes a channel's health.
 */
import type { ErrorCode } from '../base/errors.ts'
import type { UpstreamFault } from '../formats/format.ts'
import type { FailureKind } from '../http/client/upstream.ts'
import type { Outcome } from './health/health-event.ts'

/** No answer at all. `timeout` is the channel's limit; `shortage` and the last three are the gateway's. */
export type BrokenClass =
  | 'connect'
  | 'lookup'
  | 'shortage'
  | 'address'
  | 'certificate_expired'
  | 'tls'
  | 'reset'
  | 'protocol'
  | 'timeout'
  | 'not_the_format'
  | 'too_large'
  | 'deadline'
  | 'shutdown'

/** All but `stale` are recorded; a stale connection has the class of its failure. */
export type OutcomeClass =
  | 'answered'
  | 'client_left'
  | 'cut'
  | 'stale'
  | UpstreamFault
  | BrokenClass

/** The next step, in the words of docs/architecture.md; `relay/verdict.ts` knows the conditions. */
export const plans = {
  commit: 'the client gets it, unchanged',
  other_model: 'a channel with another vendor-side model, once; else the client gets it',
  failover: 'another channel',
  retry: 'a retry, once',
  retry_or_commit: 'a retry, once; else the client gets it',
  retry_if_alone: 'another channel that is fit to serve; else a retry, once',
  give_up: 'an error of ours',
  abandon: 'nothing',
  close: 'an error event; the connection is closed',
} as const

export interface OutcomeRow {
  /** When an attempt has this class, for docs/architecture.md. */
  readonly examples: string
  /** Describes the event to an operator. */
  readonly meaning: string
  readonly next: keyof typeof plans
  /** What the channel's health learns, before the commit point; see `healthOf`. */
  readonly health: Outcome
  /** The vendor may bill the operator for it although nothing was delivered, where the request had left. */
  readonly mayHaveCost: boolean
  /** What the client gets where nothing is left to try: the vendor's error, or an error of ours. */
  readonly shows: 'vendor_error' | ErrorCode
  /** How much it says about what to do next: of several failures the client gets the one with the most. */
  readonly weight: number
}

const ours = { shows: 'relay.upstream_failed', weight: 0 } as const
const pass = { mayHaveCost: false, shows: 'vendor_error', weight: 1 } as const
const failed = { ...pass, next: 'failover', health: 'hard', weight: 3 } as const
const refused = { ...ours, next: 'failover', mayHaveCost: false, weight: 1 } as const
const lost = { ...ours, next: 'failover', health: 'hard', mayHaveCost: true } as const
const ended = { ...ours, next: 'give_up', health: 'nobody', mayHaveCost: true } as const

export const outcomes = {
  answered: {
    ...ours,
    examples: "a stream's first event, a whole body of the format",
    meaning: 'The vendor answered.',
    next: 'commit',
    health: 'ok',
    mayHaveCost: false,
  },
  client: {
    ...pass,
    examples: '400, 413, 422',
    meaning: 'The vendor refused this request; no other channel would take it.',
    next: 'commit',
    health: 'client',
  },
  context_too_long: {
    ...pass,
    examples: 'the prompt is too long for the model',
    meaning: 'The request is too long for the model.',
    next: 'other_model',
    health: 'client',
  },
  model_dependent: {
    ...pass,
    examples: 'a 404 that names no model',
    meaning: 'The model did not take the request.',
    next: 'other_model',
    health: 'client',
  },
  throttle: {
    ...failed,
    examples: '429, 529, 503 with `retry-after`, an overload error as first event',
    meaning: 'The vendor limits requests or is overloaded. The channel rests.',
    health: 'throttle',
    weight: 4,
  },
  config: {
    ...refused,
    examples: '401, 403, an account that is closed',
    meaning: 'The vendor refused the credential or the account of the channel.',
    health: 'config',
  },
  no_credit: {
    ...refused,
    examples: '402, used-up credit, spend limits',
    meaning: 'The credit or the spend limit of the channel at its vendor is used up.',
    health: 'no_credit',
  },
  model_missing: {
    ...refused,
    examples: '404 for a model of the catalogue',
    meaning: 'The vendor does not have this model.',
    health: 'model_missing',
    shows: 'relay.model_unknown',
    weight: 2,
  },
  not_offered: {
    ...refused,
    examples: '404, 405, 501 for the path of an endpoint that not every vendor has',
    meaning: 'The vendor does not offer this operation.',
    health: 'nobody',
    shows: 'relay.not_offered',
    weight: 2,
  },
  lone_500: {
    ...failed,
    examples: '500',
    meaning: 'The vendor failed with status 500.',
    next: 'retry_if_alone',
  },
  conflict: {
    ...pass,
    examples: '408, 409',
    meaning: 'The vendor reported a conflict or a timeout (409, 408).',
    next: 'retry_or_commit',
    health: 'client',
  },
  hard: {
    ...failed,
    examples: 'any other 5xx, 3xx, a 403 or 404 that cannot be read',
    meaning: 'The vendor failed.',
  },
  connect: {
    ...lost,
    examples: 'no connection',
    meaning: 'The gateway could not connect to the vendor.',
    mayHaveCost: false,
  },
  lookup: {
    ...lost,
    examples: 'the name is unknown, or the name server does not answer',
    meaning: "The gateway could not look up the name of the channel's address, or of its proxy.",
    mayHaveCost: false,
  },
  shortage: {
    ...refused,
    examples: 'the gateway has no open file, port or memory left for a connection',
    meaning: 'The gateway itself was short of open files, ports or memory.',
    health: 'nobody',
    shows: 'relay.overloaded',
    weight: 2,
  },
  address: {
    ...lost,
    examples: 'a name that leads to an address which is not public, without `allow_private`',
    meaning:
      "The name of the channel's address leads where it must not: into a private network without `allow_private`, or in plain text to the internet.",
    health: 'address_refused',
    mayHaveCost: false,
  },
  certificate_expired: {
    ...lost,
    examples: 'a certificate whose time is over, which lasts as long as a refused credential',
    meaning: "The vendor's certificate has expired.",
    health: 'certificate_expired',
    mayHaveCost: false,
  },
  tls: {
    ...lost,
    examples: 'a certificate for another name, or of an authority that is not trusted',
    meaning: "The gateway could not trust the vendor's certificate.",
    health: 'certificate_refused',
    mayHaveCost: false,
  },
  stale: {
    ...lost,
    examples: 'a kept-alive connection that ends before a byte of the answer',
    meaning: 'The vendor had closed a kept-alive connection; the request went out again.',
    next: 'retry',
    health: 'nobody',
    mayHaveCost: false,
  },
  reset: {
    ...lost,
    examples: 'the connection ends before the answer',
    meaning: 'The connection to the vendor was lost before an answer.',
  },
  protocol: {
    ...lost,
    examples: 'not HTTP, a stream without a first event in its first MiB',
    meaning: "The vendor's answer was not valid HTTP.",
  },
  timeout: {
    ...lost,
    examples: 'no first event, or no whole answer, within the time limit of the channel',
    meaning: 'The vendor did not answer in time.',
    shows: 'relay.upstream_timeout',
  },
  not_the_format: {
    ...lost,
    examples: 'status 200 with a body that is no answer',
    meaning: "The answer did not have the vendor's format.",
  },
  too_large: {
    ...ended,
    examples: 'an answer beyond `answer_max_bytes`',
    meaning: 'The answer was larger than `answer_max_bytes`.',
    shows: 'relay.answer_too_large',
  },
  deadline: {
    ...ended,
    examples: "the request's deadline",
    meaning: 'The request reached `request_deadline` while the gateway waited.',
    shows: 'relay.upstream_timeout',
  },
  shutdown: {
    ...ended,
    examples: 'the end of the drain time',
    meaning: 'The gateway stopped while it waited for the vendor.',
    shows: 'relay.shutting_down',
  },
  client_left: {
    ...ended,
    examples: 'the client leaves before there is an answer',
    meaning: 'The client left while the gateway waited for the vendor.',
    next: 'abandon',
    health: 'client',
  },
  cut: {
    ...lost,
    examples: 'a committed stream without its end',
    meaning: 'The vendor broke off after the answer had begun.',
    next: 'close',
    health: 'broken',
  },
} as const satisfies Readonly<Record<OutcomeClass, OutcomeRow>>

export function isOutcomeClass(name: string): name is OutcomeClass {
  return Object.hasOwn(outcomes, name)
}

const unreachable: ReadonlySet<OutcomeClass> = new Set([
  'connect',
  'lookup',
  'address',
  'certificate_expired',
  'tls',
])

/** What decides, beside the class, what the channel's health learns. */
interface Circumstances {
  /** No model makes an answer for the exchange. */
  readonly isFree: boolean
  /** Status of the answer, where there is one. */
  readonly status: number | null
}

/**
 * Returns what the channel's health learns. A free operation proves nothing about a channel's answers: some
 * vendors do not offer it, others limit it separately. Only two of its outcomes blame the channel: it cannot
 * be reached, or it refuses the credential.
 */
export function healthOf(name: OutcomeClass, { isFree, status }: Circumstances): Outcome {
  const isTrueOfAll = unreachable.has(name) || status === 401
  return isFree && !isTrueOfAll ? 'nobody' : outcomes[name].health
}

/** Returns what health learns of a committed stream: an error in its middle is blamed as at its beginning. */
export function healthAfterCommit(name: OutcomeClass): Outcome {
  const { health } = outcomes[name]
  return health === 'hard' ? 'broken' : health
}

/** An attempt that has ended. Its class is undefined where another release has recorded it. */
interface ClassedAttempt {
  readonly channel: string
  readonly class: OutcomeClass | undefined
}

/**
 * Returns the earlier attempt whose failure the client gets in place of a refusal: the first one, where it
 * failed on another channel in a way that passes. That channel may know the signature, beta or field that the
 * other refuses, so the client can try again. How long a context may be, all channels know.
 */
export function failureInPlaceOf<One extends ClassedAttempt>(
  refused: ClassedAttempt,
  earlier: readonly One[],
): One | undefined {
  if (refused.class !== 'client' && refused.class !== 'model_dependent') return undefined
  // A request into a stale connection was no failure.
  const first = earlier.find(({ class: name }) => name !== 'stale')
  if (first?.class === undefined || first.channel === refused.channel) return undefined
  return isPassing(first.class) ? first : undefined
}

/** Returns whether a failure may be over soon; credential, credit and models need the operator. */
export function isPassing(name: OutcomeClass): boolean {
  const { health } = outcomes[name]
  return health === 'hard' || health === 'throttle' || name === 'shortage'
}

/** Only a gateway that stops ends a request to a vendor itself. */
export function classOfFailure(kind: FailureKind): BrokenClass {
  return kind === 'aborted' ? 'shutdown' : kind
}
