/**
 * The scripts that load after the first screen. All of them load while the page is idle, so that a page that
 * stays open works after the gateway behind it was replaced. One that is missing then belongs to another
 * release: the page loads again, once a minute at most.
 */
import { loadPages } from './later-pages.ts'

const storageKey = 'turnpike-loaded-again'
const restMs = 60_000
const startMs = 1_000
/** Before anyone needs it, a script that does not come harms nothing. */
let isEarly = false

export function watchMissingScripts(): void {
  addEventListener('vite:preloadError', () => {
    const lastMs = Number(sessionStorage.getItem(storageKey) ?? 0)
    if (isEarly || Date.now() - lastMs < restMs) return
    sessionStorage.setItem(storageKey, String(Date.now()))
    location.reload()
  })
}

export function loadLater(): void {
  const load = async (): Promise<void> => {
    isEarly = true
    await Promise.allSettled([import('./ui/plot.tsx'), loadPages()])
    await Promise.allSettled([
      import('./pages/entries/forms.tsx'),
      import('./pages/models/code-editor.tsx'),
    ])
    isEarly = false
  }
  setTimeout(() => {
    if ('requestIdleCallback' in globalThis) requestIdleCallback(() => void load())
    else void load()
  }, startMs)
}
