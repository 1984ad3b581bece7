/**
 * The characters of HTTP/1.1 heads (RFC 9110 section 5): what a field's name and value may contain, and a
 * block of fields read into a flat list. Pure and strict: a line that two programs could read in two ways
 * is refused, never repaired.
 */

const knownLengthMax = 64
const namesPerLengthMax = 16

interface SameLength {
  readonly names: string[]
  /** Where the next name goes. */
  next: number
}

/**
 * Names that have been checked, each as a separate string. A name is found by its characters where it
 * stands in a head: slicing it out first and hashing the slice costs several times as much, and a slice that
 * is kept would keep the whole head in memory, credentials included. Bounded: a new name takes the place of
 * the oldest of its length.
 */
export class KnownNames {
  readonly #byLength: readonly SameLength[] = Array.from({ length: knownLengthMax + 1 }, () => ({
    names: [],
    next: 0,
  }))

  constructor(names: Iterable<string> = []) {
    for (const name of names) this.add(name)
  }

  /** Returns the name in `text` from `from` up to `to` if it is known. */
  find(text: string, from: number, to: number): string | undefined {
    const known = this.#byLength[to - from]
    if (known === undefined) return undefined
    for (const name of known.names) if (text.startsWith(name, from)) return name
    return undefined
  }

  has(name: string): boolean {
    const known = this.#byLength[name.length]
    if (known === undefined) return false
    for (const one of known.names) if (one === name) return true
    return false
  }

  /** Returns the kept string; a name too long to keep is returned as it is. */
  add(name: string): string {
    const known = this.#byLength[name.length]
    if (known === undefined) return name
    const own = Buffer.from(name, 'latin1').toString('latin1')
    known.names[known.next] = own
    known.next = (known.next + 1) % namesPerLengthMax
    return own
  }
}

const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

const knownTokens = new KnownNames()

/** Returns true for a field name or a method. The same few come again and again. */
export function isToken(text: string): boolean {
  if (knownTokens.has(text)) return true
  if (!tokenPattern.test(text)) return false
  knownTokens.add(text)
  return true
}

/** Returns the token in `text` from `from` up to `to`. */
function tokenAt(text: string, from: number, to: number): string | undefined {
  const known = knownTokens.find(text, from, to)
  if (known !== undefined) return known
  const name = text.slice(from, to)
  return tokenPattern.test(name) ? knownTokens.add(name) : undefined
}

const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/

/** Returns true for text that can be a field's value: no control character but the tab. */
export function isFieldValue(text: string): boolean {
  return fieldValue.test(text)
}

const colon = ':'
const space = 0x20
const tab = 0x09

/**
 * Lines that end in CRLF, without a control character but the tab. A pattern of allowed characters is
 * several times as fast as a search for forbidden ones.
 */
const fieldText = /^(?:[\t\x20-\x7e\x80-\xff]*\r\n)*$/

/**
 * Reads lines `name: value`, each ended by CRLF, from `start` to the end of the text. Returns a flat
 * list of names and values as received, without the white space around the values. Reads at most
 * `countMax` fields. The text before `start` must consist of lines as well.
 */
export function parseFields(
  text: string,
  start: number,
  countMax: number,
): string[] | 'malformed' | 'too_many' {
  // One test of the whole text costs a fraction of one test per value.
  if (!fieldText.test(text)) return 'malformed'
  const fields: string[] = []
  for (let at = start; at < text.length;) {
    if (fields.length === 2 * countMax) return 'too_many'
    const lineEnd = text.indexOf('\n', at) - 1
    const nameEnd = text.indexOf(colon, at)
    if (nameEnd === -1 || nameEnd > lineEnd) return 'malformed'
    const name = tokenAt(text, at, nameEnd)
    if (name === undefined) return 'malformed'
    fields.push(name, sliceTrimmed(text, nameEnd + 1, lineEnd))
    at = lineEnd + 2
  }
  return fields
}

function sliceTrimmed(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(character: number): boolean {
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
