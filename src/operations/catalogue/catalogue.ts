/**
 * Changes the catalogue: a file in place of the stored one, or the stored one with changed entries. The
 * invariant: after a change the stored catalogue is equal to the draft, or nothing has changed.
 */
import { z } from 'zod'
import { inTurns } from '../../base/turns.ts'
import {
  isInUse,
  readCatalogue,
  saveChannel,
  saveModel,
  savePrice,
  saveVendor,
  withdrawPrice,
  type CatalogueRows,
} from '../../channels/channel-store.ts'
import {
  deleteFormerCredential,
  saveFormerCredential,
} from '../../channels/former-credential-store.ts'
import type { Queryable, Transaction } from '../../storage/database.ts'
import { recordAction } from '../actions.ts'
import type { Answer } from '../answer-forms.ts'
import { operation, type OperationContext } from '../operation.ts'
import { referenceMistake } from './credential-rule.ts'
import { makeKeyForFirstSeal, sealCredential, settleCredential } from './credentials.ts'
import {
  demoPort,
  findDemoAccess,
  noDemoAccess,
  retireDemoAccess,
  type DemoAccess,
} from './demo.ts'
import type { Fault, Path } from './document.ts'
import { readCatalogueFile, type Draft } from './file.ts'
import { findMissingLimits } from './missing-limits.ts'
import { demoNotes, findNotes } from './notes.ts'
import {
  appliedKind,
  catalogueChangeForm,
  planCatalogue,
  type CataloguePlan,
  type UsableCredential,
} from './plan.ts'
import { entriesPerTurn, type Catalogue } from './review.ts'
import {
  currentRevision,
  isOfThisStore,
  refuseOverwriting,
  revisionField,
  revisionForm,
} from './revision.ts'

/** What every change of the catalogue takes beside what it changes. */
export const changeOptions = z.strictObject({
  dry_run: z.boolean().default(false).describe('Show the changes and make none.'),
  revision: revisionField,
  force: z
    .boolean()
    .default(false)
    .describe('Change it whatever others have changed since the revision.'),
})

export const appliedForm = z.strictObject({
  kind: appliedKind,
  diff: z.array(catalogueChangeForm),
  /** Not wrong, but worth knowing: a model without a channel, a variable that is not set here. */
  notes: z.array(z.string()),
  revision: revisionForm,
})

export type ApplyResult = Answer<typeof appliedForm>

const applyInput = z.strictObject({
  text: z.string().describe('The catalogue file (YAML).'),
  ...changeOptions.shape,
})

/** Refuses a file with mistakes: `details.mistakes` has each with its line, and nothing is written. */
export const applyCatalogue = operation(
  { input: applyInput, answer: appliedForm },
  async (context, { text, ...options }) => {
    const file = await readCatalogueFile(text)
    return changeCatalogue(context, {
      ...options,
      draft: () => file,
      subject: 'catalogue',
      isFile: true,
      revision: options.revision ?? file.revision,
    })
  },
)

/** How the catalogue is to change, and what its author knows of it. */
export interface Change extends z.output<typeof changeOptions> {
  /** Returns the catalogue to be, in place of the stored one. May throw its refusal. */
  readonly draft: (stored: CatalogueRows, nowMs: number) => Draft | Promise<Draft>
  /** What the operators' log names as changed. */
  readonly subject: string
  readonly isFile: boolean
  /** It takes a former credential back: the present one is not kept in its place. */
  readonly isRestore?: boolean
}

/** Makes the stored catalogue equal to the draft, or refuses and changes nothing. */
export async function changeCatalogue(
  context: OperationContext,
  change: Change,
): Promise<ApplyResult> {
  // A dry run writes nothing, so it takes no lock.
  if (change.dry_run)
    return context.database.snapshot(
      async (snapshot) => (await prepare(context, snapshot, change)).result,
    )
  return context.database.transact(async (transaction) => {
    const { plan, demo, result } = await prepare(context, transaction, change)
    if (result.kind === 'unchanged') return result
    if (plan.channels.some(({ credential }) => credential.kind === 'to_seal'))
      await makeKeyForFirstSeal(transaction, context.masterKey)
    await carryOut(context, transaction, { plan, change })
    await retireDemoAccess(context, transaction, demo)
    return { ...result, kind: 'applied', revision: await currentRevision(transaction) }
  })
}

