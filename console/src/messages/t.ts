/**
 * Texts by their key, in the language of the page: `t('requests.shown', { count })`; `t.rich` for texts with
 * elements. Messages are written in ICU's form; the compiler knows the keys and the arguments of each.
 *
 * Words are here before any module of a page is evaluated: the entry loads them first, then the app.
 */
import { createTranslator } from 'use-intl/core'
import type { words as accountWords } from './en/account-words.ts'
import type { words as consoleWords } from './en/console-words.ts'
import type { Language } from './language.ts'
import type { Translation } from './translation.ts'

type Words = typeof accountWords & typeof consoleWords
/** The words of one page, in any language. */
type PageWords = Translation<typeof accountWords> | Translation<typeof consoleWords>

export let t: ReturnType<typeof createTranslator<Words>>

/** Texts of the other page are never asked for. */
export function speak(language: Language, words: PageWords): void {
  t = createTranslator<Words>({
    locale: language,
    messages: words as Words,
    onError(error) {
      throw error
    },
  })
}
