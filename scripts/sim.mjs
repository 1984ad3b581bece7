/**
 * `npm run test:sim`: the health of channels in a simulated world. Without options the short volume
 * and the properties, from a new seed each time; `--full` the volume behind the table in
 * docs/reliability.md, `--write` puts that table there. `SEED=7` repeats one run, `--only=outage` one
 * scenario.
 */
import { randomInt } from 'node:crypto'
import { ensureInstalled, root, run, runNode } from './runtime.mjs'

ensureInstalled(root, 'development')

const options = process.argv.slice(2)
if (options.length === 0 && !process.env.SEED) {
  process.env.EXPLORE = String(randomInt(2 ** 31))
  process.stdout.write(`properties begin at seed ${process.env.EXPLORE}\n`)
}
process.exitCode =
  options.length > 0
    ? await runNode(['test/sim/table.ts', ...options])
    : await runNode(['--test', 'test/sim/*.test.ts'])
if (options.includes('--write'))
  await run('prettier', ['--write', '--log-level', 'warn', 'docs/reliability.md'])
