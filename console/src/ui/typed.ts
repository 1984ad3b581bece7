/**
 * Knows whether a person has typed into the fields of a dialog, so that what closes the dialog or leaves the
 * page can ask first. A text that is as it was before is not typed, and a search is nothing to lose.
 */
import { createContext, type ReactNode, type SyntheticEvent } from 'react'

interface Typed {
  readonly isTyped: () => boolean
  /** What was typed is saved, or dropped by the person. */
  readonly forget: () => void
  readonly onFocus: (event: SyntheticEvent) => void
  readonly onInput: (event: SyntheticEvent) => void
}

type Field = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

/** Returns handlers for an element around fields. */
export function watchTyping(): Typed {
  const before = new WeakMap<Field, string>()
  const changed = new Set<Field>()
  return {
    isTyped: () => changed.size > 0,
    forget: () => changed.clear(),
    onFocus({ target }) {
      if (isField(target) && !before.has(target)) before.set(target, valueOf(target))
    },
    onInput({ target }) {
      if (!isField(target) || target.type === 'search') return
      if (valueOf(target) === before.get(target)) changed.delete(target)
      else changed.add(target)
    },
  }
}

function isField(target: EventTarget): target is Field {
  return (
    target instanceof HTMLInputElement ||
    target instanceof HTMLSelectElement ||
    target instanceof HTMLTextAreaElement
  )
}

function valueOf(field: Field): string {
  const isTicked = field instanceof HTMLInputElement && /checkbox|radio/.test(field.type)
  return isTicked ? String(field.checked) : field.value
}

/** Of the dialog around a form; null outside of dialogs. */
export const TypedContext = createContext<Pick<Typed, 'forget'> | null>(null)

/** What a person would lose by leaving: what was typed, or a secret that is shown once. */
export type Loss = 'typed' | 'secret'

/** Returns what asks before the page is left; null on a page that has no router. */
export const LeaveGuardContext = createContext<
  ((findLoss: () => Loss | undefined) => ReactNode) | null
>(null)
