/** The console: loads the words of its language, then the app, whose modules use them at once. */
import { language } from './messages/language.ts'
import { speak } from './messages/t.ts'

const { words } = await (language === 'en'
  ? import('./messages/en/console-words.ts')
  : import('./messages/zh-cn/console-words.ts'))
document.documentElement.lang = language
speak(language, words)
await import('./console-app.tsx')
