/** The console: loads the words of its language, then the app, whose modules use them at once. */
import { language } from './messages/language.ts'
import { hearLater, speak } from './messages/t.ts'

const { words } = await (language === 'en'
  ? import('./messages/en/console-words.ts')
  : import('./messages/zh-cn/console-words.ts'))
document.documentElement.lang = language
speak(language, words)
if (language !== 'en') hearLater(language, import('./messages/zh-cn/said/said.ts'))
await import('./console-app.tsx')
