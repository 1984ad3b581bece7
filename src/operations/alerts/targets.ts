/**
 * Operations on alert targets: who gets messages of which alerts. The URL of a target and the secret that
 * signs its messages are stored sealed; the secret is shown once, when it is made, and the URL never.
 */
import { z } from 'zod'
import { newId } from '../../base/id.ts'
import type { Queryable, Transaction } from '../../storage/database.ts'
import { recordAction } from '../actions.ts'
import { moment, pageForm, type Answer } from '../answer-forms.ts'
import { makeKeyForFirstSeal } from '../catalogue/credentials.ts'
import { properName } from '../input.ts'
import {
  conflict,
  invalidField,
  notFound,
  operation,
  timeText,
  type OperationContext,
} from '../operation.ts'
import { pageFields, pageOf } from '../paging.ts'
import { severities } from './alert-kind.ts'
import { dropWaiting } from './delivery-store.ts'
import { raiseTest, targetsMax } from './raise.ts'
import { readAddress } from './target-address.ts'
import { makeSigningSecret, sealTarget, type TargetSecret } from './target-secret.ts'
import {
  contactAddress,
  countTargets,
  deleteTarget,
  findTarget,
  insertTarget,
  listTargets,
  targetFormats,
  type AlertTarget,
} from './target-store.ts'

/** The name of a target. It must not look like an id, because either identifies a target. */
const targetName = properName.refine((text) => !text.startsWith('tgt_'), 'must not look like an id')
const targetReference = z
  .string('must name a target')
  .min(1, 'must name a target')
  .describe('Name or id of the target.')

const targetForm = z.strictObject({
  id: z.string(),
  name: z.string(),
  format: z.enum(targetFormats),
  address: z.string().meta({ description: 'Of a URL only its origin: the URL is a secret.' }),
  min_severity: z.enum(severities),
  created_at: moment,
})

type TargetView = Answer<typeof targetForm>

/** The only answer that shows the secret, which signs the messages of a webhook; null for other formats. */
const newTargetForm = z.strictObject({ target: targetForm, secret: z.string().nullable() })

export type NewTarget = Answer<typeof newTargetForm>

const createInput = z.strictObject({
  name: targetName.describe('A unique name, at most 64 characters.'),
  format: z.enum(targetFormats, `must be one of ${targetFormats.join(', ')}`),
  address: z.string('must be text').trim().min(1, 'must not be empty').max(2_048),
  min_severity: z
    .enum(severities, `must be one of ${severities.join(', ')}`)
    .default('info')
    .describe('The least severity that is sent.'),
})

export const createTarget = operation(
  { input: createInput, answer: newTargetForm },
  async (context, { name, format, address, min_severity: minSeverity }) => {
    const createdAtMs = context.clock.now()
    const id = newId('tgt', createdAtMs)
    const shown = readAddress(format, address)
    const secret = format === 'webhook' ? makeSigningSecret() : undefined
    return context.database.transact(async (transaction) => {
      await requireFree(transaction, name)
      if ((await countTargets(transaction)) >= targetsMax)
        throw conflict(`There are ${targetsMax} targets already. Delete one that is not needed.`)
      const sealed =
        format === 'email'
          ? undefined
          : await sealAddress(context, transaction, { id, url: address, signingSecret: secret })
      const target: AlertTarget = {
        id,
        name,
        format,
        address: shown,
        sealed,
        minSeverity,
        createdAtMs,
      }
      await insertTarget(transaction, target)
      const view = viewTarget(target)
      await recordAction(transaction, context, {
        action: 'alert.create',
        subject: id,
        detail: { ...view },
      })
      return { target: view, secret: secret?.reveal() ?? null }
    })
  },
)

/** Ordered by name. */
export const listAlertTargets = operation(
  { input: z.strictObject(pageFields), answer: pageForm(targetForm) },
  async ({ database }, { cursor, limit }) => {
    const rows = await listTargets(database, { afterName: cursor ?? '', countMax: limit + 1 })
    return pageOf(rows, { limit, cursorOf: ({ name }) => name, view: viewTarget })
  },
)

const targetInput = z.strictObject({ target: targetReference })

/** Deletes a target. Messages that wait for it are dropped; the log keeps them. */
export const removeTarget = operation(
  { input: targetInput, answer: targetForm },
  (context, { target: reference }) =>
    context.database.transact(async (transaction) => {
      const target = await getTarget(transaction, reference)
      await dropWaiting(transaction, target.id, context.clock.now())
      await deleteTarget(transaction, target.id)
      const view = viewTarget(target)
      await recordAction(transaction, context, {
        action: 'alert.delete',
        subject: target.id,
        detail: { ...view },
      })
      return view
    }),
)

const queuedForm = z.strictObject({
  target: z.string(),
  /** Its line in the log of deliveries shows its result. */
  delivery: z.string(),
})

export type QueuedTest = Answer<typeof queuedForm>

/** Queues a message to one target; a running gateway sends it within a second or two. */
export const testTarget = operation(
  { input: targetInput, answer: queuedForm },
  async (context, { target: reference }) => {
    const nowMs = context.clock.now()
    return context.database.transact(async (transaction) => {
      const target = await getTarget(transaction, reference)
      if (target.address === contactAddress)
        throw invalidField('target', 'goes to the contacts of accounts, which get no test message')
      const delivery = await raiseTest(transaction, target, nowMs)
      await recordAction(transaction, context, { action: 'alert.test', subject: target.id })
      return { target: target.id, delivery }
    })
  },
)

async function getTarget(queryable: Queryable, reference: string): Promise<AlertTarget> {
  const target = await findTarget(queryable, reference)
  if (target !== undefined) return target
  throw notFound(`There is no alert target ${reference}. List them with: turnpike alert list`)
}

async function requireFree(transaction: Transaction, name: string): Promise<void> {
  if ((await findTarget(transaction, name)) !== undefined)
    throw conflict(`There is an alert target named ${name} already.`)
}

async function sealAddress(
  { masterKey }: Pick<OperationContext, 'masterKey'>,
  transaction: Transaction,
  { id, ...secret }: TargetSecret & { readonly id: string },
): Promise<string> {
  await makeKeyForFirstSeal(transaction, masterKey)
  return sealTarget(masterKey(), id, secret)
}

function viewTarget(target: AlertTarget): TargetView {
  return {
    id: target.id,
    name: target.name,
    format: target.format,
    address: target.address,
    min_severity: target.minSeverity,
    created_at: timeText(target.createdAtMs),
  }
}
