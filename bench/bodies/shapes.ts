/** Bodies of one size in every shape that is hard to read. Each is a request of the messages format. */
import { models } from '../exchanges.ts'

export interface Shape {
  readonly name: string
  readonly make: (bytes: number) => Buffer
}

const start = `{"model":"${models.messages}","max_tokens":5,`

/** `part` repeated between two ends; `#` stands for a number that makes each part different. */
function repeated(before: string, part: string, after: string): Shape['make'] {
  return (bytes) => {
    const parts: string[] = []
    let length = start.length + before.length + after.length
    for (let index = 0; length < bytes; index++) {
      const one = part.replace('#', String(index))
      parts.push(one)
      length += one.length + 1
    }
    return Buffer.from(start + before + parts.join(',') + after)
  }
}

/** One string that consists of `letters`. */
function oneString(letters: string): Shape['make'] {
  return (bytes) => {
    const text = letters.repeat(bytes / Buffer.byteLength(letters))
    return Buffer.from(`${start}"messages":[{"role":"user","content":"${text}"}]}`)
  }
}

export const shapes: readonly Shape[] = [
  { name: 'one long string', make: oneString('prompt ') },
  { name: 'a string of escapes', make: oneString('\\n') },
  { name: 'a string beyond ASCII', make: oneString('é') },
  { name: 'members at top level', make: repeated('"messages":[1],', '"S#":0', '}') },
  { name: 'members within a message', make: repeated('"messages":[{', '"S#":0', '}]}') },
  { name: 'names in capitals', make: repeated('"messages":[1],', '"MAX_TOKENZ#":0', '}') },
  { name: 'names with escapes', make: repeated('"messages":[1],', '"\\u0041#":0', '}') },
  {
    name: 'nested 500 deep',
    make: repeated('"messages":[', '['.repeat(500) + ']'.repeat(500), ']}'),
  },
  { name: 'empty lists', make: repeated('"messages":[', '[]', ']}') },
  { name: 'numbers', make: repeated('"messages":[', '1e9', ']}') },
  { name: 'short strings', make: repeated('"messages":[', '"ab"', ']}') },
  { name: 'content blocks', make: repeated('"messages":[{"content":[', '{"type":"a"}', ']}]}') },
  { name: 'tools', make: repeated('"messages":[1],"tools":[', '{"type":"a"}', ']}') },
]
