/**
 * Finds the words of the console's sources that are not in a message file: text between tags, texts of
 * attributes and fields that people read, and every other text that begins as a sentence does.
 */
import { parseSync } from 'oxc-parser'

export interface LooseWord {
  readonly path: string
  readonly line: number
  readonly text: string
}

type Node = Readonly<Record<string, unknown>> & { readonly type: string; readonly start: number }

/** What people read has these names; any letter in them is a word. */
const readNames: ReadonlySet<string> = new Set([
  'action',
  'alt',
  'aria-description',
  'aria-label',
  'cancel',
  'caption',
  'data-tip',
  'description',
  'hint',
  'label',
  'note',
  'placeholder',
  'text',
  'title',
  'why',
])

/** Texts that begin with a capital letter and that nobody reads. */
const otherTexts: readonly (readonly [RegExp, why: string])[] = [
  [/^(?:Arrow(?:Up|Down|Left|Right)|Enter|Escape|Esc|Home|End|Tab|Ctrl|Control\+K)$/, 'a key'],
  [/^Ctrl K$/, 'keys'],
  [/^(?:cr|ro|ad|ex|tc)_…?/, 'how a key or an id begins'],
  [/^(?:Turnpike|turnpike)\b/, 'the name of the product'],
  [/^(?:Authorization|Bearer|Content-Type|Idempotency-Key|If-Match)$/, 'a header'],
  [/^(?:pager|monitoring|timeout)$/, 'an example of a name'],
  [/^MB$/, 'a unit'],
  [/^account\.edit$/, 'an action of the API'],
  [/^(?:SHA-256|AbortError)$/, 'a name of the browser'],
  [/^(?:Claude Code|Codex|OpenCode|Qwen Code|Python|Node|TypeScript|curl)\b/, 'a product'],
]

/** Files whose texts are code that people copy. */
const codeSamples = /\/account\/(?:agent-)?snippets\.ts$/

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value && 'start' in value
}

function hasWord(text: string): boolean {
  return /\p{L}{2}/u.test(text)
}

/** Returns the words of one file, in their order. */
export function findLooseWords(path: string, source: string): readonly LooseWord[] {
  if (codeSamples.test(path)) return []
  const found: LooseWord[] = []
  const { program } = parseSync(path, source)
  const visit = (node: unknown, isRead: boolean): void => {
    if (Array.isArray(node)) {
      for (const each of node) visit(each, isRead)
      return
    }
    if (!isNode(node)) return
    const text = textOf(node)
    if (text !== undefined) {
      const isWord = isRead ? hasWord(text) : /^\p{Lu}\p{Ll}/u.test(text)
      if (isWord && !otherTexts.some(([pattern]) => pattern.test(text)))
        found.push({ path, line: source.slice(0, node.start).split('\n').length, text })
    }
    if (isSkipped(node)) return
    const isReadInside = marksRead(node) ?? (isRead && passesRead(node))
    for (const [name, child] of Object.entries(node))
      if (!isForProgram(node, name)) visit(child, isReadInside && !isCondition(node, name))
  }
  visit(program, false)
  return found
}

/** A name, as in `{ name: value }`, or the key of a message, as in `t('key', …)` and `t.rich('key', …)`. */
function isForProgram({ type, computed, callee }: Node, field: string): boolean {
  if (type === 'Property') return field === 'key' && computed !== true
  if (type !== 'CallExpression' || field !== 'arguments' || !isNode(callee)) return false
  return nameOf(callee) === 't' || nameOf(callee['object']) === 't'
}

function isCondition({ type }: Node, field: string): boolean {
  return type === 'ConditionalExpression' && field === 'test'
}

function textOf(node: Node): string | undefined {
  if (node.type === 'Literal' || node.type === 'JSXText') {
    const { value } = node
    return typeof value === 'string' ? value.replaceAll(/\s+/g, ' ').trim() : undefined
  }
  if (node.type !== 'TemplateElement') return undefined
  const { value } = node
  return isCooked(value) ? value.cooked.trim() : undefined
}

function isCooked(value: unknown): value is { readonly cooked: string } {
  return typeof value === 'object' && value !== null && 'cooked' in value
}

/** Types, imports, class names and errors for developers have no words for people. */
function isSkipped(node: Node): boolean {
  const { type } = node
  if (type.startsWith('TS') && type !== 'TSAsExpression' && type !== 'TSSatisfiesExpression')
    return type !== 'TSNonNullExpression'
  if (type === 'ImportDeclaration' || type === 'ExportAllDeclaration') return true
  if (type === 'JSXAttribute' && nameOf(node['name']) === 'className') return true
  // Names of modules and keys of messages.
  if (type === 'CallExpression' && nameOf(node['callee']) === 'later') return true
  return type === 'NewExpression' && nameOf(node['callee']) === 'Error'
}

function nameOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined
  const { name, value } = node
  if (typeof name === 'string') return name
  return typeof value === 'string' ? value : undefined
}

/** Whether what is inside is read by people; undefined = as around it. */
function marksRead(node: Node): boolean | undefined {
  switch (node.type) {
    case 'JSXElement':
    case 'JSXFragment':
      return true
    case 'JSXOpeningElement':
      return false
    case 'JSXAttribute':
      return readNames.has(nameOf(node['name']) ?? '')
    case 'Property':
      return readNames.has(nameOf(node['key']) ?? '')
    default:
      return undefined
  }
}

/** Texts inside of these are still shown; arguments of a call, for example, are not. */
function passesRead({ type }: Node): boolean {
  return [
    'JSXExpressionContainer',
    'ConditionalExpression',
    'LogicalExpression',
    'TemplateLiteral',
    'ParenthesizedExpression',
    'TSAsExpression',
  ].includes(type)
}
