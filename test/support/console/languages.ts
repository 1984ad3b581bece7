/**
 * The texts of the console and of the account page in each language, for tests that do the same in all of
 * them: a test names a text as the English messages write it.
 */
import assert from 'node:assert/strict'
import { words as englishAccount } from '../../../console/src/messages/en/account-words.ts'
import { words as englishConsole } from '../../../console/src/messages/en/console-words.ts'
import { words as englishPages } from '../../../console/src/messages/en/page-words.ts'
import type { Language } from '../../../console/src/messages/language.ts'
import { speak, t } from '../../../console/src/messages/t.ts'
import { words as chineseAccount } from '../../../console/src/messages/zh-cn/account-words.ts'
import { words as chineseConsole } from '../../../console/src/messages/zh-cn/console-words.ts'
import { words as chinesePages } from '../../../console/src/messages/zh-cn/page-words.ts'

const english = { ...englishConsole, ...englishPages, ...englishAccount }
const chinese = { ...chineseConsole, ...chinesePages, ...chineseAccount }
const words = { en: english, 'zh-CN': chinese }

type Values = Readonly<Record<string, string | number>>

/** Finds a text by the English message; `values` are its arguments. It is the whole text of an element. */
export type Say = (message: string, values?: Values) => RegExp

export function sayIn(language: Language): Say {
  speak(language, words[language])
  const translate = t as (key: string, values?: Values) => string
  return (message, values) => {
    const keys = keysOf(english, message)
    assert.ok(keys.length > 0, `no English message is: ${message}`)
    const texts = new Set(keys.map((key) => RegExp.escape(translate(key, values))))
    return new RegExp(`^(?:${[...texts].join('|')})$`)
  }
}

/** Different places may say the same in English, and differ in another language. */
function keysOf(messages: object, message: string): readonly string[] {
  return Object.entries(messages).flatMap(([key, value]) => {
    if (typeof value === 'string') return value === message ? [key] : []
    return keysOf(value as object, message).map((rest) => `${key}.${rest}`)
  })
}
