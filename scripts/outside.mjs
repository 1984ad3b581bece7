/**
 * `npm run test:outside`: test sets and tools of other people against gateways on the loopback network. Some
 * of the sets are part of `npm test` as well. `--only=slowhttptest` runs one set, `--write` writes the figures
 * of the sets that ran to docs/outside-suites.md.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureDebianPackages } from './debian-packages.mjs'
import { root, run, runNode } from './runtime.mjs'

/**
 * Each is `test/outside/NAME.ts`, or `test/outside/NAME.test.ts` or `test/clients/NAME.test.ts`, which are part
 * of `npm test`. It passes its figures to `reportFigures` of test/outside/report.ts.
 */
const sets = [
  'h11',
  'json-test-suite',
  'llhttp',
  'schemathesis',
  'secretlint',
  'slowhttptest',
  'smuggling',
  'vendor-answers',
]

const options = process.argv.slice(2)
const only = options.find((word) => word.startsWith('--only='))?.slice('--only='.length)
const chosen = sets.filter((name) => only === undefined || name === only)
if (chosen.length === 0) {
  process.stderr.write(`No set is named ${only}. The sets are: ${sets.join(', ')}.\n`)
  process.exit(2)
}

ensureDebianPackages()

const folder = mkdtempSync(join(tmpdir(), 'turnpike-outside-'))
const report = join(folder, 'report')
writeFileSync(report, '')
const files = chosen.map((name) =>
  [`outside/${name}.ts`, `outside/${name}.test.ts`, `clients/${name}.test.ts`]
    .map((path) => join(root, 'test', path))
    .find((path) => existsSync(path)),
)
process.exitCode = await runNode(['--test', '--test-concurrency=1', ...files], {
  env: { TURNPIKE_OUTSIDE_REPORT: report },
})

const lines = readFileSync(report, 'utf8').split('\n').filter(Boolean)
rmSync(folder, { recursive: true })
const rows = lines
  .map((line) => JSON.parse(line))
  .map(({ set, part, cases, exceptions, figures }) => [set, part, cases, exceptions, figures])
process.stdout.write(`${tableOf(rows)}\n`)

if (options.includes('--write') && process.exitCode === 0) {
  const page = join(root, 'docs/outside-suites.md')
  const text = readFileSync(page, 'utf8')
  const between = /(<!-- suites: begin -->)([^]*)(<!-- suites: end -->)/
  writeFileSync(
    page,
    text.replace(between, (_, begin, former, end) => {
      const kept = rowsOf(former).filter(([set]) => sets.includes(set) && !chosen.includes(set))
      const all = [...kept, ...rows].toSorted(([one], [other]) => one.localeCompare(other))
      return `${begin}\n\n${tableOf(all)}\n\n${end}`
    }),
  )
  await run('oxfmt', ['docs/outside-suites.md'])
}

function tableOf(cells) {
  return [
    '| Set | Part | Cases | Exceptions | Figures |',
    '| --- | --- | --- | --- | --- |',
    ...cells.map((row) => `| ${row.join(' | ')} |`),
  ].join('\n')
}

/** Reads the rows of such a table. */
function rowsOf(table) {
  const rowLines = table.split('\n').filter((line) => line.startsWith('| '))
  return rowLines.slice(2).map((line) =>
    line
      .slice(1, -1)
      .split(' | ')
      .map((cell) => cell.trim()),
  )
}
