/**
 * Runs the scenarios and prints their table; `--write` puts it into bench/results/channels.md. Ends with
 * code 1 when a figure is outside its accepted range.
 */
import { writeFileSync } from 'node:fs'
import {
  fullVolume,
  loads,
  runCells,
  scenarios,
  shortVolume,
  withSeed,
  type Cell,
} from './cells.ts'
import type { Scenario } from './scenario.ts'

const options = new Set(process.argv.slice(2))
const volume = withSeed(options.has('--full') ? fullVolume : shortVolume, process.env['SEED'])
const only = process.argv.find((argument) => argument.startsWith('--only='))?.slice(7)

function rowsOf(scenario: Scenario): readonly string[] {
  const byLoad: (readonly Cell[])[] = []
  for (const load of loads) {
    const startedMs = performance.now()
    const cells = runCells(scenario, load, volume)
    byLoad.push(cells)
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1)
    process.stdout.write(`${scenario.id} at ${load}/s (${seconds} s)\n`)
    for (const { measure, complaint } of cells) complain(measure.title, complaint)
  }
  return scenario.measures.map((measure, index) =>
    row([
      `${scenario.title}: ${measure.title}`,
      ...byLoad.map((cells) => cells[index]?.text ?? ''),
      measure.accepted,
    ]),
  )
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`
}

function writeTable(content: string): void {
  const page = new URL('../../../bench/results/channels.md', import.meta.url)
  const made = `Made by \`npm run test:sim -- ${[...options].join(' ')}\`.`
  writeFileSync(page, `# channels\n\n${made}\n\n${content}\n`)
}

function complain(title: string, complaint: string | undefined): void {
  if (complaint === undefined) return
  process.exitCode = 1
  process.stdout.write(`  OUTSIDE: ${title}: ${complaint}\n`)
}

const chosen = scenarios.filter(({ id }) => only === undefined || id === only)
const head = row(['Scenario', ...loads.map((load) => `${load} requests/s`), 'Accepted'])
const rule = row(['---', ...loads.map(() => '---'), '---'])
const table = [head, rule, ...chosen.flatMap(rowsOf)].join('\n')
process.stdout.write(`\n${table}\n`)

if (options.has('--write') && only === undefined && process.exitCode !== 1) writeTable(table)
