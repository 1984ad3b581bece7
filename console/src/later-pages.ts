/** Loads the pages after the first screen: their words first, which their modules use at once. */
import { language } from './messages/language.ts'
import { addWords } from './messages/t.ts'

export async function loadPages() {
  const { words } = await (language === 'en'
    ? import('./messages/en/page-words.ts')
    : import('./messages/zh-cn/page-words.ts'))
  addWords(language, words)
  return import('./pages/later.ts')
}
