/** Light, dark, or as the system says. The choice is kept in this browser. */
import { useSyncExternalStore } from 'react'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const storageKey = 'turnpike-theme'
const changed = new EventTarget()
const systemDark = matchMedia('(prefers-color-scheme: dark)')

function readTheme(): Theme {
  const kept = localStorage.getItem(storageKey)
  return themes.find((theme) => theme === kept) ?? 'system'
}

export function applyTheme(theme: Theme = readTheme()): void {
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(storageKey)
  else localStorage.setItem(storageKey, theme)
  applyTheme(theme)
  changed.dispatchEvent(new Event('change'))
}

function subscribe(onChange: () => void): () => void {
  changed.addEventListener('change', onChange)
  systemDark.addEventListener('change', onChange)
  return () => {
    changed.removeEventListener('change', onChange)
    systemDark.removeEventListener('change', onChange)
  }
}

/** The choice. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, readTheme)
}

/** The theme on the screen. */
export function useThemeNow(): 'light' | 'dark' {
  return useSyncExternalStore(subscribe, () => {
    const theme = readTheme()
    return theme === 'system' ? (systemDark.matches ? 'dark' : 'light') : theme
  })
}
