/**
 * The check that an operator requests. Every running gateway checks the channel with its own credential
 * and from its own place, and the command shows what each found; without a running gateway the command
 * checks the channel itself. The operator pays for checks.
 */
import { z } from 'zod'
import { minuteMs, sleep } from '../../base/clock.ts'
import { newId } from '../../base/id.ts'
import type { Snapshot } from '../../channels/channel.ts'
import { isInUse, readCatalogue } from '../../channels/channel-store.ts'
import { requestCheck } from '../../channels/cluster/channel-states.ts'
import {
  listCheckAnswers,
  type CheckAnswer,
  type CheckedModel,
} from '../../channels/cluster/check-answers.ts'
import { appendCosts } from '../../channels/cluster/operator-cost-store.ts'
import { countsOf, priceCheck } from '../../channels/probes/check-cost.ts'
import { explainAbsence, loadSnapshot, type LoadedSnapshot } from '../../channels/snapshot.ts'
import { modelOfPlace } from '../../channels/places.ts'
import { checkOperation } from '../../channels/offer.ts'
import type { OwnCost } from '../../metering/cost-prices.ts'
import type { Usage } from '../../metering/usage.ts'
import { readRevisions } from '../../storage/changes.ts'
import { isRunning, listNodes, readStoreTime, type GatewayNode } from '../../storage/node-store.ts'
import { recordAction } from '../actions.ts'
import { channelName, noSuchChannel } from './channels.ts'
import type { Answer } from '../answer-forms.ts'
import { operation, type OperationContext } from '../operation.ts'

const checkForm = z.strictObject({
  channel: z.string(),
  /** Every model passed on every gateway. */
  ok: z.boolean(),
  gateways_asked: z.int(),
  /** One for each running gateway, or one for this command where none is running. */
  results: z.array(
    z.strictObject({
      /** Null: this command. */
      gateway: z.strictObject({ id: z.string(), name: z.string(), region: z.string() }).nullable(),
      ok: z.boolean(),
      /** Why there is no result, or not of all models, such as an unreadable credential. */
      reason: z.string().nullable(),
      models: z.array(
        z.strictObject({
          model: z.string(),
          ok: z.boolean(),
          /**
           * `ok`, or the class of the failure: `hard`, `config`, `throttle`, `model_missing`, `client`;
           * `nobody` where the gateway could not send the check.
           */
          outcome: z.string(),
          /** HTTP status; null without an answer. */
          status: z.int().nullable(),
          duration_ms: z.int(),
        }),
      ),
    }),
  ),
})

export type ChannelCheck = Answer<typeof checkForm>
type CheckResult = ChannelCheck['results'][number]

/** How long the command waits for the gateways, and how often it looks. */
const answerTimeoutMs = minuteMs
const lookIntervalMs = 250

/**
 * Checks a channel as its `check` setting says: a tiny request per model, or one listing call. With
 * `check: none`, requests are sent, because the operator has asked for a check. Health learns from it, so
 * a channel that works again leaves `off` at once.
 */
export const checkChannel = operation(
  { input: z.strictObject({ channel: channelName }), answer: checkForm },
  async (context, { channel }) => {
    const { channels } = await context.database.snapshot(readCatalogue)
    const known = channels.filter(isInUse)
    if (!known.some(({ name }) => name === channel)) throw noSuchChannel(channel, known)
    // Before it is sent: a check costs money, also where its answer is lost.
    await context.database.transact((transaction) =>
      recordAction(transaction, context, { action: 'channel.check', subject: channel }),
    )
    const fromGateways = await checkOnGateways(context, channel)
    const results = fromGateways.length > 0 ? fromGateways : [await checkHere(context, channel)]
    const ok = results.every((result) => result.ok)
    return { channel, ok, gateways_asked: fromGateways.length, results }
  },
)

