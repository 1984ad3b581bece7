/**
 * Drafts of the stored catalogue with some entries changed, in the form of its file. Pure. The invariant: a
 * draft is checked like a file that has the same entries.
 */
import { isObject } from '../../base/object.ts'
import { inTurns } from '../../base/turns.ts'
import type { CatalogueRows } from '../../channels/channel-store.ts'
import { invalidFields } from '../operation.ts'
import { withoutSecrets, type Fault } from './document.ts'
import type { Section } from './entries.ts'
import { printableEntries, type PrintableEntry } from './export.ts'
import type { Draft } from './file.ts'
import { clearedKeys, entriesPerTurn, reviewCatalogue } from './review.ts'

/** The entries of the catalogue by section and name, in the form of the file. */
export type EntryForms = Readonly<Record<Section, Readonly<Record<string, unknown>>>>

/** Returns the field of the input that has a fault, or an empty text and a message with its place. */
export type NameFault = (fault: Fault) => { readonly field: string; readonly message: string }

/** Returns the stored catalogue as `edit` changes it. Credentials stay as they are stored. */
export async function editedDraft(
  stored: CatalogueRows,
  edit: (forms: EntryForms) => EntryForms,
  { nowMs, nameFault }: { readonly nowMs: number; readonly nameFault: NameFault },
): Promise<Draft> {
  const printable = printableEntries(stored, { nowMs, show: String })
  const formsOf = async (section: Section) => {
    const forms: [string, unknown][] = []
    const entries: readonly PrintableEntry<unknown>[] = printable[section]
    await inTurns(entries, entriesPerTurn, ({ name, print }) => {
      forms.push([name, print()])
    })
    return Object.fromEntries(forms)
  }
  const { catalogue, faults } = await reviewCatalogue(
    edit({
      vendors: await formsOf('vendors'),
      models: await formsOf('models'),
      channels: await formsOf('channels'),
    }),
  )
  return {
    catalogue,
    refuse(others) {
      const named = [...faults, ...others].map(nameFault)
      const fields = named.map(({ field, message }) => ({
        field: withoutSecrets(field),
        message: withoutSecrets(message),
      }))
      return fields.length === 0 ? undefined : invalidFields(fields)
    },
  }
}

/** Names faults by their whole path. */
export const byPath: NameFault = ({ path, message }) => ({ field: path.join('.'), message })

/** Names faults of one entry by their path in it; `nameField` is the field that has its name. */
export function byFieldOf(section: Section, name: string, nameField: string): NameFault {
  return (fault) => {
    const { path, message, prefer } = fault
    const [its, own, ...within] = path
    if (its !== section || own !== name)
      return { field: '', message: `${path.join('.')}: ${message}` }
    return {
      field: within.length === 0 && prefer === 'key' ? nameField : within.join('.'),
      message,
    }
  }
}

/**
 * Changes entries by a merge patch (RFC 7396). A field that an entry keeps when it is left out stays there as
 * null, which removes it. So does a price, and then the draft is refused: a price is never removed.
 */
export function patchForms(
  forms: EntryForms,
  patch: Readonly<Partial<Record<Section, unknown>>>,
): EntryForms {
  const patched = merged(forms, patch) as EntryForms
  if (!isObject(patch.models)) return patched
  const models = new Map(Object.entries(patched.models))
  for (const [id, given] of Object.entries(patch.models)) {
    const form = models.get(id)
    if (!isObject(given) || !isObject(form)) continue
    const keys = given['price'] === null ? [...clearedKeys(given), 'price'] : clearedKeys(given)
    models.set(id, { ...form, ...Object.fromEntries(keys.map((key) => [key, null])) })
  }
  return { ...patched, models: Object.fromEntries(models) }
}

function merged(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const result = new Map(Object.entries(isObject(target) ? target : {}))
  for (const [key, value] of Object.entries(patch))
    if (value === null) result.delete(key)
    else result.set(key, merged(result.get(key), value))
  return Object.fromEntries(result)
}
