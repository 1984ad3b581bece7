/**
 * Puts the edits of two operators into one catalogue file, entry by entry: an entry that one of them has
 * changed is theirs, and one that both have changed stays as the reader has it. Pure.
 */

/** An entry with its lines; lines outside of entries are a block without a name. */
interface Block {
  readonly section: string
  readonly name: string
  readonly text: string
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
  return { text: textOf(blocks), taken, clashes }
}

/** Sections keep their order; a new entry is at the end of its section. */
function textOf(blocks: readonly Block[]): string {
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
  const begin = (name: string, line: string): void => {
    blocks.push({ section, name, text: line })
  }
  for (const line of text.trimEnd().split('\n')) {
    const [, named] = sectionLine.exec(line) ?? []
    const [, space, entry] = entryLine.exec(line) ?? []
    const last = blocks.at(-1)
    if (named !== undefined) {
      section = named
      indent = undefined
      begin('', line)
    } else if (entry !== undefined && (indent === undefined || space === indent)) {
      indent = space
      begin(entry, line)
    } else if (last === undefined) begin('', line)
    else blocks[blocks.length - 1] = { ...last, text: `${last.text}\n${line}` }
  }
  return blocks
}
