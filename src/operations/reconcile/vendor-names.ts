/**
 * Finds the gateway's models for the names that a vendor uses: by the channels' names for them, with or
 * without a date. Models that names cannot separate are one group. Pure.
 */
import { undated } from '../../metering/prices.ts'

export interface NamedModel {
  readonly model: string
  /** The channels' names for it. */
  readonly names: readonly string[]
}

export interface NameGroup {
  /** Empty where no vendor name matches the models. */
  readonly vendorNames: readonly string[]
  /** Empty where no model matches the vendor's name. */
  readonly models: readonly string[]
}

/** Groups the vendor's names and our models, one group of those that names cannot separate; in order. */
export function groupNames(
  vendorNames: readonly string[],
  models: readonly NamedModel[],
): readonly NameGroup[] {
  const groups = [
    ...vendorNames.map((name) => ({ names: new Set([name]), ids: new Set<string>() })),
    ...models.map(({ model }) => ({ names: new Set<string>(), ids: new Set([model]) })),
  ]
  for (const [vendorName, model] of findPairs(vendorNames, models)) {
    const places = [
      groups.findIndex(({ names }) => names.has(vendorName)),
      groups.findIndex(({ ids }) => ids.has(model)),
    ]
    const kept = groups[Math.min(...places)]
    const joined = groups[Math.max(...places)]
    if (kept === undefined || joined === undefined || kept === joined) continue
    for (const name of joined.names) kept.names.add(name)
    for (const id of joined.ids) kept.ids.add(id)
    groups.splice(Math.max(...places), 1)
  }
  return groups.map(({ names, ids }) => ({
    vendorNames: vendorNames.filter((name) => names.has(name)),
    models: models.map(({ model }) => model).filter((model) => ids.has(model)),
  }))
}

type Pair = readonly [vendorName: string, model: string]

/** Matches, the most certain first: a channel's name, the same without its date, our own id. */
const matches: readonly ((model: NamedModel, vendorName: string) => boolean)[] = [
  ({ names }, vendorName) => names.includes(vendorName),
  ({ names }, vendorName) => names.some((name) => undated(name) === undated(vendorName)),
  ({ model }, vendorName) => undated(model) === undated(vendorName),
]

/** Pairs each model with its most certain names, then each remaining name with the models it may mean. */
function findPairs(vendorNames: readonly string[], models: readonly NamedModel[]): readonly Pair[] {
  const pairs = models.flatMap((model) => bestPairs([model], vendorNames))
  const paired = new Set(pairs.map(([vendorName]) => vendorName))
  const left = vendorNames.filter((vendorName) => !paired.has(vendorName))
  return [...pairs, ...left.flatMap((vendorName) => bestPairs(models, [vendorName]))]
}

function bestPairs(models: readonly NamedModel[], vendorNames: readonly string[]): readonly Pair[] {
  for (const isMatch of matches) {
    const pairs = models.flatMap((model) =>
      vendorNames
        .filter((vendorName) => isMatch(model, vendorName))
        .map((vendorName): Pair => [vendorName, model.model]),
    )
    if (pairs.length > 0) return pairs
  }
  return []
}
