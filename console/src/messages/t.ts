/**
 * Texts by their key, in the language of the page: `t('requests.shown', { count })`; `t.rich` for texts with
 * elements. Messages are written in ICU's form; the compiler knows the keys and the arguments of each.
 *
 * Words are here before any module of a page is evaluated: the entry loads them first, then the app.
 */
import { createTranslator } from 'use-intl/core'
import type { words as accountWords } from './en/account-words.ts'
import type { words as consoleWords } from './en/console-words.ts'
import type { words as pageWords } from './en/page-words.ts'
import type { Language } from './language.ts'
import type { Translation } from './translation.ts'

type Words = typeof accountWords & typeof consoleWords & typeof pageWords
/** Sentences that the gateway writes, by their code. */
interface Sentences {
  readonly [code: string]: string | Sentences
}
/** The words to begin with, in any language; English has no sentences, because the gateway writes it. */
type FirstWords = (Translation<typeof accountWords> | Translation<typeof consoleWords>) & Heard
interface Heard {
  readonly said?: Sentences
  /** Those without a code, by their English form. */
  readonly sentences?: Readonly<Record<string, string>>
}

/** As the gateway gives them with a sentence. */
export type Facts = Readonly<Record<string, string | number | null | readonly string[]>>

export let t: ReturnType<typeof createTranslator<Words>>
let spoken: object = {}
let namesOf: Intl.ListFormat
let forms: readonly (readonly [form: RegExp, text: string])[]
let sentenceOf: (code: string, values: Readonly<Record<string, string | number>>) => string
/** Resolves when the sentences of the gateway are here, or cannot be had. Its answers wait for it. */
export let isHeard: Promise<void> = Promise.resolve()

export function speak(language: Language, words: FirstWords): void {
  spoken = {}
  addWords(language, words)
  namesOf = new Intl.ListFormat(language)
  hear(language, words)
}

/** A text that is not among the words so far is not asked for. */
export function addWords(
  language: Language,
  words: FirstWords | Translation<typeof pageWords>,
): void {
  spoken = { ...spoken, ...words }
  t = createTranslator<Words>({
    locale: language,
    messages: spoken as Words,
    onError(error) {
      throw error
    },
  })
}

/** Of a page whose sentences of the gateway load a moment later than its words. */
export function hearLater(language: Language, loading: Promise<Heard>): void {
  isHeard = loading.then(
    (heard) => hear(language, heard),
    // The gateway's own words are there.
    () => undefined,
  )
}

function hear(language: Language, { said: messages = {}, sentences = {} }: Heard): void {
  forms = formsOf(sentences)
  sentenceOf = createTranslator<Readonly<Record<string, string>>>({
    locale: language,
    messages: messages as Readonly<Record<string, string>>,
    // A gateway of another version may have another code, or other facts.
    onError() {},
    getMessageFallback: () => '',
  })
}

/** A sentence of the gateway in the language of the page; in its own words where the code is unknown. */
export function said(code: string, sentence: string, facts: Facts = {}): string {
  const values = Object.entries(facts).map(([name, value]) => [name, valueOf(value)] as const)
  return sentenceOf(code, Object.fromEntries(values)) || sentence
}

/** A sentence of the gateway that has no code; in its own words where its form is unknown. */
export function reworded(sentence: string): string {
  for (const [form, text] of forms) {
    const found = form.exec(sentence)
    if (found === null) continue
    return text.replaceAll(/{(\w+)}/g, (_, name: string) => {
      const given = found.groups?.[name] ?? ''
      return name === 'reason' ? reworded(given) : given
    })
  }
  return sentence
}

/** A name in braces stands for any text, `reason` for a sentence. The form with the most text comes first. */
function formsOf(sentences: Readonly<Record<string, string>>): typeof forms {
  return Object.entries(sentences)
    .toSorted(([one], [other]) => other.length - one.length)
    .map(([form, text]) => {
      const parts = form
        .split(/{(\w+)}/)
        .map((part, index) =>
          index % 2 === 1 ? `(?<${part}>.*?)` : part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'),
        )
      return [new RegExp(`^${parts.join('')}$`, 's'), text] as const
    })
}

/** A message selects by `none` where there is nothing. */
function valueOf(fact: Facts[string]): string | number {
  if (fact === null || fact === '') return 'none'
  return typeof fact === 'object' ? namesOf.format(fact) : fact
}
