/**
 * The headers of a head that is being written, as lines. Invariant: no name and no value can end a header or
 * the head early, and none is about framing, which the writer of the head decides.
 */
import { isToken, numberOf, otherName } from './field-names.ts'
import { isFieldValue, parseFields, type Fields } from './fields.ts'

const framing = ['content-length', 'keep-alive', 'trailer', 'transfer-encoding', 'upgrade']
const answerFraming: ReadonlySet<number> = new Set(framing.map(numberOf))
/** In a request also those that would promise things that the gateway does not do. */
const requestFraming: ReadonlySet<number> = new Set(
  [...framing, 'connection', 'expect', 'host', 'te'].map(numberOf),
)
const date = numberOf('date')

export class HeadLines {
  /** Each ends in CRLF; one character per byte. */
  text = ''
  /** False once a header could not be added: the head must not be written. */
  isValid = true
  hasDate = false
  readonly #framing: ReadonlySet<number>

  constructor(framingNumbers: ReadonlySet<number>) {
    this.#framing = framingNumbers
  }

  add(name: string, value: string): void {
    const number = numberOf(name.toLowerCase())
    const isName = number === otherName ? isToken(name) : !this.#framing.has(number)
    this.isValid &&= isName && isFieldValue(value)
    this.hasDate ||= number === date
    this.text += `${name}: ${value}\r\n`
  }

  /** Adds a flat list of names and values. */
  addAll(headers: readonly string[]): this {
    for (let index = 0; index < headers.length; index += 2)
      this.add(headers[index] ?? '', headers[index + 1] ?? '')
    return this
  }

  /** Adds received fields, none of them about framing, as they came. */
  copy(fields: Fields, isKept: (index: number) => boolean): void {
    this.text += fields.linesOf(isKept)
    const at = this.hasDate ? -1 : fields.indexOf('date')
    this.hasDate ||= at !== -1 && isKept(at)
  }

  /** Returns the lines with other values, and without those of which `valueOf` returns none. */
  edit(valueOf: (fields: Fields, index: number) => string | undefined): HeadLines {
    const fields = parseFields(this.text, 0, Infinity)
    if (!this.isValid || typeof fields === 'string') return this
    const edited = new HeadLines(this.#framing)
    for (const index of fields.numbers.keys()) {
      const value = valueOf(fields, index)
      if (value !== undefined) edited.add(fields.name(index), value)
    }
    return edited
  }
}

export function requestLines(headers: readonly string[] = []): HeadLines {
  return new HeadLines(requestFraming).addAll(headers)
}

export function answerLines(headers: readonly string[] = []): HeadLines {
  return new HeadLines(answerFraming).addAll(headers)
}
