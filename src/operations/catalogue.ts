/**
 * Applying a catalogue file and writing the stored catalogue back as one. Declarative: afterwards
 * the store says what the file says, or nothing at all has changed. `exportCatalogue` is the
 * inverse of `applyCatalogue`. It prints nothing; showing a difference is for its callers.
 */
import { stringify } from 'yaml'
import { formatDuration } from '../base/duration.ts'
import {
  readCatalogue,
  saveChannel,
  saveModel,
  savePrice,
  saveVendor,
  withdrawPrice,
  type CatalogueRows,
} from '../channels/channel-store.ts'
import type { PinnedBaseline } from '../channels/channel.ts'
import { printModelPrices } from '../metering/price-book.ts'
import type { Transaction } from '../storage/database.ts'
import { recordAction } from './action-store.ts'
import { makeKeyForFirstSeal, sealCredential, settleCredential } from './catalogue/credentials.ts'
import { readDocument, type Located, type Mistake } from './catalogue/document.ts'
import {
  planCatalogue,
  type CatalogueChange,
  type CataloguePlan,
  type UsableCredential,
} from './catalogue/plan.ts'
import { currentPrices, readVersions } from './catalogue/prices.ts'
import { inFileOrder, reviewCatalogue, type Catalogue } from './catalogue/review.ts'
import type { OperationContext } from './context.ts'

export type { Mistake } from './catalogue/document.ts'
export type { CatalogueChange, FieldChange } from './catalogue/plan.ts'

export type ApplyResult =
  | {
      readonly kind: 'applied' | 'unchanged' | 'would_apply'
      readonly diff: readonly CatalogueChange[]
      /** Not wrong, but worth knowing: a model nobody can use, a variable that is not set here. */
      readonly notes: readonly string[]
    }
  | { readonly kind: 'mistakes'; readonly list: readonly Mistake[] }

export async function applyCatalogue(
  context: OperationContext,
  yamlText: string,
  options: { readonly dryRun: boolean },
): Promise<ApplyResult> {
  const read = readDocument(yamlText)
  if (read.kind === 'mistakes') return read
  const { catalogue, mistakes } = reviewCatalogue(read.document)
  const prepare = (stored: CatalogueRows): Prepared => {
    const settled = settleCredentials(context, { stored, catalogue, document: read.document })
    const list = [...read.duplicates, ...mistakes, ...settled.mistakes]
    if (list.length > 0) return { kind: 'mistakes', list: inFileOrder(list) }
    const { credentials } = settled
    const plan = planCatalogue({ stored, catalogue, credentials, nowMs: context.clock.now() })
    const { diff } = plan
    const kind = diff.length === 0 ? 'unchanged' : 'would_apply'
    return { kind, plan, shown: { diff, notes: findNotes(context, stored, catalogue) } }
  }
  // A look writes nothing, so it waits for nobody who does.
  if (options.dryRun) return view(prepare(await context.database.snapshot(readCatalogue)))
  return context.database.transact(async (transaction): Promise<ApplyResult> => {
    const stored = await readCatalogue(transaction)
    const prepared = prepare(stored)
    if (prepared.kind !== 'would_apply') return view(prepared)
    const { plan, shown } = prepared
    if (plan.channels.some(({ credential }) => credential.kind === 'to_seal'))
      makeKeyForFirstSeal(stored.channels, context.masterKey)
    await carryOut(context, transaction, plan)
    return { kind: 'applied', ...shown }
  })
}

/** What the file comes to on the catalogue that is stored, before anything is written. */
type Prepared =
  | Extract<ApplyResult, { kind: 'mistakes' }>
  | {
      readonly kind: 'unchanged' | 'would_apply'
      readonly plan: CataloguePlan
      readonly shown: {
        readonly diff: readonly CatalogueChange[]
        readonly notes: readonly string[]
      }
    }

function view(prepared: Prepared): ApplyResult {
  return prepared.kind === 'mistakes' ? prepared : { kind: prepared.kind, ...prepared.shown }
}

