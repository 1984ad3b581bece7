/**
 * The table of rules as docs/reliability.md prints it, made from the code. `npm run test:sim -- --write`
 * writes it between its markers; a test compares page and code.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { rules } from '../../../src/channels/health/rules.ts'

const page = new URL('../../../docs/reliability.md', import.meta.url)

export function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

export function rulesTable(): string {
  const head = ['Event', 'on, ramp, slow', 'off', 'trial']
  const lines = Object.values(rules).map(({ event, inUse, off, trial }) =>
    row([event, inUse.text, off.text, trial.text]),
  )
  return [row(head), row(head.map(() => '---')), ...lines].join('\n')
}

/** What stands between the two markers of this name. */
export function readSection(name: string): string {
  const text = readFileSync(page, 'utf8')
  const { from, to } = boundsOf(text, name)
  return text.slice(from, to).trim()
}

export function writeSection(name: string, content: string): void {
  const text = readFileSync(page, 'utf8')
  const { from, to } = boundsOf(text, name)
  writeFileSync(page, `${text.slice(0, from)}\n\n${content}\n\n${text.slice(to)}`)
}

function boundsOf(text: string, name: string): { readonly from: number; readonly to: number } {
  const begin = `<!-- ${name}: begin -->`
  const from = text.indexOf(begin) + begin.length
  const to = text.indexOf(`<!-- ${name}: end -->`)
  if (to < from) throw new Error(`docs/reliability.md lacks the markers of ${name}`)
  return { from, to }
}

/** The same whatever a formatter makes of column widths. */
export function withoutPadding(table: string): string {
  return table.replaceAll(/ {2,}/g, ' ').replaceAll(/-{3,}/g, '---')
}
