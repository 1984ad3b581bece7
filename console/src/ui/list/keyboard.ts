/** Moves through the rows of a list by `j` and `k`; Enter opens one. Nothing acts while a person types. */
import { useEffect, useEffectEvent } from 'react'

interface RowKeys {
  readonly onMove: (step: 1 | -1) => void
  readonly onOpen: () => void
}

/** Dialogs, menus and lists of suggestions are separate tasks. */
const otherTask = '.dialog, [role=menu], [role=listbox]'

export function useRowKeys({ onMove, onOpen }: RowKeys): void {
  const press = useEffectEvent((event: KeyboardEvent): void => {
    const { key, target, ctrlKey, metaKey, altKey } = event
    if (ctrlKey || metaKey || altKey || event.defaultPrevented || isField(target)) return
    if (document.querySelector(otherTask) !== null) return
    if (key === 'j' || key === 'k') onMove(key === 'j' ? 1 : -1)
    // Enter on a link or a button is theirs.
    else if (key === 'Enter' && isNeutral(target)) onOpen()
    else return
    event.preventDefault()
  })
  useEffect(() => {
    const listen = (event: KeyboardEvent): void => press(event)
    addEventListener('keydown', listen)
    return () => removeEventListener('keydown', listen)
  }, [])
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input:not([type=checkbox]), textarea, select'))
  )
}

function isNeutral(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('body, main, tr')
}
