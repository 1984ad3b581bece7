/**
 * The state of the page that its address holds, so that a view can be shared and the back button works.
 * Nothing in it is secret. A wrong value is left out, so that an old link still opens the page.
 */
import { useMemo, useSyncExternalStore, type MouseEvent, type ReactNode } from 'react'
import { addressOf, compact, day, oneOf, text, type AddressOf } from '../search.ts'
import { presets } from '../ui/range.ts'
import type { Role } from './session.ts'

const views = [
  'overview',
  'requests',
  'keys',
  'prices',
  'statement',
  'receipts',
  'setup',
  'people',
  'topup',
  'activity',
  'details',
] as const
export type View = (typeof views)[number]

/** The views of a role, in their order; a member sees the own keys only. */
export const viewsOf: Readonly<Record<Role, readonly View[]>> = {
  owner: views,
  reader: views.slice(0, views.indexOf('people')),
  member: ['keys', 'prices', 'setup'],
}

const read = addressOf({
  view: oneOf(views),
  /** The period: a word, or days (UTC), both included. */
  range: oneOf(presets),
  from: day,
  to: day,
  /** Filters of the requests, their order, and the one that is explained. */
  key: text,
  model: text,
  outcome: text,
  sort: oneOf(['cost']),
  request: text,
  /** The program that is set up. */
  client: text,
  /** The number of a receipt. */
  receipt: text,
  /** The person comes back from the page of Stripe. */
  paid: text,
})

type State = AddressOf<typeof read>

/** Undefined fields are as absent ones. */
export type Address = { readonly [Name in keyof State]: State[Name] | undefined }

export function addressText(address: Address): string {
  const search = new URLSearchParams(Object.entries(compact(address))).toString()
  return search === '' ? location.pathname : `${location.pathname}?${search}`
}

const changed = new EventTarget()

export function useAddress(): State {
  const search = useSyncExternalStore(subscribe, () => location.search)
  return useMemo(() => read(Object.fromEntries(new URLSearchParams(search))), [search])
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

interface ViewLinkProps {
  readonly to: Address
  readonly className?: string
  readonly isCurrent?: boolean
  readonly children: ReactNode
}

/** A link to a view of this page. It works as links do: open in a new tab, copy, go back. */
export function ViewLink({ to, className, isCurrent = false, children }: ViewLinkProps) {
  const follow = (event: MouseEvent): void => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    goTo(to)
  }
  return (
    <a
      href={addressText(to)}
      className={className}
      aria-current={isCurrent ? 'page' : undefined}
      onClick={follow}
    >
      {children}
    </a>
  )
}
