/** Endpoints of the catalogue: the whole as a file, and its vendors, models and prices as lists. */
import { applyCatalogue, changeOptions } from './catalogue.ts'
import { editCatalogue, modelChanges, vendorChanges } from './entry-changes.ts'
import { exportCatalogue } from './export.ts'
import { showForms } from './field-forms.ts'
import { listModels, listVendors, showModel, showVendor } from './lists.ts'
import { importPrices } from '../prices/import.ts'
import { listPrices } from '../prices/versions.ts'
import { endpoints, exampleNames, fileBodyBytesMax } from '../endpoint.ts'

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

/** In the query of every change; a body is a file or an entry. */
const inQuery = Object.keys(changeOptions.shape)

export const catalogueEndpoints = endpoints('catalogue', {
  show: {
    route: 'GET /catalogue',
    summary: 'Read the catalogue as a file for PUT. Secrets in it are sealed or hidden.',
    operation: exportCatalogue,
  },
  apply: {
    route: 'PUT /catalogue',
    query: inQuery,
    bodyBytesMax: fileBodyBytesMax,
    summary: 'Make the catalogue equal to a file, or only show the changes.',
    role: 'owner',
    operation: applyCatalogue,
    read: 'show',
    example: { text: exampleCatalogue, dry_run: true },
  },
  edit: {
    route: 'PATCH /catalogue',
    query: inQuery,
    bodyBytesMax: fileBodyBytesMax,
    summary: 'Add, change or retire several vendors, models and channels at once.',
    role: 'owner',
    operation: editCatalogue,
    read: 'show',
    example: { channels: { [exampleNames.channel]: { weight: 2 } }, dry_run: true },
  },
  fields: {
    route: 'GET /catalogue/fields',
    summary: 'Show what forms for entries are made of, and the JSON Schema of the file.',
    operation: showForms,
  },
  vendors: {
    id: 'vendors.list',
    route: 'GET /vendors',
    summary: 'List the vendors, by name.',
    operation: listVendors,
  },
  createVendor: {
    id: 'vendors.create',
    route: 'POST /vendors',
    query: inQuery,
    summary: 'Add a vendor to the catalogue.',
    role: 'owner',
    operation: vendorChanges.create,
    example: { name: 'gamma', format: 'chat', dry_run: true },
  },
  showVendor: {
    id: 'vendors.show',
    route: 'GET /vendors/{vendor}',
    summary: 'Show one vendor, with its form in the catalogue file.',
    operation: showVendor,
  },
  editVendor: {
    id: 'vendors.edit',
    route: 'PATCH /vendors/{vendor}',
    query: inQuery,
    summary: 'Change a vendor of the catalogue; null removes a field.',
    role: 'owner',
    operation: vendorChanges.edit,
    example: { stored_responses: 'refuse', dry_run: true },
  },
  retireVendor: {
    id: 'vendors.retire',
    route: 'DELETE /vendors/{vendor}',
    summary: 'Retire a vendor that no model or channel has.',
    role: 'owner',
    operation: vendorChanges.retire,
    example: { dry_run: true },
  },
  models: {
    id: 'models.list',
    route: 'GET /models',
    isExported: true,
    summary: 'List the models, by id.',
    operation: listModels,
  },
  createModel: {
    id: 'models.create',
    route: 'POST /models',
    query: inQuery,
    summary: 'Add a model to the catalogue.',
    role: 'owner',
    operation: modelChanges.create,
    example: { id: 'large-2', vendor: 'alpha', price: { input: 3, output: 15 }, dry_run: true },
  },
  showModel: {
    id: 'models.show',
    route: 'GET /models/{model}',
    summary: 'Show one model, with its form in the catalogue file.',
    operation: showModel,
  },
  editModel: {
    id: 'models.edit',
    route: 'PATCH /models/{model}',
    query: inQuery,
    summary: 'Change a model of the catalogue, a changed price from now on; null removes a field.',
    role: 'owner',
    operation: modelChanges.edit,
    example: { max_output_tokens: 16_384, dry_run: true },
  },
  retireModel: {
    id: 'models.retire',
    route: 'DELETE /models/{model}',
    summary: 'Retire a model that no channel serves.',
    role: 'owner',
    operation: modelChanges.retire,
    example: { dry_run: true },
  },
  prices: {
    id: 'prices.list',
    route: 'GET /prices',
    isExported: true,
    summary: 'List all prices, past, current and future, in USD per million tokens.',
    operation: listPrices,
  },
  importPrices: {
    id: 'prices.import',
    route: 'POST /prices/import',
    summary: 'Import prices from a list such as model_prices_and_context_window.json.',
    role: 'owner',
    operation: importPrices,
    bodyBytesMax: fileBodyBytesMax,
    read: 'show',
    example: {
      text: '{"large-1":{"input_cost_per_token":0.000003,"output_cost_per_token":0.000015}}',
      dry_run: true,
    },
  },
})
