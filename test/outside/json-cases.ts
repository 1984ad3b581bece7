/** The cases in json-cases.txt as bytes, and what the product has decided about those with a choice. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface JsonCase {
  readonly name: string
  /** What the suite says: accept it, refuse it, or choose. */
  readonly kind: 'y' | 'n' | 'i'
  readonly bytes: Buffer
}

const piece = /("(?:[^"\\]|\\.)*")(?:×(\d+))?/g

export function readJsonCases(): readonly JsonCase[] {
  return readFileSync(join(import.meta.dirname, 'json-cases.txt'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [name = '', kind = ''] = /^([yni])_\S+/.exec(line) ?? []
      if (kind !== 'y' && kind !== 'n' && kind !== 'i') throw new TypeError(`no case: ${line}`)
      const texts = [...line.slice(name.length).matchAll(piece)].map(([, text = '', count = '1']) =>
        (JSON.parse(text) as string).repeat(Number(count)),
      )
      return { name, kind, bytes: Buffer.from(texts.join(''), 'latin1') }
    })
}

/** Who reads the JSON: bodies of model requests, bodies of operators and members, answers of vendors. */
export type Reader = 'request' | 'form' | 'answer'

/**
 * The cases with a choice by what they hold, and who accepts each; the first that fits counts. The
 * others, UTF-16 and a byte order mark, are refused by all three.
 *
 * - Numbers out of range: no body of a request may have one, because readers differ about it. In a form
 *   the schema of the field refuses it. In an answer it is infinite, and no count.
 * - Large integers, tiny numbers and single surrogates as escapes: JSON.parse reads them.
 * - Bytes that are not UTF-8: refused in each body. In an answer they are read as U+FFFD, as clients do.
 * - Levels: a form has at most 32, a request 512.
 */
const accepted: readonly (readonly [names: RegExp, readers: readonly Reader[]])[] = [
  [/^i_number_(?:huge|neg_int_huge|pos_double_huge)_exp$/, ['form', 'answer']],
  [/^i_number_real_(?:neg|pos)_overflow$/, ['form', 'answer']],
  [/^i_number_/, ['request', 'form', 'answer']],
  [/^i_string_(?:UTF-8|UTF8|invalid_utf-8|iso_latin_1|lone_utf8|not_in_unicode)/, ['answer']],
  [/^i_string_(?:overlong|truncated)/, ['answer']],
  [/surrogate|1st_valid/, ['request', 'form', 'answer']],
  [/^i_structure_500_nested_arrays$/, ['request', 'answer']],
]

/** A name that stands twice in an object is refused in a form: readers differ on which of the two counts. */
const repeatedNames = /^y_object_duplicated_key/

export function isAccepted(one: JsonCase, reader: Reader): boolean {
  if (one.kind === 'y') return reader !== 'form' || !repeatedNames.test(one.name)
  if (one.kind === 'n') return false
  return accepted.find(([names]) => names.test(one.name))?.[1].includes(reader) ?? false
}
