/**
 * Applies a catalogue file, and exports the stored catalogue as one. The invariant: after an apply the
 * stored catalogue is equal to the file, or nothing has changed. `exportCatalogue` is the inverse.
 */
import { stringify } from 'yaml'
import { z } from 'zod'
import { inTurns } from '../../base/turns.ts'
import { channelFields } from '../../channels/catalogue/channel-fields.ts'
import { printEntry } from '../../channels/catalogue/field.ts'
import { modelEntryFields } from '../../channels/catalogue/model-fields.ts'
import { vendorFields } from '../../channels/catalogue/vendor-fields.ts'
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
import { readCredentialFile } from '../../channels/credential-file.ts'
import { credentialPath, credentialVariable, referencesOf } from '../../channels/snapshot.ts'
import type { Queryable, Transaction } from '../../storage/database.ts'
import { recordAction } from '../actions.ts'
import type { Answer } from '../answer-forms.ts'
import { referenceMistake } from './credential-rule.ts'
import { hideSealed, makeKeyForFirstSeal, sealCredential, settleCredential } from './credentials.ts'
import {
  demoPort,
  findDemoAccess,
  noDemoAccess,
  retireDemoAccess,
  type DemoAccess,
} from './demo.ts'
import type { Mistake } from './document.ts'
import { readCatalogueFile, type CatalogueFile, type SecretKey } from './file.ts'
import { findMissingLimits } from './missing-limits.ts'
import {
  appliedKind,
  catalogueChangeForm,
  planCatalogue,
  type CataloguePlan,
  type UsableCredential,
} from './plan.ts'
import { currentPrices, readVersions } from '../prices/versions.ts'
import { inFileOrder, type Catalogue } from './review.ts'
import { invalidFile, noInput, operation, type OperationContext } from '../operation.ts'

const applyInput = z.strictObject({
  text: z.string().describe('The catalogue file (YAML).'),
  dry_run: z.boolean().default(false).describe('Show the changes and make none.'),
})

const appliedForm = z.strictObject({
  kind: appliedKind,
  diff: z.array(catalogueChangeForm),
  /** Not wrong, but worth knowing: a model without a channel, a variable that is not set here. */
  notes: z.array(z.string()),
})

export type ApplyResult = Answer<typeof appliedForm>

/** Refuses a file with mistakes: `details.mistakes` has each with its line, and nothing is written. */
export const applyCatalogue = operation(
  { input: applyInput, answer: appliedForm },
  async (context, { text, dry_run: isDryRun }) => {
    const file = readCatalogueFile(text)
    if (file.kind === 'mistakes') throw hasMistakes(file.list)
    // A dry run writes nothing, so it takes no lock.
    if (isDryRun)
      return context.database.snapshot(
        async (snapshot) => prepare(context, await readStored(snapshot, file), file).result,
      )
    return context.database.transact(async (transaction) => {
      const stored = await readStored(transaction, file)
      const { plan, result } = prepare(context, stored, file)
      if (result.kind === 'unchanged') return result
      if (plan.channels.some(({ credential }) => credential.kind === 'to_seal'))
        await makeKeyForFirstSeal(transaction, context.masterKey)
      await carryOut(context, transaction, plan)
      await retireDemoAccess(context, transaction, stored.demo)
      return { ...result, kind: 'applied' }
    })
  },
)

interface Stored extends CatalogueRows {
  /** Account and keys of the demo, where the file ends it. */
  readonly demo: DemoAccess
}

async function readStored(queryable: Queryable, { catalogue }: CheckedFile): Promise<Stored> {
  const rows = await readCatalogue(queryable)
  const isDemo = demoPort(rows.channels.filter(isInUse).map(({ url }) => url)) !== undefined
  const staysDemo = demoPort([...catalogue.channels.values()].map(({ url }) => url)) !== undefined
  const demo = isDemo && !staysDemo ? await findDemoAccess(queryable) : noDemoAccess
  return { ...rows, demo }
}

type CheckedFile = Extract<CatalogueFile, { kind: 'catalogue' }>

/** Plans what the file changes in the stored catalogue. Writes nothing. */
function prepare(
  context: OperationContext,
  stored: Stored,
  file: CheckedFile,
): { readonly plan: CataloguePlan; readonly result: ApplyResult } {
  const { catalogue, mistakes } = file
  const settled = settleCredentials(context, stored, file)
  const list = [...mistakes, ...settled.mistakes]
  if (list.length > 0) throw hasMistakes(inFileOrder(list))
  const { credentials } = settled
  const { demo } = stored
  const nowMs = context.clock.now()
  const plan = planCatalogue({ stored, catalogue, credentials, demo, nowMs })
  const { diff } = plan
  const kind = diff.length === 0 ? 'unchanged' : 'would_apply'
  const notes = [
    ...demoNotes(demo),
    ...findNotes(context, stored, catalogue),
    ...findMissingLimits(plan.allModels, catalogue, nowMs),
  ]
  return { plan, result: { kind, diff, notes } }
}

/** More than an operator reads at once. */
const mistakesMax = 1_000

function hasMistakes(all: readonly Mistake[]): Error {
  const list = all.slice(0, mistakesMax)
  const lines = list.map(
    ({ line, column, path, message }) =>
      `line ${line}, column ${column}: ${path === '' ? '' : `${path}: `}${message}`,
  )
  if (all.length > list.length) lines.push(`and ${all.length - list.length} more mistakes`)
  return invalidFile(
    `Nothing was applied, because the file has mistakes:\n${lines.join('\n')}`,
    list,
  )
}

