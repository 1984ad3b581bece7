/**
 * The label that a request gives itself in a header, by which its account adds up costs. A bad label is never
 * the end of a request: it counts as none, and the answer says why. It goes to no vendor.
 */
import type { Fields } from '../http/wire/fields.ts'

const labelHeader = 'x-turnpike-label'
/** On an answer: why the label of its request does not count. */
export const labelIgnoredHeader = 'x-turnpike-label-ignored'

const lengthMax = 64
const printable = /^[\x20-\x7e]*$/
/** How a secret of this gateway or of a vendor begins, and a part of it: one may come here by mistake. */
const secret = /(?:^|[^0-9a-z])(?:cr_|ro_|ad_|sk-)[\w-]{16}/i

export type IgnoredLabel = 'repeated' | 'empty' | 'too_long' | 'not_ascii' | 'secret'

/** Returns the label; an empty one where there is none, or where it does not count. */
export function readLabel(fields: Fields): string {
  const value = fields.find(labelHeader)
  if (value === undefined || faultOf(fields, value) !== undefined) return ''
  // A copy: a slice would keep the whole head in memory, credentials included.
  return Buffer.from(value, 'latin1').toString('latin1')
}

/** Returns why the label of a request does not count; undefined where it counts, or there is none. */
export function findLabelFault(fields: Fields): IgnoredLabel | undefined {
  const value = fields.find(labelHeader)
  return value === undefined ? undefined : faultOf(fields, value)
}

function faultOf(fields: Fields, value: string): IgnoredLabel | undefined {
  if (fields.values(labelHeader).length > 1) return 'repeated'
  if (value === '') return 'empty'
  if (value.length > lengthMax) return 'too_long'
  if (!printable.test(value)) return 'not_ascii'
  return secret.test(value) ? 'secret' : undefined
}
