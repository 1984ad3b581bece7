/** Catalogue files for tests: the demo's with changes, and the smallest that is complete. */
import { stringify } from 'yaml'
import { demoCatalogue, demoCredentials } from '../../sandbox/demo.ts'

/** Members of a channel in place of the demo's. */
type ChannelChange = Readonly<Record<string, unknown>> & { readonly check?: string }

export interface CatalogueChange {
  /** Members of every channel. `check: none` keeps the gateway's own requests out of the logs. */
  readonly every?: ChannelChange
  /** By name; a name that the demo does not have is one more channel of the vendor its name begins with. */
  readonly named?: Readonly<Record<string, ChannelChange>>
}

/** Returns the demo's catalogue with changes to its channels, for a vendor's address. */
export function demoCatalogueWith(change: CatalogueChange): (vendorUrl: string) => string {
  return (url) => {
    const base = demoCatalogue(url)
    const channels: Record<string, unknown> = {}
    for (const [name, channel] of Object.entries(base.channels))
      channels[name] = { ...channel, ...change.every, ...change.named?.[name] }
    for (const [name, channel] of Object.entries(change.named ?? {})) {
      if (name in channels) continue
      const like = name.startsWith('alpha')
        ? base.channels['alpha-main']
        : base.channels['beta-main']
      const own = { url: `${url}/${name}`, credential: demoCredentials['alpha-main'] }
      channels[name] = { ...like, ...own, ...change.every, ...channel }
    }
    return stringify({ ...base, channels }, { aliasDuplicateObjects: false })
  }
}

/** The same with the chat format, without checks. */
export function smallChatCatalogue(url: string): string {
  return `
models:
  chat-1: { vendor: beta, max_output_tokens: 8192, price: { input: 3.00, output: 15.00 } }
channels:
  beta-main: { vendor: beta, url: "${url}/beta-main", credential: vendor-canary, models: [chat-1], check: none }
`
}

/** Returns the smallest complete catalogue: one vendor, one model with a price, one channel. */
export function smallCatalogue(url: string): string {
  return `
vendors:
  alpha:
    format: messages
    credential: x-api-key
    version_header: anthropic-version
    default_version: "2023-06-01"
models:
  large-1: { vendor: alpha, max_output_tokens: 8192, price: { input: 3.00, output: 15.00 } }
channels:
  alpha-main: { vendor: alpha, url: "${url}/alpha-main", credential: vendor-canary, models: [large-1] }
`
}
