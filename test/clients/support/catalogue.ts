/**
 * The catalogue of the client tests: the demo's, and models of which one thing is wrong, each with
 * channels of its own so that its faults never touch the health of the others. Prices are the
 * oracle of `charges.ts`; nothing here is read from the gateway.
 */
import { stringify } from 'yaml'
import { demoCatalogue } from '../../../sandbox/demo.ts'

/** USD per million tokens. A model that embeds has an input price and nothing else. */
export interface TestPrice {
  readonly input: number
  readonly output?: number
  readonly cache_read?: number
  readonly cache_write_5m?: number
  readonly cache_write_1h?: number
}

interface Modelled {
  readonly vendor: 'alpha' | 'beta' | 'open'
  readonly max_output_tokens: number
  readonly price: TestPrice
}

const alphaPrice: TestPrice = {
  input: 3,
  output: 15,
  cache_read: 0.3,
  cache_write_5m: 3.75,
  cache_write_1h: 6,
}
const betaPrice: TestPrice = { input: 2, output: 10, cache_read: 0.2 }

const alpha: Modelled = { vendor: 'alpha', max_output_tokens: 8_192, price: alphaPrice }
const beta: Modelled = { vendor: 'beta', max_output_tokens: 16_384, price: betaPrice }

/** What the main channel of `guarded-VENDOR-N` does; its reserve `VENDOR-guard-N` is well. */
export const guardedFaults = [
  'error=529',
  'error=401',
  'reset=before_head',
  'not_format=html',
  'error_first=429',
] as const

const guardedModels = guardedFaults.flatMap((_, index) => [
  [`guarded-alpha-${index}`, alpha] as const,
  [`guarded-beta-${index}`, beta] as const,
])

const ownModels: Readonly<Record<string, Modelled>> = {
  ...Object.fromEntries(guardedModels),
  /** One channel only: whatever it does reaches the client. */
  'lone-alpha-1': alpha,
  'lone-beta-1': beta,
  /** Of a vendor that requires no `max_tokens`, as vendors of the chat format do by default. */
  'open-1': { ...beta, vendor: 'open' },
  /** No channel at all. */
  'stranded-alpha-1': alpha,
  'stranded-beta-1': beta,
}

export function clientCatalogue(sandboxUrl: string): string {
  const demo = demoCatalogue(sandboxUrl)
  const channel = (name: string, model: string, rank: number) => ({
    vendor: name.startsWith('alpha') ? 'alpha' : 'beta',
    url: `${sandboxUrl}/${name}`,
    credential: `sandbox-credential-${name}`,
    models: [model],
    rank,
    check: 'none',
  })
  return stringify({
    // So that the SDKs show how they report a missing limit.
    vendors: {
      ...demo.vendors,
      beta: { ...demo.vendors.beta, require_max_tokens: true },
      open: demo.vendors.beta,
    },
    models: { ...demo.models, ...ownModels },
    channels: {
      ...demo.channels,
      'alpha-lone': channel('alpha-lone', 'lone-alpha-1', 0),
      'beta-lone': channel('beta-lone', 'lone-beta-1', 0),
      open: { ...channel('open', 'open-1', 0), vendor: 'open' },
      ...Object.fromEntries(
        guardedModels.flatMap(([model, { vendor }]) => {
          const number = model.split('-').at(-1) ?? ''
          const [main, reserve] = [`${vendor}-guarded-${number}`, `${vendor}-guard-${number}`]
          return [
            [main, channel(main, model, 0)],
            [reserve, channel(reserve, model, 1)],
          ]
        }),
      ),
    },
  })
}

/** The price of a model, from the catalogue that was applied. */
export function priceOf(model: string): TestPrice {
  const models: Readonly<Record<string, { readonly price: TestPrice }>> = {
    ...demoCatalogue('').models,
    ...ownModels,
  }
  const known = models[model]
  if (known === undefined) throw new Error(`The catalogue has no model ${model}.`)
  return known.price
}
