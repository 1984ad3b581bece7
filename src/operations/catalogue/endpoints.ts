/** Endpoints of the catalogue: the whole as a file, and its vendors, models and prices as lists. */
import { applyCatalogue, exportCatalogue } from './catalogue.ts'
import { listModels, listVendors } from './lists.ts'
import { importPrices } from '../prices/import.ts'
import { listPrices } from '../prices/versions.ts'
import { endpoints, fileBodyBytesMax } from '../endpoint.ts'

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
  },
  apply: {
    route: 'PUT /catalogue',
    query: ['dry_run'],
    bodyBytesMax: fileBodyBytesMax,
    summary: 'Make the catalogue equal to a file, or only show the changes.',
    role: 'owner',
    operation: applyCatalogue,
    read: 'show',
    example: { text: exampleCatalogue, dry_run: true },
  },
  vendors: {
    id: 'vendors.list',
    route: 'GET /vendors',
    summary: 'List the vendors, by name.',
    operation: listVendors,
  },
  models: {
    id: 'models.list',
    route: 'GET /models',
    summary: 'List the models, by id.',
    operation: listModels,
  },
  prices: {
    id: 'prices.list',
    route: 'GET /prices',
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
