/** Light, dark, or as the system says. The choice is kept in this browser. */
import { buildSignal } from './signal.ts'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const storageKey = 'turnpike-theme'
const changed = buildSignal()
const systemDark = matchMedia('(prefers-color-scheme: dark)')
systemDark.addEventListener('change', changed.send)

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
  changed.send()
}

/** The choice. */
export function useTheme(): Theme {
  return changed.useValue(readTheme)
}

/** The theme on the screen. */
export function useThemeNow(): 'light' | 'dark' {
  return changed.useValue(() => {
    const theme = readTheme()
    return theme === 'system' ? (systemDark.matches ? 'dark' : 'light') : theme
  })
}
