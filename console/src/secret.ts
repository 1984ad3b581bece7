/**
 * Secrets of keys that a person types or pastes. Whatever has the form of one is in no address and no
 * request; its key is found by its hash, or by its first characters. `cr_`, `ro_` and `ad_` begin them; see
 * docs/admin-api.md.
 */
const headLength = 7

/** An operator may have chosen an admin token, with other characters. */
const whole = /^(?:(?:cr|ro)_[0-9A-Za-z]{49}|ad_[0-9A-Za-z_-]{16,200})$/
const beginning = /^(?:cr|ro|ad)_[0-9A-Za-z_-]*(?:…|\.\.\.)?$/
/** In any text, whole or not. Names are hardly as long without a hyphen. */
const likely = /\b(?:cr|ro|ad)_[0-9A-Za-z]{20,}/g

/** What a typed text says about a secret; undefined = nothing. */
export type SecretText =
  | { readonly kind: 'whole'; readonly secret: string }
  /** All that lists show; more of it is dropped. */
  | { readonly kind: 'head'; readonly head: string }

export function readSecret(typed: string): SecretText | undefined {
  const text = typed.trim()
  if (whole.test(text)) return { kind: 'whole', secret: text }
  return beginning.test(text) ? { kind: 'head', head: text.slice(0, headLength) } : undefined
}

/** Cuts each secret in a text to its first characters. */
export function withoutSecrets(text: string): string {
  return text.replace(likely, (secret) => secret.slice(0, headLength))
}

/** Returns the SHA-256 in hex. Undefined where the browser has none: over plain http from another machine. */
export async function hashSecret(secret: string): Promise<string | undefined> {
  if (!isSecureContext) return undefined
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret))
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
