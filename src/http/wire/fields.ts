/**
 * The header fields of one head: the head's text, the number of each name, and where names and values stand.
 * Texts are sliced when they are asked for. Pure and strict: a line that two programs could read in two ways
 * is refused, never repaired.
 */
import { fieldNames, numberAt, numberOf, otherName } from './field-names.ts'

/** Between a name and its value: colon and space. */
const separatorBytes = 2
const lineEndBytes = 2

export class Fields {
  /** One character per byte. It ends with the fields, each as a line `name: value` and CRLF. */
  readonly text: string
  /** Of the names, in order. */
  readonly numbers: readonly number[]
  /** Of each field the start and the end of its name. */
  readonly #places: readonly number[]

  constructor(text: string, numbers: readonly number[], places: readonly number[]) {
    this.text = text
    this.numbers = numbers
    this.#places = places
  }

  /** As received. */
  name(index: number): string {
    return this.text.slice(this.#start(index), this.#places[2 * index + 1])
  }

  /** Without white space around it. */
  value(index: number): string {
    const nameEnd = this.#places[2 * index + 1] ?? 0
    return this.text.slice(nameEnd + separatorBytes, this.#start(index + 1) - lineEndBytes)
  }

  /** With its line end. */
  line(index: number): string {
    return this.text.slice(this.#start(index), this.#start(index + 1))
  }

  /** Returns the lines of the kept fields; those of neighbours are copied together. */
  linesOf(isKept: (index: number) => boolean): string {
    let lines = ''
    let from = -1
    for (let index = 0; index < this.numbers.length; index++) {
      if (isKept(index)) {
        if (from === -1) from = this.#start(index)
      } else if (from !== -1) {
        lines += this.text.slice(from, this.#start(index))
        from = -1
      }
    }
    return from === -1 ? lines : lines + this.text.slice(from)
  }

  /** Takes a name in lower case. */
  isNamed(index: number, name: string): boolean {
    const number = this.numbers[index] ?? otherName
    return number === otherName ? isNamed(this.name(index), name) : fieldNames[number] === name
  }

  /** Returns the first field of this lower-case name from `from` on; -1 where there is none. */
  indexOf(name: string, from = 0): number {
    const number = numberOf(name)
    if (number !== otherName) return this.numbers.indexOf(number, from)
    return this.numbers.findIndex((_, index) => index >= from && this.isNamed(index, name))
  }

  /** Returns the first value of a lower-case name. */
  find(name: string): string | undefined {
    const index = this.indexOf(name)
    return index === -1 ? undefined : this.value(index)
  }

  /** Returns all values of a lower-case name. */
  values(name: string): string[] {
    const values: string[] = []
    for (let at = this.indexOf(name); at !== -1; at = this.indexOf(name, at + 1))
      values.push(this.value(at))
    return values
  }

  /** Returns a flat list of names and values. */
  flat(isKept: (index: number) => boolean = () => true): string[] {
    const pairOf = (index: number): string[] => [this.name(index), this.value(index)]
    return this.numbers.flatMap((_, index) => (isKept(index) ? pairOf(index) : []))
  }

  filter(isKept: (index: number) => boolean): Fields {
    return fieldsOf(this.flat(isKept))
  }

  #start(index: number): number {
    return this.#places[2 * index] ?? this.text.length
  }
}

/** Returns fields that have not come in a head, from a flat list of names and values. */
export function fieldsOf(flat: readonly string[]): Fields {
  let text = ''
  const numbers: number[] = []
  const places: number[] = []
  for (let index = 0; index + 1 < flat.length; index += 2) {
    const name = flat[index] ?? ''
    numbers.push(numberOf(name.toLowerCase()))
    places.push(text.length, text.length + name.length)
    text += `${name}: ${flat[index + 1] ?? ''}\r\n`
  }
  return new Fields(text, numbers, places)
}

const space = 0x20
const tab = 0x09

const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/

/** Returns true for text that can be a field's value: no control character but the tab. */
export function isFieldValue(text: string): boolean {
  return fieldValue.test(text)
}

/**
 * Lines that end in CRLF, without a control character but the tab. A pattern of allowed characters is
 * several times as fast as a search for forbidden ones.
 */
const fieldText = /^(?:[\t\x20-\x7e\x80-\xff]*\r\n)*$/

/**
 * Reads lines `name: value`, each ended by CRLF, from `start` to the end of the text, at most `countMax` of
 * them. The text before `start` must consist of lines as well.
 */
export function parseFields(
  text: string,
  start: number,
  countMax: number,
): Fields | 'malformed' | 'too_many' {
  // One test of the whole text costs a fraction of one test per value.
  if (!fieldText.test(text)) return 'malformed'
  let count = 0
  let isPlain = true
  for (let at = start; at < text.length; count++) {
    if (count === countMax) return 'too_many'
    const lineEnd = text.indexOf('\n', at) - 1
    const nameEnd = text.indexOf(':', at)
    if (nameEnd === -1 || nameEnd > lineEnd) return 'malformed'
    const number = numberAt(text, at, nameEnd)
    if (number === -1) return 'malformed'
    isPlain &&=
      text.charCodeAt(nameEnd + 1) === space &&
      text.charCodeAt(nameEnd + 2) > space &&
      text.charCodeAt(lineEnd - 1) > space
    numbers[count] = number
    places[2 * count] = at
    places[2 * count + 1] = nameEnd
    at = lineEnd + 2
  }
  const fields = new Fields(text, numbers.slice(0, count), places.slice(0, 2 * count))
  return isPlain ? fields : withPlainLines(fields)
}

/** Filled by one head after the other, so that no list has to grow. */
const numbers: number[] = []
const places: number[] = []

/** Writes each line anew, with one space before the value and none behind it. */
function withPlainLines(fields: Fields): Fields {
  const flat = fields.numbers.flatMap((_, index) => {
    const name = fields.name(index)
    return [name, trimmed(fields.line(index).slice(name.length + 1, -lineEndBytes))]
  })
  return fieldsOf(flat)
}

function trimmed(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isBlank(text, start)) start++
  while (end > start && isBlank(text, end - 1)) end--
  return text.slice(start, end)
}

function isBlank(text: string, at: number): boolean {
  const character = text.charCodeAt(at)
  return character === space || character === tab
}

/** Compares lengths first: lower-casing every name would cost more than everything else here. */
export function isNamed(name: string, lowerCaseName: string): boolean {
  return (
    name === lowerCaseName ||
    (name.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName)
  )
}

/** Returns whether a list such as `Connection` has a member, in any case. */
export function hasListMember(value: string, lowerCaseMember: string): boolean {
  if (isNamed(value, lowerCaseMember)) return true
  return value.includes(',') && value.split(',').some((one) => isNamed(one.trim(), lowerCaseMember))
}
