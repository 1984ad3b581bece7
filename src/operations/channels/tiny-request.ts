/**
 * Sends one real, tiny request to a channel, stored or drafted, from this process, and says what came back
 * and what it cost. Nothing is saved, and health learns nothing from it. The operator pays, as for checks.
 */
import { z } from 'zod'
import { formatUsd } from '../../base/money.ts'
import { modelOfPlace } from '../../channels/places.ts'
import { checkOperation } from '../../channels/offer.ts'
import { priceCheck } from '../../channels/probes/check-cost.ts'
import { recordAction } from '../actions.ts'
import { usd, type Answer } from '../answer-forms.ts'
import { invalidField, operation, type OperationContext } from '../operation.ts'
import { bookCheck, type MadeCheck } from './channel-check.ts'
import { channelName } from './channels.ts'
import { draftField, openDraft, patching, type DraftChannel } from './draft-channel.ts'
import type { RunCheck } from './run-check.ts'

/** What came back of a request to a vendor. */
export const reachedFields = {
  /** `ok`, or the class of the failure. */
  outcome: z.string(),
  status: z.int().nullable().meta({ description: 'HTTP status; null without an answer.' }),
  /** Why no request was sent. */
  reason: z.string().nullable(),
  error: z
    .strictObject({
      type: z.string().nullable(),
      code: z.string().nullable(),
      param: z.string().nullable(),
    })
    .nullable()
    .meta({ description: "Of the vendor's error." }),
  duration_ms: z.int(),
}

export const testForm = z.strictObject({
  ok: z.boolean(),
  model: z.string().nullable().meta({ description: 'The model of the catalogue.' }),
  ...reachedFields,
  answered_model: z.string().nullable().meta({ description: 'As the vendor names it.' }),
  usage: z
    .strictObject({
      input_tokens: z.int(),
      output_tokens: z.int(),
      cache_tokens: z.int(),
    })
    .nullable(),
  cost_usd: usd.nullable().meta({ description: 'Null = not known.' }),
  is_own_cost_known: z
    .boolean()
    .nullable()
    .meta({ description: 'False = at list price: the channel has no cost for the model.' }),
  is_booked: z.boolean(),
  cost_note: z.string().nullable().meta({ description: 'Why the cost is not booked.' }),
})

export type TestResult = Answer<typeof testForm>

export const testedModel = z
  .string('must name a model')
  .min(1, 'must name a model')
  .optional()
  .describe('The model to ask for; the first that the channel serves without it.')

const testInput = z.strictObject({ channel: channelName, draft: draftField, model: testedModel })

/** A failure is an answer, not a refusal; a draft with mistakes is refused. */
export const testChannel = operation(
  { input: testInput, answer: testForm },
  async (context, { channel: name, draft, model }) => {
    const opened = await openDraft(context, name, patching(draft))
    return testOpened(context, { name, opened, model, isDraft: draft !== undefined })
  },
)

export async function testOpened(
  context: OperationContext,
  test: {
    readonly name: string
    readonly opened: DraftChannel | string
    readonly model: string | undefined
    readonly isDraft: boolean
  },
): Promise<TestResult> {
  const { name, opened, model: chosen, isDraft } = test
  if (typeof opened === 'string') return unsentTest(opened)
  const { channel, vendor, snapshot, isStored } = opened
  const served = new Set([...channel.models.keys()].map(modelOfPlace))
  if (chosen !== undefined && !served.has(chosen))
    throw invalidField('model', `the channel serves no model ${chosen} that has a price`)
  const model = chosen ?? [...served][0]
  if (model === undefined) return unsentTest('no model of this channel has a price')
  // Before it is sent: a test costs money, also where its answer is lost.
  await recordRequest(context, name, { action: 'channel.test', isDraft, model })
  const asked = checkOperation(vendor, model, {
    models: snapshot.models,
    nowMs: context.clock.now(),
  })
  const check = { vendor, channel, model, operation: asked, by: 'request' } as const
  const result = await context.runCheck(check)
  const { usage } = result
  const made = { snapshot, channel: name, model }
  return {
    ok: result.outcome === 'ok',
    model,
    ...viewReached(result),
    answered_model: result.model ?? null,
    ...(usage === undefined ? nothingCounted : await count(context, { ...made, usage }, isStored)),
  }
}

const nothingCounted = {
  usage: null,
  cost_usd: null,
  is_own_cost_known: null,
  is_booked: false,
  cost_note: null,
}

function unsentTest(reason: string): TestResult {
  return { ok: false, model: null, ...unsent(reason), answered_model: null, ...nothingCounted }
}

/** Books the cost of a request on a channel that the catalogue has. */
async function count(context: OperationContext, made: MadeCheck, isStored: boolean) {
  const { usage, snapshot } = made
  const cost = isStored
    ? await bookCheck(context, made)
    : priceCheck(made, usage, { snapshot, nowMs: context.clock.now() })
  const { inputTokens, outputTokens, cacheTokens } = usage.reported
  const note = isStored ? null : 'not booked: the catalogue has no channel of this name yet'
  return {
    usage: {
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      cache_tokens: cacheTokens,
    },
    cost_usd: cost === undefined ? null : formatUsd(cost.amountPicos),
    is_own_cost_known: cost?.isKnown ?? null,
    is_booked: isStored && cost !== undefined,
    cost_note: cost === undefined ? 'the cost is not known: the counts make no sense' : note,
  }
}

type CheckResult = Awaited<ReturnType<RunCheck>>
type Reached = Answer<z.ZodObject<typeof reachedFields>>

export function unsent(reason: string): Reached {
  return { outcome: 'not_sent', status: null, reason, error: null, duration_ms: 0 }
}

export function viewReached(result: CheckResult): Reached {
  return {
    outcome: result.failure ?? result.outcome,
    status: result.status ?? null,
    reason: null,
    error: result.reason ?? null,
    duration_ms: Math.round(result.durationMs),
  }
}

interface SentRequest {
  readonly action: 'channel.test' | 'channel.models'
  readonly isDraft: boolean
  readonly model?: string
}

/** Each request to a vendor is in the operators' log. */
export async function recordRequest(
  context: OperationContext,
  channel: string,
  { action, isDraft, model }: SentRequest,
): Promise<void> {
  const detail = { is_draft: isDraft, ...(model !== undefined && { model }) }
  await context.database.transact((transaction) =>
    recordAction(transaction, context, { action, subject: channel, detail }),
  )
}
