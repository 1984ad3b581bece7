/**
 * The characters of HTTP/1.1 heads (RFC 9110 section 5): what a field's name and its value may
 * consist of, and a block of fields read into a flat list. Pure and strict: a line that two programs
 * could read in two ways is refused, never repaired.
 */
import { KnownNames } from './known-names.ts'

const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

const knownTokens = new KnownNames()

/** True for a field name or a method: the same few come over and over. */
export function isToken(text: string): boolean {
  if (knownTokens.has(text)) return true
  if (!tokenPattern.test(text)) return false
  knownTokens.add(text)
  return true
}

/** The token that stands in `text` from `from` up to `to`. */
function tokenAt(text: string, from: number, to: number): string | undefined {
  const known = knownTokens.find(text, from, to)
  if (known !== undefined) return known
  const name = text.slice(from, to)
  return tokenPattern.test(name) ? knownTokens.add(name) : undefined
}

const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/

/** True for text that can stand as a field's value: no control character but the tab. */
export function isFieldValue(text: string): boolean {
  return fieldValue.test(text)
}

const colon = ':'
const space = 0x20
const tab = 0x09

/**
 * Lines that end in CRLF, without a control character but the tab. A pattern for what must be there is
 * several times as fast as one that looks for what must not.
 */
const fieldText = /^(?:[\t\x20-\x7e\x80-\xff]*\r\n)*$/

/**
 * Reads lines `name: value`, each closed by CRLF, from `start` to the end of the text. Gives a flat
 * list of names and values as received, without the white space around the values. No more than
 * `countMax` fields are looked at. What stands before `start` has to be lines as well.
 */
export function parseFields(
  text: string,
  start: number,
  countMax: number,
): string[] | 'malformed' | 'too_many' {
  // Once over the whole text costs a fraction of once per value.
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

/** Lengths first: lower-casing every name would cost more than all the rest. */
export function isNamed(name: string, lowerCaseName: string): boolean {
  return (
    name === lowerCaseName ||
    (name.length === lowerCaseName.length && name.toLowerCase() === lowerCaseName)
  )
}

/** Whether a list such as `Connection` has a member, in whatever case. */
export function hasListMember(value: string, lowerCaseMember: string): boolean {
  if (isNamed(value, lowerCaseMember)) return true
  return value.includes(',') && value.split(',').some((one) => isNamed(one.trim(), lowerCaseMember))
}
