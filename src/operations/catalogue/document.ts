/**
 * Reads YAML text into plain data and keeps the line of each value. It knows no vendor and no channel,
 * only text, lines and paths. Size, depth and aliases are bounded.
 */
import {
  LineCounter,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  parseDocument,
  visit,
  type Document,
  type Node,
  type ParsedNode,
} from 'yaml'

export interface Mistake {
  /** Line and column count from 1. */
  readonly line: number
  readonly column: number
  /** Such as `channels.alpha-main.url`; empty for the file as a whole. */
  readonly path: string
  readonly message: string
}

export type Path = readonly (string | number)[]

/** A mistake in plain data, at the value of `path` or at its key. */
export interface Fault {
  readonly path: Path
  readonly message: string
  readonly prefer: 'key' | 'value'
}

/** Leaves out what could be a secret in the wrong place: no name has such long runs of letters and digits. */
export function withoutSecrets(text: string): string {
  return text.replaceAll(/[A-Za-z0-9]{24,}|[\w-]{40,}/g, '…')
}

/** A key of a file can be any text: an empty one, or one of control characters. */
export function shownKey(key: string): string {
  return /^[\w.:@/+ [\]-]*\w$/.test(key) ? key : JSON.stringify(key)
}

/** Reports a fault; without `prefer` it is at the value. */
export type Complain = (path: Path, message: string, prefer?: Fault['prefer']) => void

interface Located {
  readonly value: unknown
  /** Finds the place of a fault: of its value or key, or of the nearest parent. */
  locate(fault: Fault): Mistake
}

export type ReadDocument =
  | {
      readonly kind: 'document'
      readonly document: Located
      /** Duplicate keys; the rest of the file can still be checked. */
      readonly duplicates: readonly Mistake[]
    }
  | { readonly kind: 'mistakes'; readonly list: readonly Mistake[] }

const catalogueLengthMax = 4_194_304
const aliasesMax = 1_000

export function readDocument(text: string): ReadDocument {
  if (text.length > catalogueLengthMax)
    return onlyMistake(`the file is larger than ${catalogueLengthMax} characters`)
  const lines = new LineCounter()
  let document: Document.Parsed
  let value: unknown
  let duplicates: readonly Mistake[]
  try {
    document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      merge: true,
      // A warning would go to the standard error of the gateway, and not to the author of the file.
      logLevel: 'error',
      // The parser compares each key with all others of its mapping; see duplicateKeys.
      uniqueKeys: false,
    })
    if (document.errors.length > 0)
      return { kind: 'mistakes', list: syntaxMistakes(document, lines) }
    const unreadable = [...aliasMistakes(document, lines), ...tagMistakes(document, lines)]
    if (unreadable.length > 0) return { kind: 'mistakes', list: unreadable }
    value = document.toJS({ maxAliasCount: aliasesMax })
    duplicates = duplicateKeys(document, lines)
  } catch (error) {
    if (error instanceof RangeError) return onlyMistake('the file is nested too deeply')
    if (error instanceof ReferenceError)
      return onlyMistake(`the file's aliases cannot be followed: ${error.message}`)
    if (error instanceof Error && error.message.startsWith('Merge sources'))
      return onlyMistake('<< needs a mapping or a list of mappings, such as the alias *name')
    throw error
  }
  const locate = ({ path, message, prefer }: Fault): Mistake => ({
    ...position(lines, findOffset(document, path, prefer)),
    path: withoutSecrets(path.join('.')),
    message: withoutSecrets(message),
  })
  return {
    kind: 'document',
    document: { value, locate },
    duplicates,
  }
}

function syntaxMistakes(document: Document.Parsed, lines: LineCounter): readonly Mistake[] {
  return document.errors.map((error) => ({
    ...position(lines, error.pos[0]),
    path: '',
    message: syntaxMessages[error.code] ?? error.message,
  }))
}

/** Replaces messages of the parser that only programmers understand. */
const syntaxMessages: Readonly<Record<string, string>> = {
  MULTIPLE_DOCS: 'the file must have one document; remove this --- line',
}

