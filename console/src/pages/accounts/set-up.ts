/** The variables that SDKs and agents read, with a new key in them. */
interface Vendor {
  readonly name: string
  readonly format: string
}

export const unknownAddress = 'https://GATEWAY'

const loopback = /^(127\.\d+\.\d+\.\d+|localhost|\[::1\])(:[1-9]\d*)?$/

/**
 * The address of the public listener, from the setting `listen`. It is known on the machine itself only:
 * elsewhere a proxy or a published port stands before it.
 */
export function clientAddress(listen: string): string | undefined {
  return loopback.test(listen) && loopback.test(location.host) ? `http://${listen}` : undefined
}

export function setUpText(
  vendors: readonly Vendor[],
  known: { readonly secret: string; readonly address: string },
): string {
  return vendors.map((vendor) => variables(vendor, known).join('\n')).join('\n\n')
}

function variables(
  { name, format }: Vendor,
  { secret, address }: { readonly secret: string; readonly address: string },
): readonly string[] {
  if (format === 'messages')
    return [`export ANTHROPIC_BASE_URL=${address}/${name}`, `export ANTHROPIC_AUTH_TOKEN=${secret}`]
  return [`export OPENAI_BASE_URL=${address}/${name}/v1`, `export OPENAI_API_KEY=${secret}`]
}
