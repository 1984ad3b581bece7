/** Loads the English words for tests that read modules of the console outside a browser; imported first. */
import { words } from '../../../console/src/messages/en/console-words.ts'
import { words as pageWords } from '../../../console/src/messages/en/page-words.ts'
import { speak } from '../../../console/src/messages/t.ts'

speak('en', { ...words, ...pageWords })
