/**
 * The thread that tokenizes text, so that the event loop does not. It does not know what it counts for
 * and keeps no text: answers are numbers, in the order of the questions.
 */
import { parentPort } from 'node:worker_threads'
import { countTokens, setMergeCacheSize } from 'gpt-tokenizer/encoding/o200k_base'
import { InvariantError } from '../base/errors.ts'
import { cutSlices } from './token-estimate.ts'

export interface CountQuestion {
  readonly id: number
  readonly text: string
}

export interface CountAnswer {
  readonly id: number
  readonly tokens: number
}

const port = parentPort
if (port === null) throw new InvariantError('the token counter runs as a worker thread')

// The tokenizer's cache would keep pieces of clients' answers in memory.
setMergeCacheSize(0)

/** Text that spells a control token is ordinary text here. */
const plainText = { disallowedSpecial: new Set<string>() }

port.on('message', ({ id, text }: CountQuestion) => {
  let tokens = 0
  for (const slice of cutSlices(text)) tokens += countTokens(slice, plainText)
  port.postMessage({ id, tokens } satisfies CountAnswer)
})