interface Prepared {
  readonly stored: CatalogueRows
  readonly plan: CataloguePlan
  /** Account and keys of the demo, where the change ends it. */
  readonly demo: DemoAccess
  readonly result: ApplyResult
}

/** Plans what the draft changes in the stored catalogue. Writes nothing. */
export async function prepare(
  context: OperationContext,
  queryable: Queryable,
  change: Change,
): Promise<Prepared> {
  const nowMs = context.clock.now()
  const stored = await readCatalogue(queryable)
  const draft = await change.draft(stored, nowMs)
  const { catalogue } = draft
  const { credentials, faults } = await settleCredentials(context, stored, catalogue)
  const refusal = draft.refuse(faults)
  if (refusal !== undefined) throw refusal
  const demo = await endedDemo(queryable, stored, catalogue)
  const plan = await planCatalogue({ stored, catalogue, credentials, demo, nowMs })
  const { diff } = plan
  if (!change.force) await refuseOverwriting(context, queryable, { ...change, diff })
  const notes = [
    ...(await revisionNotes(queryable, change)),
    ...demoNotes(demo),
    ...(await findNotes(context, stored, catalogue)),
    ...(await findMissingLimits(plan.allModels, catalogue, nowMs)).map(({ text }) => text),
  ]
  const kind = diff.length === 0 ? 'unchanged' : 'would_apply'
  return {
    stored,
    plan,
    demo,
    result: { kind, diff, notes, revision: await currentRevision(queryable) },
  }
}

async function endedDemo(
  queryable: Queryable,
  { channels }: CatalogueRows,
  catalogue: Catalogue,
): Promise<DemoAccess> {
  const isDemo = demoPort(channels.filter(isInUse).map(({ url }) => url)) !== undefined
  const staysDemo = demoPort([...catalogue.channels.values()].map(({ url }) => url)) !== undefined
  return isDemo && !staysDemo ? findDemoAccess(queryable) : noDemoAccess
}

async function revisionNotes(
  queryable: Queryable,
  { revision }: Change,
): Promise<readonly string[]> {
  if (revision === undefined || (await isOfThisStore(queryable, revision))) return []
  return [
    'the revision of the file is not one of this store; what others have changed since is not compared',
  ]
}

async function settleCredentials(
  context: OperationContext,
  { channels }: CatalogueRows,
  catalogue: Catalogue,
) {
  const faults: Fault[] = []
  const credentials = new Map<string, UsableCredential>()
  const stored = new Map(channels.map((row) => [row.name, row]))
  await inTurns(catalogue.channels, entriesPerTurn, ([name, entry]) => {
    const complain = (within: Path, message: string): void => {
      faults.push({ path: ['channels', name, ...within], message, prefer: 'value' })
    }
    const settled = settleCredential({ name, entry }, stored.get(name), context)
    if (settled.kind === 'mistake') complain(['credential'], settled.message)
    else credentials.set(name, settled)
    const { credentialRule: rule } = context
    if (rule === undefined) return
    const { url, proxy } = entry
    for (const [header, reference] of entry.headers) {
      const message = referenceMistake(rule, { reference, url }, stored.get(name))
      if (message !== undefined) complain(['headers', header], message)
    }
    const message = proxy && referenceMistake(rule, { reference: proxy, url }, stored.get(name))
    if (message !== undefined) complain(['proxy'], message)
  })
  return { credentials, faults }
}

/** Saves vendors, then models, then channels: each refers to the one before. */
async function carryOut(
  context: OperationContext,
  transaction: Transaction,
  { plan, change }: { readonly plan: CataloguePlan; readonly change: Change },
): Promise<void> {
  for (const vendor of plan.vendors) await saveVendor(transaction, vendor)
  for (const model of plan.models) await saveModel(transaction, model)
  for (const price of plan.pricesToWithdraw) await withdrawPrice(transaction, price)
  for (const price of plan.pricesToSave) await savePrice(transaction, price)
  for (const { row, credential, former } of plan.channels) {
    const text = sealCredential(row.name, credential, context.masterKey)
    await saveChannel(transaction, { ...row, credential: text })
    if (former === undefined) continue
    if (change.isRestore === true) await deleteFormerCredential(transaction, row.name)
    else await saveFormerCredential(transaction, former)
  }
  await recordAction(transaction, context, {
    action: 'catalogue.apply',
    subject: change.subject,
    detail: { diff: plan.diff, ...(change.isFile && { revision: change.revision }) },
  })
}
