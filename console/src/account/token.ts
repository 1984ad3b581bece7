/**
 * The read-only token of this tab. It is kept for the tab's session only: never in an address, a cookie or
 * a storage that outlives the tab.
 */
import { useSyncExternalStore } from 'react'
import { t } from '../messages/t.ts'

const storageKey = 'turnpike-read-token'
const changed = new EventTarget()

export function readToken(): string | null {
  return sessionStorage.getItem(storageKey)
}

export function keepToken(token: string): void {
  sessionStorage.setItem(storageKey, token)
  changed.dispatchEvent(new Event('change'))
}

let end: 'asked' | 'refused' | undefined

/** `why`: the person asked for it, or the gateway no longer accepts the token. */
export function forgetToken(why: 'asked' | 'refused'): void {
  if (readToken() === null) return
  end = why
  sessionStorage.removeItem(storageKey)
  changed.dispatchEvent(new Event('change'))
}

/** Why the last token was forgotten. */
export function lastEnd(): 'asked' | 'refused' | undefined {
  return end
}

export function useToken(): string | null {
  return useSyncExternalStore(subscribe, readToken)
}

function subscribe(onChange: () => void): () => void {
  changed.addEventListener('change', onChange)
  return () => changed.removeEventListener('change', onChange)
}

/** Returns why a text cannot be a read-only token; such a text is not sent anywhere. */
export function mistakeIn(text: string): string | undefined {
  if (text.startsWith('cr_')) return t('account.isKey')
  if (text.startsWith('ad_')) return t('account.isAdmin')
  if (!text.startsWith('ro_')) return t('account.isOther')
  return /^ro_[0-9A-Za-z]{49}$/.test(text) ? undefined : t('account.isCut')
}
