/** The vendors and models of the catalogue as operators see them, with their forms in the file. */
import { z } from 'zod'
import { showEntry, shownShape } from '../../channels/catalogue/field.ts'
import { modelFields } from '../../channels/catalogue/model-fields.ts'
import { vendorFields } from '../../channels/catalogue/vendor-fields.ts'
import { readCatalogue, type ModelRow, type VendorRow } from '../../channels/channel-store.ts'
import { moment, pageForm, type Answer } from '../answer-forms.ts'
import { notFound, operation, timeText, type OperationContext } from '../operation.ts'
import { pageFields, pageOfList } from '../paging.ts'
import { hideSealed } from './credentials.ts'
import { printableEntries, type PrintableEntry, type PrintableEntries } from './export.ts'
import { currentRevision, revisionForm } from './revision.ts'

/** In the form of the file; a sealed credential in it is `***`, which keeps the stored one. */
export const entryForm = z
  .record(z.string(), z.unknown())
  .meta({ description: 'In the form of the catalogue file.' })

export interface StoredEntries extends PrintableEntries {
  readonly revision: string
}

/** Reads the entries in use, in which no secret shows, and their revision. */
export function readEntries({ database, clock }: OperationContext): Promise<StoredEntries> {
  return database.snapshot(async (snapshot) => ({
    ...printableEntries(await readCatalogue(snapshot), { nowMs: clock.now(), show: hideSealed }),
    revision: await currentRevision(snapshot),
  }))
}

const vendorForm = z.strictObject({
  name: z.string(),
  ...shownShape(vendorFields),
  entry: entryForm,
})

const modelForm = z.strictObject({
  id: z.string(),
  ...shownShape(modelFields),
  created_at: moment,
  channels: z.array(z.string()),
  entry: entryForm,
})

function viewVendor({ name, row, print }: PrintableEntry<VendorRow>): Answer<typeof vendorForm> {
  return { name, ...showEntry(vendorFields, row), entry: print() }
}

function viewModel(
  { name: id, row, print }: PrintableEntry<ModelRow>,
  channels: StoredEntries['channels'],
): Answer<typeof modelForm> {
  return {
    id,
    ...showEntry(modelFields, row),
    created_at: timeText(row.createdAtMs),
    channels: channels.filter((channel) => channel.row.models.has(id)).map(({ name }) => name),
    entry: print(),
  }
}

const cursorOf = ({ name }: { readonly name: string }): string => name

/** By name. */
export const listVendors = operation(
  {
    input: z.strictObject(pageFields),
    answer: pageForm(vendorForm).extend({ revision: revisionForm }),
  },
  async (context, page) => {
    const { vendors, revision } = await readEntries(context)
    return { ...pageOfList(vendors, page, { cursorOf, view: viewVendor }), revision }
  },
)

/** By id. */
export const listModels = operation(
  {
    input: z.strictObject(pageFields),
    answer: pageForm(modelForm).extend({ revision: revisionForm }),
  },
  async (context, page) => {
    const { models, channels, revision } = await readEntries(context)
    const view = (model: PrintableEntry<ModelRow>) => viewModel(model, channels)
    return { ...pageOfList(models, page, { cursorOf, view }), revision }
  },
)

export const showVendor = operation(
  {
    input: z.strictObject({ vendor: z.string().min(1, 'must name a vendor') }),
    answer: vendorForm.extend({ revision: revisionForm }),
  },
  async (context, { vendor: name }) => {
    const { vendors, revision } = await readEntries(context)
    const vendor = vendors.find((one) => one.name === name)
    if (vendor === undefined) throw notFound(`There is no vendor ${name} in the catalogue.`)
    return { ...viewVendor(vendor), revision }
  },
)

export const showModel = operation(
  {
    input: z.strictObject({ model: z.string().min(1, 'must name a model') }),
    answer: modelForm.extend({ revision: revisionForm }),
  },
  async (context, { model: id }) => {
    const { models, channels, revision } = await readEntries(context)
    const model = models.find((one) => one.name === id)
    if (model === undefined) throw notFound(`There is no model ${id} in the catalogue.`)
    return { ...viewModel(model, channels), revision }
  },
)
