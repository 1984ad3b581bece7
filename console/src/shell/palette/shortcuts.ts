/**
 * Keyboard shortcuts of the console, and which layer is open: the palette or the sheet that lists them. None
 * acts while a person types; only Ctrl-K does.
 */
import { buildSignal } from '../../ui/signal.ts'
import { sections } from '../sections.ts'

export type Layer = 'palette' | 'help'
type Address = (typeof sections)[number]['to']

export type Shortcut =
  | { readonly kind: 'layer'; readonly layer: Layer }
  | { readonly kind: 'page'; readonly to: Address }
  /** Puts the focus into the search of the page. */
  | { readonly kind: 'search' }

type Pressed = Pick<
  KeyboardEvent,
  'key' | 'ctrlKey' | 'metaKey' | 'altKey' | 'timeStamp' | 'isComposing'
>

/** From `g` to the letter of the page. */
const pauseMaxMs = 1_500

/** Returns a reader of key presses that knows the one before. */
export function buildShortcuts(): (pressed: Pressed, isTyping: boolean) => Shortcut | undefined {
  let startedMs = -Infinity
  return ({ key, ctrlKey, metaKey, altKey, timeStamp, isComposing }, isTyping) => {
    const isSecond = timeStamp - startedMs <= pauseMaxMs
    startedMs = -Infinity
    if ((ctrlKey || metaKey) && !altKey && key.toLowerCase() === 'k')
      return { kind: 'layer', layer: 'palette' }
    if (isTyping || isComposing || ctrlKey || metaKey || altKey) return undefined
    if (isSecond) {
      const section = sections.find(({ letter }) => letter === key)
      if (section !== undefined) return { kind: 'page', to: section.to }
    }
    if (key === 'g') startedMs = timeStamp
    if (key === '?') return { kind: 'layer', layer: 'help' }
    return key === '/' ? { kind: 'search' } : undefined
  }
}

/** Whether a key press belongs to a field. */
export function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('input, textarea, select'))
  )
}

let open: Layer | undefined
const changed = buildSignal()

/** Undefined closes the open layer. */
export function openLayer(layer: Layer | undefined): void {
  open = layer
  changed.send()
}

export function useOpenLayer(): Layer | undefined {
  return changed.useValue(() => open)
}
