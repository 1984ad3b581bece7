/** Lists of the vendors and models of the catalogue, as operators see them. */
import { z } from 'zod'
import { showEntry, shownShape } from '../../channels/catalogue/field.ts'
import { modelFields } from '../../channels/catalogue/model-fields.ts'
import { vendorFields } from '../../channels/catalogue/vendor-fields.ts'
import { isInUse, readCatalogue, type VendorRow } from '../../channels/channel-store.ts'
import { moment, pageForm } from '../answer-forms.ts'
import { operation, timeText } from '../operation.ts'
import { pageFields, pageOfList } from '../paging.ts'

const vendorForm = z.strictObject({ name: z.string(), ...shownShape(vendorFields) })

const modelForm = z.strictObject({
  id: z.string(),
  ...shownShape(modelFields),
  created_at: moment,
  channels: z.array(z.string()),
})

/** By name. */
export const listVendors = operation(
  { input: z.strictObject(pageFields), answer: pageForm(vendorForm) },
  async ({ database }, page) => {
    const { vendors } = await database.snapshot(readCatalogue)
    const cursorOf = ({ name }: VendorRow): string => name
    const view = (row: VendorRow) => ({ name: row.name, ...showEntry(vendorFields, row) })
    return pageOfList(vendors.filter(isInUse), page, { cursorOf, view })
  },
)

/** By id. */
export const listModels = operation(
  { input: z.strictObject(pageFields), answer: pageForm(modelForm) },
  async ({ database }, page) => {
    const { models, channels } = await database.snapshot(readCatalogue)
    const used = channels.filter(isInUse)
    return pageOfList(models.filter(isInUse), page, {
      cursorOf: ({ id }) => id,
      view: (model) => ({
        id: model.id,
        ...showEntry(modelFields, model),
        created_at: timeText(model.createdAtMs),
        channels: used.filter((channel) => channel.models.has(model.id)).map(({ name }) => name),
      }),
    })
  },
)
