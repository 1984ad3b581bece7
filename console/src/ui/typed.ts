/**
 * Knows whether a person has typed into the fields of a dialog, so that what closes the dialog or leaves the
 * page can ask first. A text that is as it was before is not typed, and a search is nothing to lose.
 */
import { createContext, type ReactNode, type SyntheticEvent } from 'react'

interface Typed {
  readonly isTyped: () => boolean
  /** What was typed is saved, or dropped by the person. */
  readonly forget: () => void
  /** A form that knows its fields says it by itself. */
  readonly setTyped: (isTyped: boolean) => void
  readonly onFocus: (event: SyntheticEvent) => void
  readonly onInput: (event: SyntheticEvent) => void
}

type Field = HTMLInputElement | HTMLTextAreaElement

/** Returns handlers for an element around fields. */
export function watchTyping(): Typed {
  const before = new WeakMap<Field, string>()
  const changed = new Set<Field>()
  let isSaid: boolean | undefined
  return {
    isTyped: () => isSaid ?? changed.size > 0,
    forget() {
      changed.clear()
      isSaid = undefined
    },
    setTyped(isTyped) {
      isSaid = isTyped
    },
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
  return target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement
}

function valueOf(field: Field): string {
  const isTicked = field instanceof HTMLInputElement && /checkbox|radio/.test(field.type)
  return isTicked ? String(field.checked) : field.value
}

/** The dialog around a form, or around a secret that is shown once. */
interface OpenDialog extends Pick<Typed, 'forget' | 'setTyped'> {
  /** Closes it; where something is typed, after a question. */
  readonly close: () => void
  /** While it is held, only its content closes it. */
  readonly hold: (isHeld: boolean) => void
}

/** Null outside of dialogs. */
export const DialogContext = createContext<OpenDialog | null>(null)

/** What a person would lose by leaving: what was typed, or a secret that is shown once. */
export type Loss = 'typed' | 'secret'

/** Returns what asks before the page is left; null on a page that has no router. */
export const LeaveGuardContext = createContext<
  ((findLoss: () => Loss | undefined) => ReactNode) | null
>(null)
