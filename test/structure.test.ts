/**
 * The gate on the size of the code: it passes within the budget, and names each size, file and function that
 * exceeds it.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'

interface Size {
  files: number
  lines: number
  nodes: number
}

interface Structure {
  readonly sizes: Record<string, Size>
  filesOver400Lines: string[]
  filesInNoRoom: string[]
  functionsOver70Lines: string[]
}

const folder = mkdtempSync(join(tmpdir(), 'turnpike-structure-'))
after(() => rmSync(folder, { recursive: true }))

const budgetPath = join(folder, 'budget.json')

function run(...words: readonly string[]) {
  const script = join(import.meta.dirname, '..', 'scripts', 'structure.mjs')
  const options = { encoding: 'utf8' } as const
  const { status, stdout } = spawnSync(
    process.execPath,
    [script, '--budget', budgetPath, ...words],
    options,
  )
  return { status, stdout }
}

test('the structure is within a budget made from it, and exceeds a smaller one', () => {
  assert.equal(run('--write').status, 0)
  assert.equal(run().status, 0)

  const text = readFileSync(budgetPath, 'utf8')
  const budget = JSON.parse(text) as Structure
  const { 'src/base': base, 'all of src': all } = budget.sizes
  assert.ok(base !== undefined && all !== undefined && all.lines > base.lines)
  base.lines--
  all.nodes--
  delete budget.sizes['src/relay']
  budget.filesInNoRoom = budget.filesInNoRoom.filter((path) => path !== 'src/cli.ts')
  writeFileSync(budgetPath, JSON.stringify(budget))

  const { status, stdout } = run()
  assert.equal(status, 1)
  assert.match(
    stdout,
    new RegExp(`Too much: src/base has ${base.lines + 1} lines, the budget ${base.lines}\\.`),
  )
  assert.match(
    stdout,
    new RegExp(`Too much: all of src has ${all.nodes + 1} nodes, the budget ${all.nodes}\\.`),
  )
  assert.match(stdout, /Too much: src\/relay has \d+ files, the budget 0\./)
  assert.match(stdout, /Too much: src\/cli\.ts is not in filesInNoRoom of the budget\./)
})

test('a budget has one line for each room', () => {
  run('--write')
  const lines = readFileSync(budgetPath, 'utf8').split('\n')
  assert.equal(lines.filter((line) => line.includes('"src/relay": { "files": ')).length, 1)
})
