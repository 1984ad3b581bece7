/** The sentences of the gateway as the console says them in Chinese. */
import assert from 'node:assert/strict'
import { reworded, said, speak, type Facts } from '../../../console/src/messages/t.ts'
import { words } from '../../../console/src/messages/zh-cn/console-words.ts'
import * as sentences from '../../../console/src/messages/zh-cn/said/said.ts'

/** Fails where the code has no Chinese text, or where the text needs a fact that is not given. */
export function inChinese(code: string, facts?: Facts): string {
  speak('zh-CN', { ...words, ...sentences })
  const text = said(code, '', facts)
  assert.match(text, /\p{Script=Han}/u, `${code} ${JSON.stringify(facts)}`)
  return text
}

/** Whether the Chinese console knows a sentence that has no code. */
export function isKnownInChinese(sentence: string): boolean {
  speak('zh-CN', { ...words, ...sentences })
  return reworded(sentence) !== sentence
}
