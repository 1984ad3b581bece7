/** Remembers when the person last did something on this page. */
let atMs = Date.now()

export function lastInteractionMs(): number {
  return atMs
}

export function watchInteraction(): void {
  for (const kind of ['pointerdown', 'keydown', 'wheel', 'touchstart'])
    addEventListener(kind, () => (atMs = Date.now()), { passive: true, capture: true })
}
