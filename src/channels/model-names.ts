/**
 * The names by which clients ask for a model: its id, the other names that its catalogue entry gives it, and,
 * where the entry says `dated`, the id with the date of an edition behind it. Pure. The invariant: the exact
 * id of a model always means that model.
 */
import type { Model, Snapshot } from './channel.ts'

/** Returns the model that a client's name means. */
export function findNamedModel(
  { models, modelsByOtherName }: Pick<Snapshot, 'models' | 'modelsByOtherName'>,
  name: string,
): Model | undefined {
  const exact = models.get(name) ?? modelsByOtherName.get(name)
  if (exact !== undefined) return exact
  const bare = withoutDate(name)
  const model = bare === undefined ? undefined : models.get(bare)
  return model?.dated === true ? model : undefined
}

export function groupByOtherName(models: Iterable<Model>): ReadonlyMap<string, Model> {
  const byName = new Map<string, Model>()
  for (const model of models) for (const name of model.also ?? []) byName.set(name, model)
  return byName
}

/**
 * Returns the name that a vendor gets in place of the one by which a client asked; undefined where the
 * client's passes. A channel's own name for the model comes first.
 */
export function nameAtVendor(
  { id, also }: Pick<Model, 'id' | 'also'>,
  { asked, mapped }: { readonly asked: string; readonly mapped: string | undefined },
): string | undefined {
  return mapped ?? (also?.has(asked) === true ? id : undefined)
}

/** Returns a name without its date, `-20260115` or `-2026-01-15`; undefined where it has none. */
export function withoutDate(name: string): string | undefined {
  return /^(.+)-(?:\d{8}|\d{4}-\d{2}-\d{2})$/.exec(name)?.[1]
}