/** Finds keys that a mapping has twice. In plain data `1` and `"1"` are one. */
function duplicateKeys(document: Document.Parsed, lines: LineCounter): readonly Mistake[] {
  const mistakes: Mistake[] = []
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        const text = keyText(key)
        if (seen.has(text)) {
          const place = position(lines, offsetOf(key) ?? 0)
          mistakes.push({ ...place, path: '', message: 'duplicate key in this mapping' })
        }
        seen.add(text)
      }
    },
  })
  return mistakes
}

/** Finds aliases that lead nowhere. The conversion to plain data would throw without a line. */
function aliasMistakes(document: Document.Parsed, lines: LineCounter): readonly Mistake[] {
  const anchors = new Set<string>()
  const mistakes: Mistake[] = []
  visit(document, {
    Alias(_key, alias) {
      const { source } = alias
      if (anchors.has(source)) return
      const message = `there is no &${source} before *${source}`
      mistakes.push({ ...position(lines, offsetOf(alias) ?? 0), path: '', message })
    },
    Node(_key, node) {
      if (!isAlias(node) && node.anchor !== undefined) anchors.add(node.anchor)
    },
  })
  return mistakes
}

const tagStart = 'tag:yaml.org,2002:'
const plainTags: ReadonlySet<string> = new Set(
  ['map', 'seq', 'str', 'int', 'float', 'bool', 'null', 'merge'].map((name) => tagStart + name),
)

/** Finds tags that make something else than plain data: a set, for example, has no keys there. */
function tagMistakes(document: Document.Parsed, lines: LineCounter): readonly Mistake[] {
  const mistakes: Mistake[] = []
  visit(document, {
    Node(_key, node) {
      if (isAlias(node) || node.tag === undefined || plainTags.has(node.tag)) return
      const name = node.tag.replace(tagStart, '!!')
      const message = `the tag ${name} has no meaning here; leave it out`
      mistakes.push({ ...position(lines, offsetOf(node) ?? 0), path: '', message })
    },
  })
  return mistakes
}

function onlyMistake(message: string): ReadDocument {
  return { kind: 'mistakes', list: [{ line: 1, column: 1, path: '', message }] }
}

function position(lines: LineCounter, offset: number): { line: number; column: number } {
  const { line, col } = lines.linePos(offset)
  return { line: Math.max(line, 1), column: Math.max(col, 1) }
}

/** `1` and `"1"` are one key in plain data, so they are one key here. */
function keyText(key: unknown): unknown {
  return isScalar(key) ? String(key.value) : key
}

function findOffset(document: Document.Parsed, path: Path, prefer: 'key' | 'value'): number {
  let node = follow(document, document.contents)
  let offset = node?.range?.[0] ?? 0
  for (const [depth, segment] of path.entries()) {
    const isLast = depth === path.length - 1
    if (isMap(node)) {
      // The last of duplicate keys counts, as in plain data.
      const pair = node.items.findLast((item) => keyText(item.key) === String(segment))
      if (pair === undefined) return offset
      const keyOffset = offsetOf(pair.key) ?? offset
      node = follow(document, pair.value)
      const valueOffset = offsetOf(pair.value)
      offset = isLast && prefer === 'value' ? (valueOffset ?? keyOffset) : keyOffset
    } else if (isSeq(node)) {
      const item = node.items[Number(segment)]
      if (item === undefined) return offset
      offset = offsetOf(item) ?? offset
      node = follow(document, item)
    } else return offset
  }
  return offset
}

function follow(document: Document.Parsed, node: unknown): ParsedNode | Node | undefined {
  if (isAlias(node)) return node.resolve(document)
  return isMap(node) || isSeq(node) || isScalar(node) ? node : undefined
}

function offsetOf(node: unknown): number | undefined {
  return isMap(node) || isSeq(node) || isScalar(node) || isAlias(node) ? node.range?.[0] : undefined
}
