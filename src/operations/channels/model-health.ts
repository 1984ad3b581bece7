/**
 * The state of one model on one channel as operators see it: what a gateway has published, and what answers
 * have taught it. Pure.
 */
import { z } from 'zod'
import type { PublishedState } from '../../channels/cluster/channel-states.ts'
import type { FailureLine, HealthLine, ShownWait } from '../../channels/health/health-line.ts'
import { shownModes } from '../../channels/health/health-state.ts'
import { waitNames } from '../../channels/silence.ts'
import { limitFields } from '../../formats/format.ts'
import { moment, type Answer } from '../answer-forms.ts'
import { timeOrNull, timeText } from '../operation.ts'
import { nextStepForm, nextStepsOf } from './channel-next-steps.ts'

export const timesForm = z.strictObject({ p50: z.int(), p95: z.int() }).nullable()

export const failureForm = z.strictObject({ class: z.string(), count: z.int(), last_at: moment })

type FailureView = Answer<typeof failureForm>
type WaitView = Answer<typeof waitForm>

export const healthState = z.enum([...shownModes, 'disabled'])

const waitForm = z.strictObject({
  wait: z.enum(waitNames).meta({
    description:
      '`head`: to the head of a stream; `output`: from there, or from a sign of work, to the first output.',
  }),
  reasoning: z.boolean().meta({ description: 'Of requests whose body asks for reasoning.' }),
  answers: z.int(),
  longest_ms: z.int(),
  limit_ms: z.int().nullable().meta({
    description: 'After it another channel takes over. Null before 50 answers.',
  }),
})

/** The state of a model as one gateway has published it. */
export const healthForm = z.strictObject({
  model: z.string(),
  /** `disabled` by an operator. */
  state: healthState,
  /** Null where the moment is not known. */
  since: moment.nullable(),
  why: z.string(),
  is_usable: z.boolean(),
  share: z.number().meta({ description: "Share of the model's requests, 0 to 1." }),
  running: z.int(),
  wakes_at: moment.nullable(),
  rests_until: moment.nullable(),
  last_ok_at: moment.nullable(),
  first_event_ms: timesForm,
  usual_first_event_ms: timesForm,
  learned_waits: z.array(waitForm).meta({
    description: 'What the answers of a day have shown about the silence of the vendor.',
  }),
  ignored_limits: z.array(z.enum(limitFields)).meta({
    description: 'Fields of requests that do not limit the output here, as answers have shown.',
  }),
  count_ratio: z.number().nullable().meta({
    description:
      'How many times the estimate the channel counts for plain text, where that is above 2.',
  }),
  usage_refused: z.boolean().meta({
    description:
      'Streams are not asked for their usage, for a day, because the channel refuses `stream_options`.',
  }),
  /** Since the gateway started. */
  failures: z.array(failureForm),
  /** Who published this state. */
  node: z.string(),
  /** When the state last changed. */
  published_at: moment,
  /** Time since that gateway's last heartbeat. */
  age_ms: z.number(),
  /** Whether that gateway is running; if not, this is the last known state. */
  is_live: z.boolean(),
  next_steps: z.array(nextStepForm).meta({ description: 'Empty where nothing is due.' }),
})

export type ChannelHealthView = Answer<typeof healthForm>

export function viewState(
  { node, line, publishedAtMs }: PublishedState,
  {
    sinceMs,
    ageMs,
    isLive,
    check,
    nowMs,
  }: {
    readonly sinceMs: number | undefined
    readonly ageMs: number
    readonly isLive: boolean
    readonly check: string
    readonly nowMs: number
  },
): ChannelHealthView {
  const shown = {
    model: line.model,
    state: line.mode,
    since: timeOrNull(sinceMs),
    why: line.why,
    is_usable: line.isUsable,
    share: Math.round(line.share * 1_000) / 1_000,
    running: line.running,
    wakes_at: timeOrNull(line.wakeAtMs),
    rests_until: timeOrNull(line.restUntilMs),
    last_ok_at: timeOrNull(line.lastOkAtMs),
    first_event_ms: timesView(line.firstEventMs),
    usual_first_event_ms: timesView(line.usualFirstEventMs),
    learned_waits: line.waits.map(viewWait),
    ignored_limits: [...(line.ignoredLimits ?? [])],
    count_ratio: line.countRatio ?? null,
    usage_refused: line.isUsageRefused === true,
    failures: line.failures.map(viewFailure),
    node,
    published_at: timeText(publishedAtMs),
    age_ms: ageMs,
    is_live: isLive,
  }
  return { ...shown, next_steps: nextStepsOf(shown, { check, isLive, nowMs }) }
}

function viewWait({ wait, asksReasoning, answers, longestMs, limitMs }: ShownWait): WaitView {
  return {
    wait,
    reasoning: asksReasoning,
    answers,
    longest_ms: Math.round(longestMs),
    limit_ms: limitMs === undefined ? null : Math.round(limitMs),
  }
}

export function timesView(times: HealthLine['firstEventMs']): Answer<typeof timesForm> {
  return times === undefined ? null : { p50: Math.round(times.p50), p95: Math.round(times.p95) }
}

export function viewFailure({ outcome, count, lastAtMs }: FailureLine): FailureView {
  return { class: outcome, count, last_at: timeText(lastAtMs) }
}
