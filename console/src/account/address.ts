/**
 * The state of the page that its address holds, so that a view can be shared and the back button works.
 * Nothing in it is secret. A wrong value is left out, so that an old link still opens the page.
 */
import { useMemo, useSyncExternalStore } from 'react'
import { choiceIn, compact, textIn } from '../search.ts'

const views = ['overview', 'requests', 'keys', 'prices', 'statement', 'setup'] as const
export type View = (typeof views)[number]

export interface Address {
  readonly view?: View | undefined
  /** Days of the charts. */
  readonly days?: '90' | undefined
  /** Filters of the requests, and the one that is explained. */
  readonly key?: string | undefined
  readonly model?: string | undefined
  readonly outcome?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly request?: string | undefined
  /** The program that is set up. */
  readonly client?: string | undefined
}

function readAddress(search: string): Address {
  const given = Object.fromEntries(new URLSearchParams(search))
  const textOf = (name: string): string | undefined => textIn(given, name)
  return {
    view: choiceIn(given, 'view', views),
    days: choiceIn(given, 'days', ['90']),
    key: textOf('key'),
    model: textOf('model'),
    outcome: textOf('outcome'),
    from: dayIn(textOf('from')),
    to: dayIn(textOf('to')),
    request: textOf('request'),
    client: textOf('client'),
  }
}

function dayIn(given: string | undefined): string | undefined {
  return given !== undefined && /^\d{4}-\d\d-\d\d$/.test(given) ? given : undefined
}

export function addressText(address: Address): string {
  const search = new URLSearchParams(Object.entries(compact(address))).toString()
  return search === '' ? location.pathname : `${location.pathname}?${search}`
}

const changed = new EventTarget()

export function useAddress(): Address {
  const search = useSyncExternalStore(subscribe, () => location.search)
  return useMemo(() => readAddress(search), [search])
}

function subscribe(onChange: () => void): () => void {
  window.addEventListener('popstate', onChange)
  changed.addEventListener('change', onChange)
  return () => {
    window.removeEventListener('popstate', onChange)
    changed.removeEventListener('change', onChange)
  }
}

/** `replaces` keeps the back button from going through every letter of a filter. */
export function goTo(address: Address, { replaces = false } = {}): void {
  const next = addressText(address)
  if (replaces) history.replaceState(null, '', next)
  else history.pushState(null, '', next)
  changed.dispatchEvent(new Event('change'))
}
