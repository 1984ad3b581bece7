/** The account page: loads the words of its language, then the app, whose modules use them at once. */
import { language } from '../messages/language.ts'
import { hearLater, speak } from '../messages/t.ts'

const { words } = await (language === 'en'
  ? import('../messages/en/account-words.ts')
  : import('../messages/zh-cn/account-words.ts'))
document.documentElement.lang = language
speak(language, words)
if (language !== 'en') hearLater(language, import('../messages/zh-cn/said/said.ts'))
await import('./account-app.tsx')
