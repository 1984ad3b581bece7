/** Endpoints of the catalogue: the whole as a file, and its vendors, models and prices as lists. */
import { z } from 'zod'
import { shownShape } from '../../channels/catalogue/field.ts'
import { modelFields } from '../../channels/catalogue/model-fields.ts'
import { vendorFields } from '../../channels/catalogue/vendor-fields.ts'
import { applyCatalogue, exportCatalogue } from './catalogue.ts'
import { listModels, listVendors } from './lists.ts'
import { importPrices } from '../prices/import.ts'
import { listPrices, type PriceView } from '../prices/versions.ts'
import { endpoints, fileBodyBytesMax } from '../endpoint.ts'
import { moment, pageForm } from '../answer-forms.ts'

const fieldChange = z.strictObject({
  field: z.string(),
  from: z.string().optional().meta({ description: 'Absent = was not set.' }),
  to: z.string().optional().meta({ description: 'Absent = is not set.' }),
})

const appliedKind = z.enum(['applied', 'unchanged', 'would_apply'])

const applied = z.strictObject({
  kind: appliedKind,
  diff: z.array(
    z.strictObject({
      action: z.enum(['add', 'change', 'retire']),
      kind: z.enum(['vendor', 'model', 'channel', 'account', 'key']),
      name: z.string(),
      changes: z.array(fieldChange),
    }),
  ),
  notes: z.array(z.string()),
})

const imported = z.strictObject({
  kind: appliedKind,
  models: z.array(
    z.strictObject({
      model: z.string(),
      listed_as: z.string(),
      vendor_in_list: z.string().nullable(),
      valid_from: moment.nullable(),
      changes: z.array(fieldChange),
      unpriced: z.array(z.strictObject({ field: z.string(), value: z.string() })),
      notes: z.array(z.string()),
    }),
  ),
  not_listed: z.array(z.string()),
})

const price = z.strictObject({
  model: z.string(),
  vendor: z.string(),
  valid_from: moment.nullable().meta({ description: 'Null = from the beginning.' }),
  state: z.enum(['later', 'in_force', 'past']),
  price: z.custom<PriceView['price']>().meta({
    type: 'object',
    additionalProperties: {},
    description: 'USD per million tokens by class, in the form of the catalogue.',
  }),
})

const vendor = z.strictObject({ name: z.string(), ...shownShape(vendorFields) })

const model = z.strictObject({
  id: z.string(),
  ...shownShape(modelFields),
  created_at: moment,
  channels: z.array(z.string()),
})

const exampleCatalogue = `vendors:
  alpha: { format: messages, credential: x-api-key }
models:
  large-1:
    vendor: alpha
    max_output_tokens: 8192
    price: { input: 3.00, output: 15.00 }
channels:
  alpha-main:
    vendor: alpha
    url: https://vendor.example
    credential: env:ALPHA_MAIN_KEY
    models: [large-1]
`

export const catalogueEndpoints = endpoints('catalogue', {
  show: {
    route: 'GET /catalogue',
    summary: 'Read the catalogue as a file for PUT. Secrets in it are sealed or hidden.',
    operation: exportCatalogue,
    answer: z.strictObject({ text: z.string().meta({ description: 'YAML.' }) }),
  },
  apply: {
    route: 'PUT /catalogue',
    query: ['dry_run'],
    bodyBytesMax: fileBodyBytesMax,
    summary: 'Make the catalogue equal to a file, or only show the changes.',
    role: 'owner',
    operation: applyCatalogue,
    answer: applied,
    read: 'show',
    example: { text: exampleCatalogue, dry_run: true },
  },
  vendors: {
    id: 'vendors.list',
    route: 'GET /vendors',
    summary: 'List the vendors, by name.',
    operation: listVendors,
    answer: pageForm(vendor),
  },
  models: {
    id: 'models.list',
    route: 'GET /models',
    summary: 'List the models, by id.',
    operation: listModels,
    answer: pageForm(model),
  },
  prices: {
    id: 'prices.list',
    route: 'GET /prices',
    summary: 'List all prices, past, current and future, in USD per million tokens.',
    operation: listPrices,
    answer: pageForm(price),
  },
  importPrices: {
    id: 'prices.import',
    route: 'POST /prices/import',
    summary: 'Import prices from a list such as model_prices_and_context_window.json.',
    role: 'owner',
    operation: importPrices,
    bodyBytesMax: fileBodyBytesMax,
    answer: imported,
    read: 'show',
    example: {
      text: '{"large-1":{"input_cost_per_token":0.000003,"output_cost_per_token":0.000015}}',
      dry_run: true,
    },
  },
})