function settleCredentials(
  context: OperationContext,
  input: {
    readonly stored: CatalogueRows
    readonly catalogue: Catalogue
    readonly document: Located
  },
) {
  const mistakes: Mistake[] = []
  const credentials = new Map<string, UsableCredential>()
  const stored = new Map(input.stored.channels.map((row) => [row.name, row]))
  for (const [name, entry] of input.catalogue.channels) {
    const settled = settleCredential({ name, entry }, stored.get(name), context.masterKey)
    if (settled.kind === 'mistake') {
      const path = ['channels', name, 'credential']
      const place = input.document.place(path, 'value')
      mistakes.push({ ...place, path: path.join('.'), message: settled.message })
    } else credentials.set(name, settled)
  }
  return { credentials, mistakes }
}

/** Vendors before models before channels: each refers to the one before. */
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
      notes.push(`model ${id} has no price: it is not served until it has one`)
    if (!channels.some(([, channel]) => channel.models.has(id)))
      notes.push(`model ${id} has no channel: requests for it are refused`)
  }
  for (const [name, { credential }] of channels) {
    const variable = credential.startsWith('env:') ? credential.slice('env:'.length) : undefined
    if (variable !== undefined && (context.environment(variable) ?? '') === '')
      notes.push(
        `channel ${name}: ${variable} is not set here; the gateway's process needs it to use the channel`,
      )
  }
  return notes
}

/** The catalogue in force as a file; secrets appear sealed, and only this store's master key opens them. */
export async function exportCatalogue(
  context: Pick<OperationContext, 'database' | 'clock'>,
): Promise<string> {
  const rows = await context.database.snapshot(readCatalogue)
  const prices = Map.groupBy(rows.prices, (row) => row.model)
  const nowMs = context.clock.now()
  const vendors = rows.vendors.filter(isInUse).map((row) => [
    row.name,
    {
      format: row.format,
      credential: row.credential,
      ...(row.versionHeader !== undefined && { version_header: row.versionHeader }),
      ...(row.defaultVersion !== undefined && { default_version: row.defaultVersion }),
      require_max_tokens: row.requireMaxTokens,
      ...(row.allowedFeatures.size > 0 && { allow: [...row.allowedFeatures].sort() }),
    },
  ])
  const models = rows.models.filter(isInUse).map((row) => {
    const versions = currentPrices(readVersions(prices.get(row.id) ?? []), nowMs)
    return [
      row.id,
      {
        vendor: row.vendor,
        ...(row.maxOutputTokens !== undefined && { max_output_tokens: row.maxOutputTokens }),
        ...(row.firstEventTimeoutMs !== undefined && {
          first_event_timeout: formatDuration(row.firstEventTimeoutMs),
        }),
        ...(versions.length > 0 && { price: printModelPrices(versions) }),
      },
    ]
  })
  const channels = rows.channels.filter(isInUse).map((row) => [
    row.name,
    {
      vendor: row.vendor,
      url: row.url,
      credential: row.credential,
      models: printModels(row.models),
      rank: row.rank,
      weight: row.weight,
      ...(row.maxConcurrent !== undefined && { max_concurrent: row.maxConcurrent }),
      check: row.check,
      ...(row.baselines.size > 0 && { baselines: printBaselines(row.baselines) }),
    },
  ])
  return stringify(
    {
      vendors: Object.fromEntries(vendors) as unknown,
      models: Object.fromEntries(models) as unknown,
      channels: Object.fromEntries(channels) as unknown,
    },
    // Quoted where a reader of older YAML would see a date or a truth value instead of the text.
    { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' },
  )
}

function isInUse(row: { readonly retiredAtMs: number | undefined }): boolean {
  return row.retiredAtMs === undefined
}

function printBaselines(baselines: ReadonlyMap<string, PinnedBaseline>): unknown {
  return Object.fromEntries(
    [...baselines].map(([model, { p50Ms, p95Ms }]) => [
      model,
      { p50: formatDuration(p50Ms), p95: formatDuration(p95Ms) },
    ]),
  )
}

function printModels(models: ReadonlyMap<string, string | undefined>): unknown {
  const names = [...models]
  if (names.every(([, name]) => name === undefined)) return names.map(([model]) => model)
  return Object.fromEntries(names.map(([model, name]) => [model, name ?? null]))
}
