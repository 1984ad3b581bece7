/**
 * What a new channel or a new model means for the catalogue: a channel with its vendor and models where they
 * are new too, and a reserve beside it; a model with the channels that serve it. Pure.
 */
import { t } from '../../messages/t.ts'
import type { CatalogueFieldsAnswer } from '../models/queries.ts'
import { decimalOf, recordOf } from './amounts.ts'
import { draftOf, entryOf, type Draft, type Entry, type Field } from './entry.ts'
import type { CatalogueLists, CataloguePatch, VendorModel } from './requests.ts'

type Preset = CatalogueFieldsAnswer['presets'][number]

/** A kind of vendor to begin with: one of the catalogue, or one of the starting catalogue. */
export interface Start {
  readonly id: string
  readonly title: string
  readonly vendor: string
  /** Undefined: the catalogue has it. */
  readonly vendorEntry: Entry | undefined
  /** What its channels begin with: address, path, headers. */
  readonly channel: Entry
  readonly models: Readonly<Record<string, Entry>>
  readonly pricesReadOn: string | null
}

export function startsOf(
  presets: readonly Preset[],
  { vendors }: Pick<CatalogueLists, 'vendors'>,
): readonly Start[] {
  const known = new Set(vendors.map(({ name }) => name))
  return [
    ...vendors.map(({ name }) => ({
      id: `vendor ${name}`,
      title: t('entries.channel.knownVendor', { name }),
      vendor: name,
      vendorEntry: undefined,
      channel: {},
      models: {},
      pricesReadOn: null,
    })),
    ...presets.map((preset) => ({
      id: `preset ${preset.name}`,
      title: preset.title,
      vendor: preset.vendor.name,
      vendorEntry: known.has(preset.vendor.name) ? undefined : preset.vendor.entry,
      channel: preset.channel,
      models: preset.models,
      pricesReadOn: preset.prices_read_on,
    })),
  ]
}

/** A model that the new channel serves. */
export interface Served {
  /** At the vendor. */
  readonly id: string
  /** In the catalogue. */
  readonly model: string
  /** Set where the catalogue does not have it yet. */
  readonly entry: Entry | undefined
  /** USD per million tokens, as typed; only of a new model. */
  readonly input: string
  readonly output: string
}

/** The models of the catalogue, and those chosen already. A model belongs to one vendor. */
export interface KnownModels {
  /** The vendor of each model of the catalogue. */
  readonly vendors: ReadonlyMap<string, string>
  readonly served: readonly Served[]
}

export function servedOf(
  { id, model, proposal, listed_as: listedAs }: VendorModel,
  { vendor }: Pick<Start, 'vendor'>,
  { vendors, served }: KnownModels,
): Served {
  const price = recordOf(recordOf(proposal)['price'])
  const wanted = model ?? listedAs ?? id
  const owner = vendors.get(wanted)
  const isTaken = served.some((one) => one.model === wanted)
  const name = isTaken || (owner !== undefined && owner !== vendor) ? id : wanted
  return {
    id,
    model: name,
    entry: vendors.get(name) === vendor ? undefined : { ...proposal, vendor },
    input: decimalOf(price, 'input') ?? '',
    output: decimalOf(price, 'output') ?? '',
  }
}

/** A model that the vendor does not list; the starting catalogue may know its price. */
export function notListed(id: string, { models, pricesReadOn }: Start): VendorModel {
  const proposal = models[id] ?? null
  return {
    id,
    model: null,
    model_vendor: null,
    proposal,
    listed_as: null,
    prices_read_on: proposal === null ? null : pricesReadOn,
  }
}

/** Why this channel cannot serve a model. */
export function modelFault(id: string, { vendor }: Start, { vendors, served }: KnownModels) {
  if (served.some((one) => one.id === id)) return t('entries.channel.chosenAlready')
  const owner = vendors.get(id)
  if (owner === undefined || owner === vendor) return undefined
  return t('entries.channel.modelOf', { owner })
}

export interface ChannelPlan {
  readonly start: Start
  readonly name: string
  readonly draft: Draft
  readonly served: readonly Served[]
  /** Undefined: there is no reserve. */
  readonly reserve: { readonly name: string; readonly draft: Draft } | undefined
}

/** Returns a channel of this kind with a free name, and without a credential and models yet. */
export function beginPlan(
  fields: readonly Field[],
  start: Start,
  taken: ReadonlySet<string>,
): ChannelPlan {
  const draft = draftOf(fields, { ...start.channel, vendor: start.vendor })
  return {
    start,
    name: freeName(`${start.vendor}-main`, start.vendor, taken),
    draft: { ...draft, models: '', credential: '' },
    served: [],
    reserve: undefined,
  }
}

