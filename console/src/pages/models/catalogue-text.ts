/**
 * The text of the catalogue file: where a cursor is in it, where an entry is, and two versions put into one.
 * It reads lines and indentation, not a whole document, because an unfinished line is not valid yet. Pure.
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
  return blocksOf(text).find((one) => one.section === section && unquoted(one.name) === entry)?.line
}

/** The names that the text has in a section, as they are written. */
export function entryNames(text: string, section: string): readonly string[] {
  return blocksOf(text)
    .filter((block) => block.section === section && block.name !== '')
    .map(({ name }) => name)
}

/** An entry with its lines; lines outside of entries are a block without a name. */
interface Block {
  readonly section: string
  readonly name: string
  readonly text: string
  /** Its first line, counted from 1. */
  readonly line: number
}

interface Clash {
  /** Such as `channels alpha-main`. */
  readonly entry: string
  /** Empty where the other operator has removed it. */
  readonly theirs: string
}

export interface MergedFile {
  readonly text: string
  /** The entries that only the other operator has changed. */
  readonly taken: readonly string[]
  readonly clashes: readonly Clash[]
}

interface Versions {
  /** As it was when the reader began to edit. */
  readonly base: string
  readonly mine: string
  readonly theirs: string
}

export function mergeFiles(versions: Versions): MergedFile {
  const [base, mine] = [blocksByKey(versions.base), blocksByKey(versions.mine)]
  const theirs = blocksByKey(versions.theirs)
  const blocks: Block[] = []
  const taken: string[] = []
  const clashes: Clash[] = []
  for (const key of new Set([...theirs.keys(), ...mine.keys()])) {
    const [old, own, other] = [base.get(key), mine.get(key), theirs.get(key)]
    const isTaken = own?.text === old?.text
    const kept = isTaken ? other : own
    if (kept !== undefined) blocks.push(kept)
    if (other?.text === old?.text || other?.text === own?.text) continue
    const { section, name } = other ?? own ?? { section: '', name: '' }
    if (isTaken && name !== '') taken.push(`${section} ${name}`)
    if (!isTaken) clashes.push({ entry: `${section} ${name}`.trim(), theirs: other?.text ?? '' })
  }
  return { text: textOfBlocks(blocks), taken, clashes }
}

/** Sections keep their order; a new entry is at the end of its section. */
function textOfBlocks(blocks: readonly Block[]): string {
  const sections = [...new Set(blocks.map(({ section }) => section))]
  const ordered = sections.flatMap((section) => blocks.filter((block) => block.section === section))
  return `${ordered.map(({ text }) => text).join('\n')}\n`
}

function blocksByKey(text: string): ReadonlyMap<string, Block> {
  return new Map(blocksOf(text).map((block) => [`${block.section}\n${block.name}`, block]))
}

const sectionLine = /^([^\s#:]+):/
const entryLine = /^(\s+)([^\s#-].*?):(\s|$)/

function blocksOf(text: string): readonly Block[] {
  const blocks: Block[] = []
  let section = ''
  /** Of the entries of the section; undefined before the first one. */
  let indent: string | undefined
  for (const [index, line] of text.trimEnd().split('\n').entries()) {
    const [, named] = sectionLine.exec(line) ?? []
    const [, space, entry] = entryLine.exec(line) ?? []
    const last = blocks.at(-1)
    const begin = (name: string): void => {
      blocks.push({ section, name, text: line, line: index + 1 })
    }
    if (named !== undefined) {
      section = named
      indent = undefined
      begin('')
    } else if (entry !== undefined && (indent === undefined || space === indent)) {
      indent = space
      begin(entry)
    } else if (last === undefined) begin('')
    else blocks[blocks.length - 1] = { ...last, text: `${last.text}\n${line}` }
  }
  return blocks
}
