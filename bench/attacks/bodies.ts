/** Bodies of every shape that is hard to read, each a request of the messages format. */
import { models } from '../exchanges.ts'

type Make = (bytes: number) => string

const start = `{"model":"${models.messages}","max_tokens":5,`

/** `part` repeated up to a length, with commas; `#` stands for a number that makes each part different. */
export function repeated(part: string, bytes: number): string {
  const parts: string[] = []
  for (let index = 0, length = 0; length < bytes; index++) {
    const one = part.replaceAll('#', String(index))
    parts.push(one)
    length += one.length + 1
  }
  return parts.join(',')
}

function between(before: string, part: string, after: string): Make {
  return (bytes) => `${start}${before}${repeated(part, bytes)}${after}`
}

/** One string that consists of `letters`. */
function oneString(letters: string): Make {
  return (bytes) => {
    const text = letters.repeat(bytes / Buffer.byteLength(letters))
    return `${start}"messages":[{"role":"user","content":"${text}"}]}`
  }
}

/** By the name of the attack. */
export const bodyShapes: Readonly<Record<string, Make>> = {
  'a string of escapes': oneString('\\n'),
  'members at top level': between('"messages":[1],', '"S#":0', '}'),
  'lists 500 deep': between('"messages":[', '['.repeat(500) + ']'.repeat(500), ']}'),
  'content blocks': between('"messages":[{"content":[', '{"type":"a"}', ']}]}'),
  tools: between('"messages":[1],"tools":[', '{"type":"a"}', ']}'),
}
