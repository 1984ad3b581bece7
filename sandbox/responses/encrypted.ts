/**
 * Encrypted reasoning and compactions: what a client sends back so that the vendor need not keep it. Only the
 * vendor account that made it can read it.
 */
import { hash } from 'node:crypto'
import type { ErrorPreset } from '../error-presets.ts'
import { codedRefusal } from '../refusals.ts'
import type { VendorAccount } from './accounts.ts'

/** The vendor's encrypted contents begin so, because of the scheme they use. */
const start = 'gAAAAAB'

export function encrypt(account: VendorAccount, itemId: string): string {
  const text = `${account.name}.${hash('sha256', itemId)}`
  return start + Buffer.from(text).toString('base64url')
}

interface Presented {
  readonly account: VendorAccount
  readonly itemId: unknown
}

/** Returns the vendor's refusal of a content that this account did not make. */
export function findEncryptionFault(
  content: string,
  { account, itemId }: Presented,
): ErrorPreset | undefined {
  const [owner] = Buffer.from(content.slice(start.length), 'base64url').toString().split('.')
  if (content.startsWith(start) && owner === account.name) return undefined
  const isForeign = content.startsWith(start) && /^[0-9a-f]{16}$/.test(owner ?? '')
  const what = typeof itemId === 'string' ? `for item ${itemId}` : shortened(content)
  const reason = isForeign
    ? 'Encrypted content organization_id did not match the target organization.'
    : 'Encrypted content could not be decrypted or parsed.'
  return codedRefusal(
    `The encrypted content ${what} could not be verified. Reason: ${reason}`,
    'invalid_encrypted_content',
  )
}

function shortened(content: string): string {
  return `${content.slice(0, 4)}...${content.slice(-4)}`
}
