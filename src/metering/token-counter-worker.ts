/**
 * The thread that tokenizes text, so that the event loop does not. It does not know the purpose of a count
 * and keeps no text: a question is a text, its answer a number.
 */
import { countTokens, setMergeCacheSize } from 'gpt-tokenizer/encoding/o200k_base'
import { answerQuestions } from '../base/thread.ts'
import { cutSlices } from './token-estimate.ts'

// The tokenizer's cache would keep pieces of clients' answers in memory.
setMergeCacheSize(0)

/** Text that spells a control token is ordinary text here. */
const plainText = { disallowedSpecial: new Set<string>() }

answerQuestions((text: string): number => {
  let tokens = 0
  for (const slice of cutSlices(text)) tokens += countTokens(slice, plainText)
  return tokens
})