/** Empty where no gateway is running; one that ends meanwhile has no result. */
async function checkOnGateways(
  { database, clock }: OperationContext,
  channel: string,
): Promise<readonly CheckResult[]> {
  const nowMs = await readStoreTime(database, clock)
  let asked = await runningNodes(database, nowMs)
  if (asked.length === 0) return []
  const id = newId('evt', nowMs)
  await database.transact((transaction) =>
    requestCheck(transaction, { id, channel, askedAtMs: nowMs }),
  )
  const untilMs = clock.monotonic() + answerTimeoutMs
  for (;;) {
    const answers = new Map((await listCheckAnswers(database, id)).map((one) => [one.node, one]))
    const isDone = (node: GatewayNode): boolean => answers.get(node.id)?.isComplete === true
    const isLate = clock.monotonic() >= untilMs
    if (isLate || asked.every(isDone)) return asked.map((node) => viewAnswer(node, answers))
    await sleep(clock, lookIntervalMs)
    const running = await runningNodes(database, await readStoreTime(database, clock))
    asked = asked.filter((node) => isDone(node) || running.some((one) => one.id === node.id))
    if (asked.length === 0) return []
  }
}

async function runningNodes(
  database: OperationContext['database'],
  nowMs: number,
): Promise<readonly GatewayNode[]> {
  return (await listNodes(database)).filter((node) => isRunning(node, nowMs))
}

function viewAnswer(
  { id, name, region }: GatewayNode,
  answers: ReadonlyMap<string, CheckAnswer>,
): CheckResult {
  const answer = answers.get(id)
  const gateway = { id, name, region }
  if (answer === undefined) return { gateway, ok: false, reason: noAnswer, models: [] }
  const reason = answer.reason ?? (answer.isComplete ? undefined : unfinished)
  return { gateway, ...viewResult(answer.models, reason) }
}

const noAnswer = `it has not answered within ${answerTimeoutMs / 1_000} s`
const unfinished = `it has not finished within ${answerTimeoutMs / 1_000} s`

function viewResult(
  models: readonly CheckedModel[],
  reason: string | undefined,
): Omit<CheckResult, 'gateway'> {
  const isWhole = reason === undefined && models.length > 0
  return {
    ok: isWhole && models.every(({ outcome }) => outcome === 'ok'),
    reason: reason ?? (models.length === 0 ? 'no model of this channel has a price' : null),
    models: models.map(({ model, outcome, status, durationMs }) => {
      const ms = Math.round(durationMs)
      return { model, ok: outcome === 'ok', outcome, status, duration_ms: ms }
    }),
  }
}

async function checkHere(context: OperationContext, name: string): Promise<CheckResult> {
  const snapshot = await readSnapshot(context)
  const channel = snapshot.channels.get(name)
  const vendor = snapshot.vendors.get(channel?.vendor ?? '')
  if (channel === undefined || vendor === undefined)
    return { gateway: null, ...viewResult([], explainAbsence(snapshot, name)) }
  const models: CheckedModel[] = []
  const by = channel.check === 'models' ? 'models' : 'request'
  for (const model of channel.models.keys()) {
    const { models: known } = snapshot
    const nowMs = context.clock.now()
    const operation = checkOperation(vendor, model, { models: known, nowMs })
    const check = { vendor, channel, model, operation, by } as const
    const { outcome, durationMs, status, usage } = await context.runCheck(check)
    if (usage !== undefined) await bookCheck(context, { snapshot, channel: name, model, usage })
    models.push({ model, outcome, status: status ?? null, durationMs })
    if (by === 'models') break
  }
  return { gateway: null, ...viewResult(models, undefined) }
}

export interface MadeCheck {
  readonly snapshot: Snapshot
  readonly channel: string
  readonly model: string
  readonly usage: Usage
}

/** Books what a check has cost the operator. Returns it; undefined where that is not known. */
export async function bookCheck(
  { database, clock }: OperationContext,
  { snapshot, channel, model, usage }: MadeCheck,
): Promise<OwnCost | undefined> {
  const atMs = clock.now()
  const priced = priceCheck({ channel, model }, usage, { snapshot, nowMs: atMs })
  if (priced === undefined) return undefined
  const { amountPicos, isKnown: isOwnCostKnown } = priced
  const made = {
    id: newId('evt', atMs),
    atMs,
    node: undefined,
    channel,
    model: modelOfPlace(model),
  } as const
  const cost = { kind: 'check', usage: countsOf(usage), amountPicos, isOwnCostKnown } as const
  await database.transact((transaction) => appendCosts(transaction, [{ ...made, ...cost }]))
  return priced
}

/** Reads the catalogue as a gateway would run it, with what it could not serve. */
export async function readSnapshot(context: OperationContext): Promise<LoadedSnapshot> {
  const { catalogue } = await readRevisions(context.database)
  return loadSnapshot(context.database, { ...context, revision: catalogue })
}
