/**
 * Where a cursor is in the catalogue file: below which keys, at a key or at a value. It reads lines and
 * indentation, not a whole document, because an unfinished line is not valid yet. Pure.
 */

export interface YamlPlace {
  /** Keys from the outside in, such as `channels`, `alpha-main`, `rank`. */
  readonly path: readonly string[]
  /** Whether a value is written here, that of the last key of the path; otherwise a key. */
  readonly isValue: boolean
  /** The part that is already written. */
  readonly word: string
}

/** `before` is the text from the start of the document up to the cursor. */
export function placeAt(before: string): YamlPlace {
  const lines = before.split('\n')
  const line = lines.pop() ?? ''
  const outer = outerKeys(lines, indentOf(line))
  return placeInLine(outer, line.trimStart().replace(/^(- +)+/, ''))
}

const keyPattern = /^\s*(?:- +)*("[^"]*"|'[^']*'|[^\s#'"{[][^#]*?):(?:\s|$)/

/** The keys that a line of this indentation is below. */
function outerKeys(lines: readonly string[], indent: number): readonly string[] {
  const keys: string[] = []
  let inner = indent
  for (const line of lines.toReversed()) {
    if (inner === 0) break
    if (/^\s*(#|$)/.test(line) || indentOf(line) >= inner) continue
    const key = keyPattern.exec(line)?.[1]
    if (key !== undefined) keys.unshift(unquoted(key))
    inner = indentOf(line)
  }
  return keys
}

/** Reads `key: { inner: [` and what follows, up to the cursor. */
function placeInLine(outer: readonly string[], line: string): YamlPlace {
  /** The last key of each open bracket; undefined where none was written yet. */
  const open: (string | undefined)[] = []
  let key: string | undefined
  let word = ''
  let quote = ''
  for (const char of line) {
    if (quote !== '') {
      if (char === quote) quote = ''
      word += char
    } else if (char === '"' || char === "'") {
      quote = char
      word += char
    } else if (char === '{' || char === '[') {
      open.push(key)
      // Items of a list are values of the list's key.
      key = char === '[' ? key : undefined
      word = ''
    } else if (char === '}' || char === ']') {
      key = open.pop()
      word = ''
    } else if (char === ',' && open.length > 0) {
      if (key !== open.at(-1)) key = undefined
      word = ''
    } else if (char === ' ' && word.endsWith(':')) {
      key = unquoted(word.slice(0, -1).trim())
      word = ''
    } else word += char
  }
  const inner = open.filter((each) => each !== undefined).filter((each) => each !== key)
  return {
    path: [...outer, ...inner, ...(key === undefined ? [] : [key])],
    isValue: key !== undefined,
    word: word.trimStart(),
  }
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length
}

function unquoted(key: string): string {
  return key.replace(/^(["'])(.*)\1$/, '$2')
}

/** The line of an entry, counted from 1; undefined where the file has none of that name. */
export function lineOfEntry(text: string, section: string, entry: string): number | undefined {
  const lines = text.split('\n')
  const start = lines.findIndex((line) => line.startsWith(`${section}:`))
  if (start < 0) return undefined
  const rest = lines.slice(start + 1)
  const end = rest.findIndex((line) => /^[^\s#]/.test(line))
  const found = (end < 0 ? rest : rest.slice(0, end)).findIndex((line) => {
    const key = keyPattern.exec(line)?.[1]
    return indentOf(line) <= 2 && key !== undefined && unquoted(key) === entry
  })
  return found < 0 ? undefined : start + found + 2
}
