/**
 * The demo catalogue: two vendors with five models, each vendor with a main and a reserve channel,
 * all served by the sandbox. Names and prices are invented; the credentials open nothing.
 */
import { stringify } from 'yaml'

/** Each channel's credential; `startSandbox` accepts only these. */
export const demoCredentials = {
  'alpha-main': 'sandbox-credential-alpha-main',
  'alpha-reserve': 'sandbox-credential-alpha-reserve',
  'beta-main': 'sandbox-credential-beta-main',
  'beta-reserve': 'sandbox-credential-beta-reserve',
} as const

type DemoChannel = keyof typeof demoCredentials

const alphaModels = ['large-1', 'small-1']
const betaModels = ['chat-1', 'chat-mini-1', 'embed-1']

/** Returns the catalogue as the data of a catalogue file. `url` is the address of the sandbox. */
export function demoCatalogue(url: string) {
  const channel = (name: DemoChannel, rank: number) => ({
    vendor: name.startsWith('alpha') ? 'alpha' : 'beta',
    url: `${url}/${name}`,
    credential: demoCredentials[name],
    models: name.startsWith('alpha') ? alphaModels : betaModels,
    rank,
    weight: 1,
    check: 'request',
  })
  return {
    vendors: {
      alpha: {
        format: 'messages',
        version_header: 'anthropic-version',
        default_version: '2023-06-01',
        credential: 'x-api-key',
      },
      beta: { format: 'chat', credential: 'bearer' },
    },
    models: {
      'large-1': {
        vendor: 'alpha',
        max_input_tokens: 200_000,
        max_output_tokens: 8192,
        price: {
          input: 3,
          output: 15,
          cache_read: 0.3,
          cache_write_5m: 3.75,
          cache_write_1h: 6,
        },
      },
      'small-1': {
        vendor: 'alpha',
        max_input_tokens: 200_000,
        max_output_tokens: 8192,
        price: {
          input: 1,
          output: 5,
          cache_read: 0.1,
          cache_write_5m: 1.25,
          cache_write_1h: 2,
        },
      },
      'chat-1': {
        vendor: 'beta',
        max_input_tokens: 200_000,
        max_output_tokens: 16384,
        price: { input: 2, output: 10, cache_read: 0.2 },
      },
      'chat-mini-1': {
        vendor: 'beta',
        max_input_tokens: 200_000,
        max_output_tokens: 16384,
        price: { input: 0.1, output: 0.5, cache_read: 0.01 },
      },
      /** Without a price for output it serves embeddings only. */
      'embed-1': { vendor: 'beta', price: { input: 0.02 } },
    },
    channels: {
      'alpha-main': channel('alpha-main', 0),
      'alpha-reserve': channel('alpha-reserve', 1),
      'beta-main': channel('beta-main', 0),
      'beta-reserve': channel('beta-reserve', 1),
    },
  }
}

/** What the operator of the demo pays on a channel, as a part of the list price. */
const costFactors: Readonly<Record<DemoChannel, number>> = {
  'alpha-main': 0.7,
  'alpha-reserve': 0.85,
  'beta-main': 0.75,
  'beta-reserve': 0.9,
}

/** Returns the text of a catalogue file, with cost prices: the first start shows a margin. */
export function demoCatalogueText(url: string): string {
  const heading =
    '# Demo catalogue: every channel leads to the simulated vendors of `turnpike sandbox`.\n'
  const { channels, ...others } = demoCatalogue(url)
  const priced = Object.entries(costFactors).map(([name, factor]) => [
    name,
    { ...channels[name as DemoChannel], cost: { factor } },
  ])
  const catalogue = { ...others, channels: Object.fromEntries(priced) as object }
  return heading + stringify(catalogue, { aliasDuplicateObjects: false })
}
