/** Reads the answer of operations that count the tokens of a request: a count, of which nothing is billed. */
import type { AnswerReading } from './answer.ts'
import { asObject, type WantedJson } from './json.ts'
import { emptyReading } from './output.ts'

const countAnswer: AnswerReading = { kind: 'answer', reading: emptyReading }

export const tokenCountMembers: WantedJson = { names: new Set(['input_tokens']) }

export function readTokenCount(answer: unknown): AnswerReading {
  const count = asObject(answer)?.['input_tokens']
  return typeof count === 'number' ? countAnswer : { kind: 'not_the_format' }
}
