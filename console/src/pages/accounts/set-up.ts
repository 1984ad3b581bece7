/** The variables that SDKs and agents read, with a new key in them. */
interface Vendor {
  readonly name: string
  readonly format: string
}

/** The console is on the admin listener and does not know under which address clients reach the other one. */
const address = 'http://GATEWAY:8080'

export function setUpText(vendors: readonly Vendor[], secret: string): string {
  return vendors.map((vendor) => variables(vendor, secret).join('\n')).join('\n\n')
}

function variables({ name, format }: Vendor, secret: string): readonly string[] {
  if (format === 'messages')
    return [`export ANTHROPIC_BASE_URL=${address}/${name}`, `export ANTHROPIC_AUTH_TOKEN=${secret}`]
  return [`export OPENAI_BASE_URL=${address}/${name}/v1`, `export OPENAI_API_KEY=${secret}`]
}
