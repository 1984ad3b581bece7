/**
 * `npm run structure`: prints files, lines and syntax nodes of src/ and console/src/ by room, without tests,
 * generated files and the words of pages, then what stands out: files over 400 lines, files in no room,
 * functions over 70 lines. Ends with 1 where that exceeds structure-budget.json. `npm run check` runs it.
 *
 * A change that needs more raises its line of the budget, and its commit says what for. `--write` sets the
 * budget to what is there. `--budget PATH` names another one. `--against PATH` measures another checkout and
 * compares nothing.
 */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { parseSync } from 'oxc-parser'
import { root } from './runtime.mjs'

const fileLinesMax = 400
const functionLinesMax = 70
/** Generated files, and words, which are no code. */
const isLeftOut = (path) =>
  path === 'console/src/api/schema.ts' || /^console\/src\/messages\/[a-zA-Z-]+\//.test(path)

const { values: options } = parseArgs({
  options: {
    against: { type: 'string' },
    budget: { type: 'string', default: join(root, 'structure-budget.json') },
    write: { type: 'boolean', default: false },
  },
})
const budgetPath = resolve(options.budget)
const measuredRoot = resolve(options.against ?? root)

function listSources() {
  return ['src', 'console/src'].flatMap((top) =>
    readdirSync(join(measuredRoot, top), { recursive: true })
      .map((name) => `${top}/${name}`)
      .filter((path) => /\.(ts|tsx|css|sql)$/.test(path) && !/\.test\.tsx?$/.test(path))
      .filter((path) => !isLeftOut(path))
      .sort(),
  )
}

/** `src/relay/admit.ts` → `src/relay`; a file directly in `src` → `src`. */
function roomOf(path) {
  const [top, room, file] = path.replace(/^console\/src/, 'console').split('/')
  return file === undefined ? top : `${top}/${room}`
}

/** `longFunctions` has `path name` of each function over 70 lines. */
function measure(path) {
  const text = readFileSync(join(measuredRoot, path), 'utf8')
  const lines = text.split('\n').length - 1
  const measured = { path, lines, nodes: 0, longFunctions: [] }
  if (!/\.tsx?$/.test(path)) return measured
  const lineAt = (offset) => text.slice(0, offset).split('\n').length
  const see = (node, parent) => {
    measured.nodes++
    if (!/Function(Declaration|Expression)$/.test(node.type)) return
    const length = lineAt(node.end) - lineAt(node.start) + 1
    if (length <= functionLinesMax) return
    const name = (node.id ?? parent?.id ?? parent?.key)?.name ?? 'function'
    measured.longFunctions.push(`${path} ${name}`)
  }
  visit(parseSync(path, text).program, undefined, see)
  return measured
}

function visit(node, parent, see) {
  if (Array.isArray(node)) for (const part of node) visit(part, parent, see)
  else if (typeof node?.type === 'string') {
    see(node, parent)
    for (const part of Object.values(node))
      if (typeof part === 'object' && part !== null) visit(part, node, see)
  }
}

/** Name → files, lines and syntax nodes: each room, and all rooms of `src` and of `console` together. */
function sizesOf(files) {
  const rooms = Map.groupBy(files, ({ path }) => roomOf(path))
  const totals = Map.groupBy(files, ({ path }) => `all of ${path.split('/')[0]}`)
  const sum = (list, key) => list.reduce((total, one) => total + one[key], 0)
  return Object.fromEntries(
    [...[...rooms].toSorted(byName), ...totals].map(([name, list]) => [
      name,
      { files: list.length, lines: sum(list, 'lines'), nodes: sum(list, 'nodes') },
    ]),
  )
}

function byName([left], [right]) {
  return left < right ? -1 : 1
}

function findRemarkable(files) {
  return {
    filesOver400Lines: files
      .filter(({ path, lines }) => lines > fileLinesMax && !path.endsWith('.sql'))
      .map(({ path }) => path),
    filesInNoRoom: files.map(({ path }) => path).filter((path) => !roomOf(path).includes('/')),
    functionsOver70Lines: files.flatMap(({ longFunctions }) => longFunctions),
  }
}

/** Returns a sentence for each size and each list that is larger than the budget. */
function findExcess({ sizes, ...lists }, budget) {
  const excess = []
  for (const [name, size] of Object.entries(sizes))
    for (const [unit, count] of Object.entries(size)) {
      const allowed = budget.sizes[name]?.[unit] ?? 0
      if (count > allowed) excess.push(`${name} has ${count} ${unit}, the budget ${allowed}`)
    }
  for (const [list, found] of Object.entries(lists))
    for (const one of found.filter((entry) => !budget[list].includes(entry)))
      excess.push(`${one} is not in ${list} of the budget`)
  return excess
}

function print({ sizes, ...lists }) {
  const columns = ['files', 'lines', 'nodes']
  const row = (name, cells) =>
    console.log(name.padEnd(22) + cells.map((cell) => String(cell).padStart(9)).join(''))
  row('', columns)
  for (const [name, size] of Object.entries(sizes))
    row(
      name,
      columns.map((column) => size[column]),
    )
  for (const [list, found] of Object.entries(lists)) {
    console.log(`\n${list}: ${found.length}`)
    for (const one of found) console.log(`  ${one}`)
  }
}

const files = listSources().map(measure)
const structure = { sizes: sizesOf(files), ...findRemarkable(files) }
print(structure)
if (options.write) {
  // One room a line, so that the budget that a commit raises is one line of it.
  const text = JSON.stringify(structure, undefined, 2)
  const rooms = text.replace(
    /\{\s+("files": \d+),\s+("lines": \d+),\s+("nodes": \d+)\s+\}/g,
    '{ $1, $2, $3 }',
  )
  writeFileSync(budgetPath, `${rooms.replace(/\[\s+("[^"]*")\s+\]/g, '[$1]')}\n`)
} else if (options.against === undefined) {
  const excess = findExcess(structure, JSON.parse(readFileSync(budgetPath, 'utf8')))
  for (const sentence of excess) console.log(`\nToo much: ${sentence}.`)
  if (excess.length > 0) process.exitCode = 1
}
