/** The smallest catalogue file there is use for: one vendor, one model with a price, one channel. */
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
