/**
 * Which of our models a vendor means by its names. A channel may have a name of its own for a model,
 * and one name for several; a vendor may count a model by the dates of its editions. Pure. Whatever
 * names cannot tell apart is one group, to be compared as a whole.
 */
import { undated } from '../metering/priced-model.ts'

export interface NamedModel {
  readonly model: string
  /** What channels call it. */
  readonly names: readonly string[]
}

export interface NameGroup {
  /** Empty where the vendor has no name for the models. */
  readonly vendorNames: readonly string[]
  /** Empty where the vendor's name is none of ours. */
  readonly models: readonly string[]
}

/** Each name and each model is in exactly one group. All are in the order in which they were given. */
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

/** The surest first: what channels call a model, the same but for the date, our own name for it. */
const likenesses: readonly ((model: NamedModel, vendorName: string) => boolean)[] = [
  ({ names }, vendorName) => names.includes(vendorName),
  ({ names }, vendorName) => names.some((name) => undated(name) === undated(vendorName)),
  ({ model }, vendorName) => undated(model) === undated(vendorName),
]

/** Every model with its surest names, then what names are left with the models they may mean. */
function findPairs(vendorNames: readonly string[], models: readonly NamedModel[]): readonly Pair[] {
  const pairs = models.flatMap((model) => surest([model], vendorNames))
  const paired = new Set(pairs.map(([vendorName]) => vendorName))
  const left = vendorNames.filter((vendorName) => !paired.has(vendorName))
  return [...pairs, ...left.flatMap((vendorName) => surest(models, [vendorName]))]
}

function surest(models: readonly NamedModel[], vendorNames: readonly string[]): readonly Pair[] {
  for (const isAlike of likenesses) {
    const pairs = models.flatMap((model) =>
      vendorNames
        .filter((vendorName) => isAlike(model, vendorName))
        .map((vendorName): Pair => [vendorName, model.model]),
    )
    if (pairs.length > 0) return pairs
  }
  return []
}
