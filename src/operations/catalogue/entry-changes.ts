/**
 * Adds, changes and retires entries of the catalogue. Each is an apply of the stored catalogue with these
 * entries changed, with the same checks and the same answer. The inputs are made from the tables of fields.
 */
import { z } from 'zod'
import {
  conflict,
  invalid,
  notFound,
  operation,
  type AnsweringOperation,
  type OperationContext,
} from '../operation.ts'
import { appliedForm, changeCatalogue, changeOptions, type ApplyResult } from './catalogue.ts'
import { byFieldOf, byPath, editedDraft, patchForms, type EntryForms } from './edit.ts'
import { entryFields, type Section } from './entries.ts'
import { inputShape, patchShape } from './field-forms.ts'

/** What one kind of entry is called. */
interface Kind {
  readonly section: Section
  /** The word for an entry, and the field of its name in the path of an endpoint. */
  readonly word: 'vendor' | 'model' | 'channel'
  /** The field of the name of a new entry. */
  readonly nameField: 'name' | 'id'
}

type Given = Readonly<Record<string, unknown>>
type ChangeEntry = AnsweringOperation<ApplyResult>

interface EntryChanges {
  readonly create: ChangeEntry
  readonly edit: ChangeEntry
  readonly retire: ChangeEntry
}

function entryChanges(kind: Kind): EntryChanges {
  const { section, word, nameField } = kind
  const name = nameOf(kind)
  const shape = inputShape(entryFields[section])
  const patch = patchShape(entryFields[section])
  return {
    create: changeOf({ [nameField]: name, ...shape }, kind, nameField, (forms, its, entry) => {
      if (Object.hasOwn(forms[section], its))
        throw conflict(`There is a ${word} ${its} already. Nothing was changed. Change it instead.`)
      return { ...forms, [section]: { ...forms[section], [its]: entry } }
    }),
    edit: changeOf({ [word]: name, ...patch }, kind, word, (forms, its, given) => {
      if (Object.keys(given).length === 0) throw invalid(nothingGiven)
      if (!Object.hasOwn(forms[section], its)) throw noSuchEntry(kind, its)
      return patchForms(forms, { [section]: { [its]: given } })
    }),
    retire: changeOf({ [word]: name }, kind, word, (forms, its) => {
      if (!Object.hasOwn(forms[section], its)) throw noSuchEntry(kind, its)
      return patchForms(forms, { [section]: { [its]: null } })
    }),
  }
}

const nothingGiven = 'Give at least one change.'

function nameOf({ word, nameField }: Kind) {
  const rule = `must name a ${word}`
  const title = nameField === 'id' ? `Id of the ${word}.` : `Name of the ${word}.`
  return z.string(rule).min(1, rule).describe(title)
}

function noSuchEntry({ word }: Kind, name: string): Error {
  return notFound(`There is no ${word} ${name} in the catalogue.`)
}

/** Makes the operation that changes the entries of a section by a name and the rest of its input. */
function changeOf(
  shape: Readonly<Record<string, z.ZodType>>,
  { section, nameField }: Kind,
  place: string,
  changed: (forms: EntryForms, name: string, entry: Given) => EntryForms,
): ChangeEntry {
  const input = z.strictObject({ ...shape, ...changeOptions.shape })
  return operation({ input, answer: appliedForm }, (context, given: Given) => {
    const name = String(given[place])
    const options = changeOptions.strip().parse(given)
    const isOwn = (key: string): boolean => key !== place && !Object.hasOwn(options, key)
    const entry = Object.fromEntries(Object.entries(given).filter(([key]) => isOwn(key)))
    return changeStored(context, {
      options,
      subject: name,
      edit: (forms) => changed(forms, name, entry),
      nameFault: byFieldOf(section, name, nameField),
    })
  })
}

interface StoredChange {
  readonly options: z.output<typeof changeOptions>
  readonly subject: string
  readonly edit: (forms: EntryForms) => EntryForms
  readonly nameFault: Parameters<typeof editedDraft>[2]['nameFault']
}

/** Applies the stored catalogue with an edit. */
function changeStored(
  context: OperationContext,
  { options, subject, edit, nameFault }: StoredChange,
): Promise<ApplyResult> {
  return changeCatalogue(context, {
    ...options,
    subject,
    isFile: false,
    draft: (stored, nowMs) => editedDraft(stored, edit, { nowMs, nameFault }),
  })
}

export const vendorChanges = entryChanges({
  section: 'vendors',
  word: 'vendor',
  nameField: 'name',
})
export const modelChanges = entryChanges({ section: 'models', word: 'model', nameField: 'id' })
export const channelChanges = entryChanges({
  section: 'channels',
  word: 'channel',
  nameField: 'name',
})

/** A patch of entries by section and name; null retires an entry. */
export const cataloguePatch = {
  vendors: patchOf('vendors'),
  models: patchOf('models'),
  channels: patchOf('channels'),
}

function patchOf(section: Section) {
  return z
    .record(z.string(), z.record(z.string(), z.unknown()).nullable(), {
      error: `must be an object with ${section} by name`,
    })
    .optional()
    .describe(
      `Changes of ${section} by name: of each a merge patch over its form in the file, or null to retire it.`,
    )
}

/** Changes several entries at once, new ones too: all of them, or none where one has a mistake. */
export const editCatalogue = operation(
  { input: z.strictObject({ ...cataloguePatch, ...changeOptions.shape }), answer: appliedForm },
  (context, { vendors = {}, models = {}, channels = {}, ...options }) => {
    const given = [vendors, models, channels].flatMap((section) => Object.keys(section))
    if (given.length === 0) throw invalid(nothingGiven)
    return changeStored(context, {
      options,
      subject: 'catalogue',
      edit: (forms) => patchForms(forms, { vendors, models, channels }),
      nameFault: byPath,
    })
  },
)
