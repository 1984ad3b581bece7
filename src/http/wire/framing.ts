/** How the end of a message's body is found (RFC 9112 section 6), and how its length is written. */

export type Framing =
  /** There is no body at all. */
  | { readonly kind: 'none' }
  | { readonly kind: 'length'; readonly bytes: number }
  | { readonly kind: 'chunked' }
  /** It ends where the connection ends. */
  | { readonly kind: 'close' }

export const noBody: Framing = { kind: 'none' }
export const chunkedBody: Framing = { kind: 'chunked' }
export const untilClose: Framing = { kind: 'close' }

const lengthPattern = /^\d{1,15}$/

/** Undefined for anything but plain digits of an exact number. */
export function parseLength(value: string): number | undefined {
  return lengthPattern.test(value) ? Number(value) : undefined
}
