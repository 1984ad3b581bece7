/**
 * The language of the page: chosen by the person, else the first that the browser prefers and that there is.
 * A page keeps its language until it is loaded again.
 */
export const languages = ['en', 'zh-CN'] as const
export type Language = (typeof languages)[number]

/** Each in its own language, as every list of languages has them. */
export const languageNames: Readonly<Record<Language, string>> = {
  en: 'English',
  'zh-CN': '简体中文',
}

const storageKey = 'turnpike-language'

function isLanguage(text: string | null): text is Language {
  return languages.some((language) => language === text)
}

function preferredLanguage(): Language {
  for (const wanted of navigator.languages) {
    const main = wanted.split('-')[0]
    const found = languages.find((language) => language.split('-')[0] === main)
    if (found !== undefined) return found
  }
  return 'en'
}

function readChoice(): string | null {
  try {
    return localStorage.getItem(storageKey)
  } catch {
    return null // A browser may refuse to keep anything.
  }
}

function findLanguage(): Language {
  if (!('document' in globalThis)) return 'en' // A test that reads a module outside a browser.
  const chosen = readChoice()
  return isLanguage(chosen) ? chosen : preferredLanguage()
}

export const language: Language = findLanguage()

/** Keeps the choice; it is in force from the next load of the page on. */
export function keepLanguage(chosen: Language): void {
  localStorage.setItem(storageKey, chosen)
}
