/** What a new model means for the catalogue: itself, and the channels that serve it. Pure. */
import { decimalOf, mainClasses } from '../models/price.ts'
import type { CatalogueFieldsAnswer } from '../models/queries.ts'
import { draftOf, entryOf, pricesOf, recordOf, type Draft, type Field } from './entry.ts'
import type { CatalogueLists } from './queries.ts'
import type { CataloguePatch } from './requests.ts'

export type Channel = CatalogueLists['channels'][number]
type Preset = CatalogueFieldsAnswer['presets'][number]

export interface ModelPlan {
  readonly id: string
  readonly vendor: string
  readonly draft: Draft
  /** USD per million tokens, by class, as typed. */
  readonly prices: Draft
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
  if (entry === undefined) return { ...plan, id }
  const price = recordOf(entry['price'])
  return {
    ...plan,
    id,
    draft: draftOf(fields, entry),
    prices: Object.fromEntries(mainClasses.map(({ name }) => [name, decimalOf(price, name) ?? ''])),
  }
}

export function modelPatchOf(
  fields: readonly Field[],
  { id, vendor, draft, prices, chosen }: ModelPlan,
  channels: readonly Channel[],
): CataloguePatch {
  const serving = channels.filter(({ name }) => chosen.has(name))
  return {
    models: { [id]: { ...entryOf(fields, draft), vendor, price: pricesOf(prices) } },
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
