/**
 * The characters of HTTP/1.1 heads (RFC 9110 section 5): what a field's name and its value may
 * consist of, and a block of fields read into a flat list. Pure and strict: a line that two programs could read in two
 * ways is refused, never repaired.
 */

const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** Names a peer could think up are remembered only up to here; more are looked at each time. */
const rememberedNamesMax = 1_024
const rememberedNameLengthMax = 64

const rememberedTokens = new Set<string>()

/** True for a field name or a method: the same few come over and over, and a look-up is cheapest. */
export function isToken(text: string): boolean {
  if (rememberedTokens.has(text)) return true
  if (!tokenPattern.test(text)) return false
  if (rememberedTokens.size < rememberedNamesMax && text.length <= rememberedNameLengthMax)
    rememberedTokens.add(text)
  return true
}

const notFieldValue = /[^\t\x20-\x7e\x80-\xff]/

/** True for text that can stand as a field's value: no control character but the tab. */
export function isFieldValue(text: string): boolean {
  return !notFieldValue.test(text)
}

const colon = 0x3a
const space = 0x20
const tab = 0x09

/** A control character other than the tab, or a line end that is not CRLF. */
const notFieldText = /[^\t\r\n\x20-\x7e\x80-\xff]|\r[^\n]|[^\r]\n/

/**
 * Reads lines `name: value`, each closed by CRLF, from `start` to the end of the text. Gives a flat
 * list of names and values as received, without the white space around the values. No more than
 * `countMax` fields are looked at.
 */
export function parseFields(
  text: string,
  start: number,
  countMax: number,
): string[] | 'malformed' | 'too_many' {
  // Once over the whole text costs a fraction of once per value.
  if (notFieldText.test(text)) return 'malformed'
  const fields: string[] = []
  for (let at = start; at < text.length;) {
    if (fields.length === 2 * countMax) return 'too_many'
    const lineEnd = text.indexOf('\r\n', at)
    let nameEnd = at
    while (nameEnd < lineEnd && text.charCodeAt(nameEnd) !== colon) nameEnd++
    if (lineEnd === -1 || nameEnd === lineEnd) return 'malformed'
    const name = text.slice(at, nameEnd)
    const value = sliceTrimmed(text, nameEnd + 1, lineEnd)
    if (!isToken(name)) return 'malformed'
    fields.push(name, value)
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
