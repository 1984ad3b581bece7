/**
 * Finds the sentences without a code that operations write: what is wrong with a field, and why they refuse.
 * Each is an example, with `x` where the source puts something in.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'oxc-parser'

const source = join(import.meta.dirname, '../../../src')
const folders = ['operations', 'channels/catalogue', 'metering', 'api/admin']

/** For commands on the host, and for the start. */
const elsewhere = /^(?:store\/(?:store-copy|backup)|keys\/first-admin-token)\.ts$/

/** Their first or second argument is the sentence. */
const refusing = /^(?:invalidField|invalid|notFound|conflict|unsentTest)$/
/** Their first argument follows `must be`. */
const expecting = /^(?:usd|textOrNumber|as)$/

type Node = Readonly<Record<string, unknown>> & { readonly type: string }

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value
}

/** Undefined where it is no text. */
function textOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined
  const { type, value, left, right, quasis, operator } = node
  if (type === 'Literal') return typeof value === 'string' ? value : undefined
  if (type === 'TemplateLiteral')
    return (quasis as readonly { readonly value: { readonly cooked: string } }[])
      .map((quasi) => quasi.value.cooked)
      .join('x')
  if (type !== 'BinaryExpression' || operator !== '+') return undefined
  const texts = [textOf(left), textOf(right)]
  return texts.includes(undefined) ? undefined : texts.join('')
}

function findIn(node: unknown, found: Set<string>): void {
  if (Array.isArray(node)) for (const one of node) findIn(one, found)
  if (!isNode(node)) return
  const text = textOf(node)
  if (text !== undefined) {
    if (/^must .* /.test(text) && !/^must be x+$/.test(text)) found.add(text)
    return
  }
  const { callee, arguments: given = [] } = node
  const name = isNode(callee) ? String(callee['name']) : ''
  const expected = expecting.test(name) ? textOf((given as readonly unknown[])[0]) : undefined
  if (expected !== undefined) found.add(`must be ${expected}`)
  if (refusing.test(name))
    for (const one of given as readonly unknown[]) {
      const said = textOf(one)
      if (said?.includes(' ') === true) found.add(said)
    }
  for (const part of Object.values(node)) findIn(part, found)
}

export function findRefusals(): readonly string[] {
  const found = new Set<string>()
  for (const folder of folders)
    for (const name of readdirSync(join(source, folder), { recursive: true, encoding: 'utf8' }))
      if (name.endsWith('.ts') && !name.endsWith('.test.ts') && !elsewhere.test(name))
        findIn(parseSync(name, readFileSync(join(source, folder, name), 'utf8')).program, found)
  return [...found]
}