/** Returns a reserve of the channel, behind it. */
export function reserveOf(
  { start, name, draft }: ChannelPlan,
  taken: ReadonlySet<string>,
): NonNullable<ChannelPlan['reserve']> {
  return {
    name: freeName(`${start.vendor}-reserve`, start.vendor, new Set([...taken, name])),
    draft: {
      url: draft['url'] ?? '',
      credential: '',
      rank: String((Number(draft['rank']) || 0) + 1),
    },
  }
}

/** Returns the changes of the catalogue; without models it is enough to ask the vendor for its models. */
export function channelPatch(
  fields: readonly Field[],
  { start, name, draft, served, reserve }: ChannelPlan,
): CataloguePatch {
  const models = modelsOf(served)
  const main = { ...entryOf(fields, draft), ...models }
  const added = served.filter(({ entry }) => entry !== undefined)
  return {
    ...(start.vendorEntry !== undefined && { vendors: { [start.vendor]: start.vendorEntry } }),
    ...(added.length > 0 && {
      models: Object.fromEntries(added.map((one) => [one.model, modelEntry(one)])),
    }),
    channels: {
      [name]: main,
      ...(reserve !== undefined && {
        [reserve.name]: { ...main, ...entryOf(fields, reserve.draft), ...models },
      }),
    },
  }
}

function modelsOf(served: readonly Served[]): Entry {
  if (served.length === 0) return {}
  if (served.every(({ id, model }) => id === model)) return { models: served.map(({ id }) => id) }
  return { models: Object.fromEntries(served.map(({ id, model }) => [model, id])) }
}

function modelEntry({ entry, input, output }: Served): Entry {
  const typed = Object.entries({ input, output }).filter(([, text]) => text.trim() !== '')
  return { ...entry, price: { ...recordOf(entry?.['price']), ...Object.fromEntries(typed) } }
}

/** Returns the faults of the names of a channel and its reserve, by name. */
export function channelFaults(
  { name, reserve }: ChannelPlan,
  taken: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const names = [name, ...(reserve === undefined ? [] : [reserve.name])]
  return new Map(
    names.flatMap((one, index) => {
      const fault = nameFault(one, new Set([...taken, ...names.slice(0, index)]))
      return fault === undefined ? [] : [[one, fault]]
    }),
  )
}

/** Returns the fault of a new name: an entry that there is must not be changed by it. */
export function nameFault(name: string, taken: ReadonlySet<string>): string | undefined {
  if (name === '') return t('entries.nameMissing')
  return taken.has(name) ? t('entries.nameTaken', { name }) : undefined
}

/** A name that no channel has, such as `anthropic-main`, then `anthropic-2`. */
function freeName(wanted: string, vendor: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted
  for (let number = 2; ; number++)
    if (!taken.has(`${vendor}-${number}`)) return `${vendor}-${number}`
}

export type Channel = CatalogueLists['channels'][number]

export interface ModelPlan {
  readonly id: string
  readonly vendor: string
  readonly draft: Draft
  /** The names of the channels that serve it. */
  readonly chosen: ReadonlySet<string>
}

export function findPreset(presets: readonly Preset[], id: string): Preset | undefined {
  return presets.find(({ models }) => Object.hasOwn(models, id))
}

/** Gives it another id; a model of the starting catalogue brings its prices and limits. */
export function renamed(
  plan: ModelPlan,
  id: string,
  { presets, fields }: { readonly presets: readonly Preset[]; readonly fields: readonly Field[] },
): ModelPlan {
  const entry = findPreset(presets, id)?.models[id]
  return { ...plan, id, ...(entry !== undefined && { draft: draftOf(fields, entry) }) }
}

export function modelPatch(
  fields: readonly Field[],
  { id, vendor, draft, chosen }: ModelPlan,
  channels: readonly Channel[],
): CataloguePatch {
  const serving = channels.filter(({ name }) => chosen.has(name))
  return {
    models: { [id]: { ...entryOf(fields, draft), vendor } },
    channels: Object.fromEntries(
      serving.map((channel) => [channel.name, { models: withModel(channel, id) }]),
    ),
  }
}

/** A list stays a list; a mapping gets one more name. */
function withModel({ models }: Channel, id: string): unknown {
  const isList = Object.values(models).every((name) => name === null)
  return isList ? [...Object.keys(models), id] : { [id]: id }
}
