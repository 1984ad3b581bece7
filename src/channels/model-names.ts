/**
 * The names by which clients ask for a model: its id and, where its catalogue entry says `dated`, the id with
 * the date of an edition behind it. Pure. The invariant: the exact id of a model always means that model.
 */
import type { Model } from './channel.ts'

/** Returns the model that a client's name means. */
export function findNamedModel(
  models: ReadonlyMap<string, Model>,
  name: string,
): Model | undefined {
  const exact = models.get(name)
  if (exact !== undefined) return exact
  const bare = withoutDate(name)
  const model = bare === undefined ? undefined : models.get(bare)
  return model?.dated === true ? model : undefined
}

/** Returns a name without its date, `-20260115` or `-2026-01-15`; undefined where it has none. */
export function withoutDate(name: string): string | undefined {
  return /^(.+)-(?:\d{8}|\d{4}-\d{2}-\d{2})$/.exec(name)?.[1]
}
