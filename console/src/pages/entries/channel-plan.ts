/**
 * What a new channel means for the catalogue: its vendor and models where they are new too, itself, and a
 * reserve beside it. Pure.
 */
import {
  draftOf,
  entryOf,
  pricesOf,
  recordOf,
  type Draft,
  type Entry,
  type Field,
} from './entry.ts'
import type { CatalogueLists } from './queries.ts'
import type { CataloguePatch, VendorModel } from './requests.ts'
import type { CatalogueFieldsAnswer } from '../models/queries.ts'

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
  { presets }: Pick<CatalogueFieldsAnswer, 'presets'>,
  { vendors }: Pick<CatalogueLists, 'vendors'>,
): readonly Start[] {
  const known = new Set(vendors.map(({ name }) => name))
  return [
    ...vendors.map(({ name }) => ({
      id: `vendor ${name}`,
      title: `${name} (in the catalogue)`,
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
    input: textOf(price['input']),
    output: textOf(price['output']),
  }
}

function textOf(amount: unknown): string {
  return typeof amount === 'number' || typeof amount === 'string' ? String(amount) : ''
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

/** Returns the changes of the catalogue; without models it is enough to ask the vendor for its models. */
export function patchOf(
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
  return { ...entry, price: { ...recordOf(entry?.['price']), ...pricesOf({ input, output }) } }
}

/** Returns the fault of a new name: an entry that there is must not be changed by it. */
export function nameFault(name: string, taken: ReadonlySet<string>): string | undefined {
  if (name === '') return 'Give it a name.'
  return taken.has(name) ? `The catalogue has ${name} already. Give another name.` : undefined
}

/** A name that no channel has, such as `anthropic-main`, then `anthropic-2`. */
export function freeName(wanted: string, vendor: string, taken: ReadonlySet<string>): string {
  if (!taken.has(wanted)) return wanted
  for (let number = 2; ; number++)
    if (!taken.has(`${vendor}-${number}`)) return `${vendor}-${number}`
}
