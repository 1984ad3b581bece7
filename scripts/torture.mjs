/**
 * `npm run test:torture`: fault-injection tests that break clients, gateways, databases and vendors under
 * load and then audit the ledger. `--cycles=20` multiplies the volume of `npm test`, `--only=postgres` runs
 * one part, `SEED=7` draws another order of faults, `--write` writes the volumes to docs/reliability.md.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureDebianPackages } from './debian-packages.mjs'
import { root, run, runNode } from './runtime.mjs'

ensureDebianPackages()

const options = process.argv.slice(2)
const valueOf = (name) =>
  options.find((word) => word.startsWith(`--${name}=`))?.slice(name.length + 3)
const cycles = valueOf('cycles') ?? '10'
const only = valueOf('only') ?? ''
const seed = process.env['SEED']

const folder = mkdtempSync(join(tmpdir(), 'turnpike-torture-'))
const report = join(folder, 'report')
writeFileSync(report, '')
const files = readdirSync(join(root, 'test/torture'))
  .filter((name) => name.endsWith('.test.ts') && name.startsWith(only))
  .map((name) => `test/torture/${name}`)
process.exitCode = await runNode(['--test', '--test-concurrency=1', ...files], {
  env: {
    TURNPIKE_TORTURE: cycles,
    TURNPIKE_TORTURE_REPORT: report,
    ...(seed === undefined ? {} : { TURNPIKE_TEST_SEED: seed }),
  },
})

const volumes = readFileSync(report, 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line))
rmSync(folder, { recursive: true })
const rows = volumes.map(
  ({ name, requests, ends, charges, kills, faults }) =>
    `| ${[name, requests, ends, charges, kills, faults].join(' | ')} |`,
)
const table = [
  '| Run | Requests | Answers seen to their end | Charges | kill -9 | Faults, kills included |',
  '| --- | --- | --- | --- | --- | --- |',
  ...rows,
].join('\n')
process.stdout.write(`${table}\n`)

if (options.includes('--write') && process.exitCode === 0) {
  const page = join(root, 'docs/reliability.md')
  const text = readFileSync(page, 'utf8')
  const between = /(<!-- volumes: begin -->)[^]*(<!-- volumes: end -->)/
  writeFileSync(
    page,
    text.replace(between, (_, begin, end) => `${begin}\n\n${table}\n\n${end}`),
  )
  await run('oxfmt', ['docs/reliability.md'])
}
