/**
 * TypeScript source as the tidy rules look at it: comments and strings told apart from code by one
 * small scanner. It understands just enough of the language for that and judges nothing.
 */

export interface SourceViews {
  /** Same length and lines; comments blanked, strings kept. */
  readonly withoutComments: string
  /** Same length and lines; comments, strings, templates' texts and regular expressions blanked. */
  readonly codeOnly: string
}

const blanked = /[^\n]/g

/** Both views of a source text. */
export function viewSource(text: string): SourceViews {
  const withoutComments: string[] = []
  const codeOnly: string[] = []
  for (const piece of split(text)) {
    const blank = piece.text.replace(blanked, ' ')
    withoutComments.push(piece.kind === 'comment' ? blank : piece.text)
    codeOnly.push(piece.kind === 'code' ? piece.text : blank)
  }
  return { withoutComments: withoutComments.join(''), codeOnly: codeOnly.join('') }
}

interface Piece {
  readonly kind: 'code' | 'comment' | 'text'
  readonly text: string
}

/** One alternative per thing that is not code; each matches to its own end. */
const notCode =
  /(?<comment>\/\/[^\n]*|\/\*[\s\S]*?\*\/)|(?<quoted>'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")|(?<tick>`)|(?<slash>\/)|(?<brace>[{}])/g

function split(text: string): Piece[] {
  const pieces: Piece[] = []
  /** For each open template: how many braces are open inside its current `${`. */
  const templates: number[] = []
  let position = 0
  const take = (kind: Piece['kind'], end: number): void => {
    if (end > position) pieces.push({ kind, text: text.slice(position, end) })
    position = end
  }
  const takeTemplateText = (from: number): void => {
    const end = templateTextEnd(text, from)
    take('text', end)
    if (text.slice(end - 2, end) === '${') templates.push(0)
  }
  notCode.lastIndex = 0
  for (;;) {
    notCode.lastIndex = Math.max(notCode.lastIndex, position)
    const match = notCode.exec(text)
    if (match === null) break
    const { groups = {}, index } = match
    const end = index + match[0].length
    if (groups['comment'] !== undefined) {
      take('code', index)
      take('comment', end)
    } else if (groups['quoted'] !== undefined) {
      take('code', index)
      take('text', end)
    } else if (groups['tick'] !== undefined) {
      take('code', index)
      takeTemplateText(end)
    } else if (groups['slash'] !== undefined) {
      const regexEnd = isRegexStart(text, index) ? regexLiteralEnd(text, index) : index
      if (regexEnd > index) {
        take('code', index)
        take('text', regexEnd)
      }
    } else takeBrace(match[0], end)
  }
  take('code', text.length)
  return pieces

  function takeBrace(brace: string, end: number): void {
    const open = templates.at(-1)
    if (open === undefined) return
    if (brace === '{') templates[templates.length - 1] = open + 1
    else if (open > 0) templates[templates.length - 1] = open - 1
    else {
      templates.pop()
      take('code', end - 1)
      takeTemplateText(end)
    }
  }
}

/** Behind the closing tick, or behind the next `${`. */
function templateTextEnd(text: string, from: number): number {
  for (let index = from; index < text.length; index++) {
    if (text[index] === '\\') index++
    else if (text[index] === '`') return index + 1
    else if (text[index] === '$' && text[index + 1] === '{') return index + 2
  }
  return text.length
}

/** A slash divides behind a value and opens a regular expression behind everything else. */
function isRegexStart(text: string, index: number): boolean {
  const before = text.slice(Math.max(0, index - 200), index).trimEnd()
  return (
    before === '' ||
    /[(,=:[!&|?{};+*%~^<>]$/.test(before) ||
    /\b(return|typeof|case|in|of|await|yield|void|delete|do|else)$/.test(before)
  )
}

function regexLiteralEnd(text: string, index: number): number {
  const match = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y
  match.lastIndex = index
  return match.exec(text) === null ? index : match.lastIndex
}
