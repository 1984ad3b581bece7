/**
 * `npm run structure`: prints the size of src/ without tests and sandbox: files, code lines (no blank lines,
 * no comments), functions over 70 lines, and the exports that no other file uses.
 *
 * `npm run structure -- --against PATH` measures another checkout, with the tools of this one.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { childEnvironment, root } from './runtime.mjs'

const functionLinesMax = 70

const { values: options } = parseArgs({ options: { against: { type: 'string' } } })
const measuredRoot = resolve(options.against ?? root)

function listSources() {
  return readdirSync(join(measuredRoot, 'src'), { recursive: true })
    .map((name) => `src/${name}`)
    .filter((path) => path.endsWith('.ts') && isMeasured(path))
    .sort()
}

function isMeasured(path) {
  return path.startsWith('src/') && !path.startsWith('src/sandbox/') && !path.endsWith('.test.ts')
}

/** Counts by whole lines: the formatter gives each block comment separate lines. */
function countCodeLines(path) {
  let isInComment = false
  const lines = readFileSync(join(measuredRoot, path), 'utf8').split('\n')
  return lines.filter((line) => {
    const start = line.trim()
    const isComment = isInComment || start.startsWith('/*')
    if (isComment) isInComment = !start.includes('*/')
    return start !== '' && !isComment && !start.startsWith('//')
  }).length
}

/** Runs a tool in the measured checkout. It exits with 1 when it finds something. */
function runTool(command, ...words) {
  const result = spawnSync(command, words, {
    cwd: measuredRoot,
    env: childEnvironment(),
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  })
  if (!result.stdout?.startsWith('{')) throw new Error(`${command} failed: ${result.stderr}`)
  return JSON.parse(result.stdout)
}

/** Comments and blank lines within a function count: they are what a reader scrolls past. */
function findLongFunctions() {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-structure-'))
  const config = join(folder, 'oxlint.json')
  const rule = ['error', { max: functionLinesMax }]
  writeFileSync(
    config,
    JSON.stringify({
      categories: { correctness: 'off' },
      rules: { 'eslint/max-lines-per-function': rule },
    }),
  )
  try {
    const { diagnostics } = runTool('oxlint', '-c', config, '--format', 'json', 'src')
    return diagnostics
      .filter(({ filename }) => isMeasured(filename))
      .map(({ filename, message, labels: [{ span }] }) => {
        const [, name, lines] = /(`.*`|function) has too many lines \((\d+)\)/.exec(message)
        return `${filename}:${span.line} ${name.replaceAll('`', '')} ${lines}`
      })
      .sort()
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Exports of src/ that no other file imports, test files included. */
function findUnusedExports() {
  const config = ['--config', join(root, 'knip.json')]
  const report = runTool('knip', ...config, '--reporter', 'json', '--include', 'exports,types')
  return report.issues
    .filter(({ file }) => isMeasured(file))
    .flatMap(({ file, exports, types }) =>
      [...exports, ...types].map(({ name }) => `${file} ${name}`),
    )
    .sort()
}

function printSize(name, paths) {
  const lines = paths.reduce((sum, path) => sum + countCodeLines(path), 0)
  console.log(`${name.padEnd(12)} ${String(paths.length).padStart(4)} files ${lines} code lines`)
}

function printList(title, lines) {
  console.log(`\n${title}: ${lines.length}`)
  for (const line of lines) console.log(`  ${line}`)
}

const sources = listSources()
const rooms = Map.groupBy(sources, (path) => {
  const [, room, file] = path.split('/')
  return file === undefined ? 'root' : room
})
for (const [room, paths] of rooms) printSize(room, paths)
printSize('src', sources)
printList(`functions over ${functionLinesMax} lines`, findLongFunctions())
printList('unused exports', findUnusedExports())
