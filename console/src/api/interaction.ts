/** Remembers when the person last did something: only that keeps a session from its idle limit. */
let atMs = Date.now()

const userWindowMs = 60_000

/** Says whether a person has caused a request, or a timer that reads again. */
export function causeOfRequest(): 'user' | 'background' {
  return Date.now() - atMs < userWindowMs ? 'user' : 'background'
}

export function watchInteraction(): void {
  for (const kind of ['pointerdown', 'keydown', 'wheel', 'touchstart'])
    addEventListener(kind, () => (atMs = Date.now()), { passive: true, capture: true })
}
