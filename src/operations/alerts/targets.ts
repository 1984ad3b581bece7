/**
 * Operations on alert targets: who gets messages of which alerts. The URL of a target and the secret that
 * signs its messages are stored sealed; the secret is shown once, when it is made, and the URL never.
 */
import { hash } from 'node:crypto'
import { z } from 'zod'
import { newId } from '../../base/id.ts'
import type { Queryable, Transaction } from '../../storage/database.ts'
import { recordAction } from '../actions.ts'
import { moment, pageForm, type Answer } from '../answer-forms.ts'
import { makeKeyForFirstSeal } from '../catalogue/credentials.ts'
import { properName } from '../input.ts'
import {
  conflict,
  invalid,
  invalidField,
  notFound,
  operation,
  timeText,
  type OperationContext,
} from '../operation.ts'
import { pageFields, pageOf } from '../paging.ts'
import { alertKindNames, severities } from './alert-kind.ts'
import { dropWaiting } from './delivery-store.ts'
import { raiseTest, targetsMax } from './raise.ts'
import { readAddress } from './target-address.ts'
import { makeSigningSecret, openTarget, sealTarget, type TargetSecret } from './target-secret.ts'
import {
  contactAddress,
  countTargets,
  deleteTarget,
  findTarget,
  listTargets,
  lockTarget,
  saveTarget,
  targetFormats,
  type AlertTarget,
} from './target-store.ts'

const kindsMax = 1_000

/** Addresses of the admin API beside those of targets. */
const reservedNames = ['firing', 'deliveries']

/** The name of a target. It must not look like an id, because either identifies a target. */
const targetName = properName
  .refine((text) => !text.startsWith('tgt_'), 'must not look like an id')
  .refine(
    (text) => !reservedNames.includes(text),
    `must not be one of ${reservedNames.join(', ')}, which name other lists`,
  )
const targetReference = z
  .string('must name a target')
  .min(1, 'must name a target')
  .describe('Name or id of the target.')
const addressText = z.string('must be text').trim().min(1, 'must not be empty').max(2_048)

const kindNames = z
  .array(z.string().min(1), 'must be a list of names')
  .max(kindsMax, `must have at most ${kindsMax} names`)
  .superRefine((given, context) => {
    for (const name of given)
      if (!(alertKindNames as readonly string[]).includes(name))
        context.addIssue({
          code: 'custom',
          message: `"${name}" is not a kind of alert. Kinds: ${alertKindNames.join(', ')}`,
        })
  })
  .meta({ items: { enum: alertKindNames } })

const filterFields = {
  kinds: kindNames.optional().describe('Only these kinds of alerts; none = all.'),
  min_severity: z
    .enum(severities, `must be one of ${severities.join(', ')}`)
    .optional()
    .describe('The least severity that is sent.'),
}

type GivenFilters = {
  readonly [Name in keyof typeof filterFields]?: z.output<(typeof filterFields)[Name]>
}

const targetForm = z.strictObject({
  id: z.string(),
  name: z.string(),
  format: z.enum(targetFormats),
  address: z.string().meta({ description: 'Of a URL only its origin: the URL is a secret.' }),
  url_revision: z
    .string()
    .nullable()
    .meta({ description: 'Differs after each change of the URL; null for e-mail.' }),
  kinds: z.array(z.string()).nullable().meta({ description: 'Null = all.' }),
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
  address: addressText,
  ...filterFields,
})

export const createTarget = operation(
  { input: createInput, answer: newTargetForm },
  async (context, { name, format, address, ...filters }) => {
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
        kinds: undefined,
        minSeverity: 'info',
        ...readFilters(filters),
        id,
        name,
        format,
        address: shown,
        sealed,
        createdAtMs,
      }
      await saveTarget(transaction, target)
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

export const showTarget = operation(
  { input: targetInput, answer: targetForm },
  async ({ database }, { target }) => viewTarget(await getTarget(database, target)),
)

const changeInput = z.strictObject({
  target: targetReference,
  name: targetName.optional().describe('A new unique name.'),
  address: addressText.optional().describe('A new URL or e-mail address; the format stays.'),
  ...filterFields,
})

/** Changes the fields that are given and keeps the others; the format and the secret stay. */
export const changeTarget = operation(
  { input: changeInput, answer: targetForm },
  (context, { target: reference, name, address, ...filters }) => {
    const given = [name, address, ...Object.values(filters)]
    if (given.every((value) => value === undefined)) throw invalid('Give at least one change.')
    return context.database.transact(async (transaction) => {
      const target = await getTargetToChange(transaction, reference)
      if (name !== undefined && name !== target.name) await requireFree(transaction, name)
      const changed: AlertTarget = {
        ...target,
        ...(name !== undefined && { name }),
        ...readFilters(filters),
        ...(address !== undefined && (await readdress(context, transaction, target, address))),
      }
      await saveTarget(transaction, changed)
      const view = viewTarget(changed)
      await recordAction(transaction, context, {
        action: 'alert.edit',
        subject: target.id,
        detail: { before: viewTarget(target), after: view },
      })
      return view
    })
  },
)

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
  /** Its line in the log of deliveries shows what became of it. */
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

/** As `getTarget`, and keeps others from changing it until the transaction ends. */
async function getTargetToChange(
  transaction: Transaction,
  reference: string,
): Promise<AlertTarget> {
  return (await lockTarget(transaction, reference)) ?? getTarget(transaction, reference)
}

async function getTarget(queryable: Queryable, reference: string): Promise<AlertTarget> {
  const target = await findTarget(queryable, reference)
  if (target !== undefined) return target
  throw notFound(`There is no alert target ${reference}. List them with: turnpike alert list`)
}

async function requireFree(transaction: Transaction, name: string): Promise<void> {
  if ((await findTarget(transaction, name)) !== undefined)
    throw conflict(`There is an alert target named ${name} already.`)
}

// --- addresses ------------------------------------------------------------------------------------

async function readdress(
  context: OperationContext,
  transaction: Transaction,
  { id, format, sealed }: AlertTarget,
  address: string,
): Promise<Pick<AlertTarget, 'address' | 'sealed'>> {
  const shown = readAddress(format, address)
  if (format === 'email' || sealed === undefined) return { address: shown, sealed: undefined }
  const known = openTarget(context.masterKey(), id, sealed)
  const next = { ...known, id, url: address }
  return { address: shown, sealed: await sealAddress(context, transaction, next) }
}

async function sealAddress(
  { masterKey }: Pick<OperationContext, 'masterKey'>,
  transaction: Transaction,
  { id, ...secret }: TargetSecret & { readonly id: string },
): Promise<string> {
  await makeKeyForFirstSeal(transaction, masterKey)
  return sealTarget(masterKey(), id, secret)
}

/** An empty list of kinds removes the filter. */
function readFilters({ kinds, min_severity: minSeverity }: GivenFilters): Partial<AlertTarget> {
  return {
    ...(kinds !== undefined && { kinds: kinds.length === 0 ? undefined : kinds }),
    ...(minSeverity !== undefined && { minSeverity }),
  }
}

function viewTarget(target: AlertTarget): TargetView {
  return {
    id: target.id,
    name: target.name,
    format: target.format,
    address: target.address,
    url_revision: target.sealed === undefined ? null : revisionOf(target.sealed),
    kinds: target.kinds ?? null,
    min_severity: target.minSeverity,
    created_at: timeText(target.createdAtMs),
  }
}

/** Sealing uses a new nonce each time, so this says nothing about the URL. */
function revisionOf(sealed: string): string {
  return `rev_${hash('sha256', sealed, 'hex').slice(0, 26)}`
}
