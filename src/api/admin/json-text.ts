/**
 * Parses the bytes of a JSON body. It refuses more levels than any endpoint needs, because code that walks a
 * value is recursive, and a name that stands twice, because readers differ on which of the two counts.
 */
import { refuse, type Refusal } from '../../base/errors.ts'
import { isObject } from '../../base/object.ts'
import { plainStringEnd } from '../../formats/scan.ts'

export type ParsedJson =
  | { readonly kind: 'body'; readonly value: Readonly<Record<string, unknown>> }
  | Refusal

/** The bodies of all endpoints have three. */
const depthMax = 32

const decoder = new TextDecoder('utf-8', { fatal: true })

export function parseJsonObject(bytes: Uint8Array): ParsedJson {
  let value: unknown
  try {
    const text = decoder.decode(bytes)
    const fault = findFault(text)
    if (fault !== undefined) return refuse('operations.invalid', fault)
    value = JSON.parse(text)
  } catch (error) {
    // TypeError: no UTF-8. SyntaxError: no JSON.
    if (!(error instanceof TypeError) && !(error instanceof SyntaxError)) throw error
    return refuse('http.malformed', 'The body is not valid JSON in UTF-8.')
  }
  if (!isObject(value)) return refuse('operations.invalid', 'The body must be a JSON object.')
  return { kind: 'body', value }
}

/**
 * Returns the reason to refuse a text that may be valid JSON. For any other text it may return anything or
 * throw a SyntaxError.
 */
function findFault(text: string): string | undefined {
  /** The names of each open object; undefined for an open list. */
  const open: (Set<string> | undefined)[] = []
  let last = { start: 0, end: 0 }
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '"') {
      const end = plainStringEnd(text, at + 1)
      last = { start: at, end: end === -1 ? text.length : end }
      at = last.end
    } else if (character === '{' || character === '[') {
      open.push(character === '{' ? new Set() : undefined)
      if (open.length > depthMax) return `The body may have at most ${depthMax} levels.`
    } else if (character === '}' || character === ']') open.pop()
    else if (character === ':') {
      const written = text.slice(last.start, last.end + 1)
      const name = JSON.parse(written) as string
      const names = open.at(-1)
      if (names?.has(name) === true)
        return `The name ${written} stands twice in one object of the body.`
      names?.add(name)
    }
  }
  return undefined
}
