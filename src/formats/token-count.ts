/** Reads the answer of operations that count the tokens of a request: a count, of which nothing is billed. */
import type { AnswerReading } from './answer.ts'
import { asObject, parseJson } from './json.ts'
import { emptyReading } from './output.ts'

const countAnswer: AnswerReading = { kind: 'answer', reading: emptyReading }

export function readTokenCount(body: Buffer): AnswerReading {
  const count = asObject(parseJson(body.toString('utf8')))?.['input_tokens']
  return typeof count === 'number' ? countAnswer : { kind: 'not_the_format' }
}