function settleCredentials(
  context: OperationContext,
  { channels }: CatalogueRows,
  { catalogue, places }: CheckedFile,
) {
  const mistakes: Mistake[] = []
  const credentials = new Map<string, UsableCredential>()
  const stored = new Map(channels.map((row) => [row.name, row]))
  for (const [name, entry] of catalogue.channels) {
    const complain = (key: SecretKey, message: string, within = ''): void => {
      const { line = 1, column = 1 } = places.get(name)?.[key] ?? {}
      mistakes.push({ line, column, path: `channels.${name}.${key}${within}`, message })
    }
    const settled = settleCredential({ name, entry }, stored.get(name), context)
    if (settled.kind === 'mistake') complain('credential', settled.message)
    else credentials.set(name, settled)
    const { credentialRule: rule } = context
    if (rule === undefined) continue
    const { url, proxy } = entry
    for (const [header, reference] of entry.headers) {
      const message = referenceMistake(rule, { reference, url }, stored.get(name))
      if (message !== undefined) complain('headers', message, `.${header}`)
    }
    const message = proxy && referenceMistake(rule, { reference: proxy, url }, stored.get(name))
    if (message !== undefined) complain('proxy', message)
  }
  return { credentials, mistakes }
}

/** Saves vendors, then models, then channels: each refers to the one before. */
async function carryOut(
  context: OperationContext,
  transaction: Transaction,
  plan: CataloguePlan,
): Promise<void> {
  for (const vendor of plan.vendors) await saveVendor(transaction, vendor)
  for (const model of plan.models) await saveModel(transaction, model)
  for (const price of plan.pricesToWithdraw) await withdrawPrice(transaction, price)
  for (const price of plan.pricesToSave) await savePrice(transaction, price)
  for (const { row, credential } of plan.channels) {
    const text = sealCredential(row.name, credential, context.masterKey)
    await saveChannel(transaction, { ...row, credential: text })
  }
  await recordAction(transaction, context, {
    action: 'catalogue.apply',
    subject: 'catalogue',
    detail: { diff: plan.diff },
  })
}

function demoNotes({ accounts }: DemoAccess): readonly string[] {
  return accounts.map(
    ({ name }) =>
      `the account ${name} and its keys were made for the demo, and end with its catalogue; to keep it: ` +
      `turnpike account resume ${name}, then turnpike key create ${name}`,
  )
}

function findNotes(
  context: OperationContext,
  stored: CatalogueRows,
  catalogue: Catalogue,
): readonly string[] {
  const notes: string[] = []
  const priced = new Set(stored.prices.map((row) => row.model))
  const channels = [...catalogue.channels]
  for (const [id, model] of catalogue.models) {
    if (model.prices === undefined && !priced.has(id))
      notes.push(`model ${id} has no price; it is served when it has one`)
    const hasNoOutput = model.prices?.some(({ prices }) => prices.classes.output === undefined)
    if (hasNoOutput === true && model.operations === undefined)
      notes.push(`model ${id} has no output price; it serves nothing but embeddings`)
    if (!channels.some(([, channel]) => channel.models.has(id)))
      notes.push(`model ${id} has no channel; requests for it are refused`)
  }
  const references = channels.flatMap(([name, entry]) =>
    referencesOf(entry).map((reference) => ({ name, reference })),
  )
  for (const { name, reference } of references) {
    const variable = credentialVariable(reference)
    if (variable !== undefined && (context.environment(variable) ?? '') === '')
      notes.push(
        `channel ${name}: ${variable} is not set here; the gateway needs it to use the channel`,
      )
    const path = credentialPath(reference)
    const fault = path === undefined ? undefined : readCredentialFile(path).fault
    if (path !== undefined && fault !== undefined)
      notes.push(`channel ${name}: ${path} ${fault} here; the gateway needs it to use the channel`)
  }
  return notes
}

const exportedForm = z.strictObject({ text: z.string().meta({ description: 'YAML.' }) })

/**
 * Returns the catalogue as a file. Secrets in it are sealed, so that only this store's master key opens them,
 * or hidden.
 */
export const exportCatalogue = operation(
  { input: noInput, answer: exportedForm },
  async (context) => ({ text: await printCatalogue(context) }),
)

async function printCatalogue(
  context: Pick<OperationContext, 'database' | 'clock' | 'hidesSealed'>,
): Promise<string> {
  const rows = await context.database.snapshot(readCatalogue)
  const prices = Map.groupBy(rows.prices, (row) => row.model)
  const nowMs = context.clock.now()
  const show = context.hidesSealed === true ? hideSealed : String
  return (
    (await printSection('vendors', rows.vendors.filter(isInUse), (row) => [
      row.name,
      printEntry(vendorFields, row),
    ])) +
    (await printSection('models', rows.models.filter(isInUse), (row) => {
      const versions = currentPrices(readVersions(prices.get(row.id) ?? []), nowMs)
      const entry = { ...row, prices: versions.length === 0 ? undefined : versions }
      return [row.id, printEntry(modelEntryFields, entry)]
    })) +
    (await printSection('channels', rows.channels.filter(isInUse), (row) => {
      const entry = { ...row, credential: show(row.credential) }
      return [row.name, printEntry(channelFields, entry)]
    }))
  )
}

const entriesPerTurn = 10

/** Prints a part of the file, each entry as if it were the only one: a large file takes many turns. */
async function printSection<Entry>(
  name: string,
  entries: readonly Entry[],
  print: (entry: Entry) => readonly [name: string, form: unknown],
): Promise<string> {
  // Quotes text that YAML 1.1 would read as a date or a boolean.
  const options = { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' } as const
  if (entries.length === 0) return stringify({ [name]: {} }, options)
  const heading = `${name}:\n`
  let text = heading
  await inTurns(entries, entriesPerTurn, (entry) => {
    const [key, form] = print(entry)
    text += stringify({ [name]: { [key]: form } }, options).slice(heading.length)
  })
  return text
}
