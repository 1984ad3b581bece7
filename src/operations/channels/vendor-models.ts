/**
 * Asks a vendor which models it lists, over a channel that is stored or drafted, and says which of them the
 * catalogue has, and which prices the starting catalogue proposes for the others. Nothing is saved.
 */
import { z } from 'zod'
import { isObject } from '../../base/object.ts'
import { withoutDate } from '../../channels/model-names.ts'
import { checkOperation } from '../../channels/offer.ts'
import type { Answer } from '../answer-forms.ts'
import type { EntryForms } from '../catalogue/edit.ts'
import { readEntries, type StoredEntries } from '../catalogue/lists.ts'
import { startingFacts } from '../catalogue/starting-catalogue.ts'
import { operation } from '../operation.ts'
import { channelName } from './channels.ts'
import { draftField, openDraft, patching } from './draft-channel.ts'
import { reachedFields, recordRequest, unsent, viewReached } from './tiny-request.ts'

const listedForm = z.strictObject({
  id: z.string().meta({ description: "The vendor's name for it." }),
  model: z.string().nullable().meta({ description: 'The model of the catalogue that it is.' }),
  model_vendor: z
    .string()
    .nullable()
    .meta({ description: 'The vendor of that model: a channel of another one cannot serve it.' }),
  proposal: z.record(z.string(), z.unknown()).nullable().meta({
    description: 'A model for the catalogue, in the form of the file, without its vendor.',
  }),
  listed_as: z.string().nullable().meta({ description: 'The model that the proposal is of.' }),
  prices_read_on: z.iso.date().nullable(),
})

const modelsForm = z.strictObject({
  ...reachedFields,
  /** False where the vendor has more than it lists at once. */
  is_complete: z.boolean(),
  models: z.array(listedForm),
})

const modelsInput = z.strictObject({ channel: channelName, draft: draftField })

export const listVendorModels = operation(
  { input: modelsInput, answer: modelsForm },
  async (context, { channel: name, draft }) => {
    const edit = patching(draft && { vendors: draft.vendors, channels: draft.channels })
    const opened = await openDraft(context, name, (forms) => withoutModels(edit(forms), name))
    if (typeof opened === 'string') return { ...unsent(opened), is_complete: false, models: [] }
    const { channel, vendor, snapshot } = opened
    await recordRequest(context, name, { action: 'channel.models', isDraft: draft !== undefined })
    const nowMs = context.clock.now()
    const asked = checkOperation(vendor, anyModel, { models: snapshot.models, nowMs })
    const check = { vendor, channel, model: anyModel, operation: asked } as const
    const result = await context.runCheck({ ...check, by: 'models', readsListing: true })
    const ids = result.listing?.ids ?? []
    const stored = await readEntries(context)
    return {
      ...viewReached(result),
      is_complete: result.listing?.isComplete === true,
      models: ids.map((id) => viewListed(id, vendor.name, stored)),
    }
  },
)

/** Stands for the models to come: a channel has at least one. */
const anyModel = 'any-model'

/** A listing needs no model, and those of a draft may be missing yet. */
function withoutModels(forms: EntryForms, name: string): EntryForms {
  const given = forms.channels[name]
  if (!isObject(given) || typeof given['vendor'] !== 'string') return forms
  const { baselines: _, cost: __, ...channel } = given
  return {
    ...forms,
    models: { ...forms.models, [anyModel]: { vendor: given['vendor'] } },
    channels: { ...forms.channels, [name]: { ...channel, models: [anyModel] } },
  }
}

function viewListed(id: string, vendor: string, stored: StoredEntries): Answer<typeof listedForm> {
  const model = findStored(id, vendor, stored)
  const { presets, models, readOn } = startingFacts()
  const mapped = presets.flatMap(({ channel }) => idsAt(channel['models'], id))
  const listedAs = [id, ...mapped, withoutDate(id)].find(
    (name) => name !== undefined && Object.hasOwn(models, name),
  )
  const { vendor: _, ...proposal } = models[listedAs ?? ''] ?? {}
  return {
    id,
    model: model?.id ?? null,
    model_vendor: model?.vendor ?? null,
    proposal: listedAs === undefined ? null : proposal,
    listed_as: listedAs ?? null,
    prices_read_on: listedAs === undefined ? null : readOn,
  }
}

/** By the names that channels of the vendor have for it, then by its own name and its other ones. */
function findStored(id: string, vendor: string, { models, channels }: StoredEntries) {
  const rows = models.map(({ row }) => row)
  const mapped = channels
    .filter(({ row }) => row.vendor === vendor)
    .flatMap(({ row }) => [...row.models].filter(([, name]) => name === id))
  const named = (name: string | undefined) => rows.find((row) => row.id === name)
  const edition = named(withoutDate(id))
  return (
    named(mapped[0]?.[0]) ??
    named(id) ??
    rows.find(({ also }) => also?.has(id) === true) ??
    (edition?.dated === true ? edition : undefined)
  )
}

/** The models that a mapping of a channel has under this name at the vendor. */
function idsAt(models: unknown, id: string): readonly string[] {
  if (!isObject(models)) return []
  return Object.entries(models).flatMap(([model, name]) => (name === id ? [model] : []))
}
