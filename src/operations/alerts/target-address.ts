/** The address of a target as an operator writes it. Pure: it resolves no name. */
import { contact } from '../input.ts'
import { invalidField } from '../operation.ts'
import { contactAddress, type TargetFormat } from './target-store.ts'

/** Returns the address as it may be shown. A sender checks the network of a URL when it connects. */
export function readAddress(format: TargetFormat, text: string): string {
  if (format === 'email') {
    if (text === contactAddress) return text
    const read = contact.safeParse(text)
    if (read.success && read.data !== '') return read.data
    throw invalidField(
      'address',
      'must be one e-mail address such as ops@example.com, or contact for the contact of each account',
    )
  }
  const fault = urlFault(text)
  if (fault !== undefined) throw invalidField('address', fault)
  return new URL(text).origin
}

function urlFault(text: string): string | undefined {
  if (!URL.canParse(text)) return 'must be a web address such as https://hooks.example/alerts'
  const { protocol, username, password } = new URL(text)
  if (protocol !== 'https:' && protocol !== 'http:') return 'must begin with https://'
  if (username !== '' || password !== '') return 'must hold no user name or password'
  return text.includes('#') ? 'must have no fragment (#)' : undefined
}
