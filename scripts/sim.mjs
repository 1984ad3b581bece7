/**
 * `npm run test:sim`: the simulation of channel health. Without options it runs the short volume and the
 * properties, from a new seed each time; `--full` runs the volume behind bench/results/channels.md,
 * and `--write` writes that table. `SEED=7` repeats one run; `--only=outage` runs one scenario.
 */
import { randomInt } from 'node:crypto'
import { runNode } from './runtime.mjs'

const options = process.argv.slice(2)
if (options.length === 0 && !process.env.SEED) {
  process.env.EXPLORE = String(randomInt(2 ** 31))
  process.stdout.write(`properties begin at seed ${process.env.EXPLORE}\n`)
}
process.exitCode =
  options.length > 0
    ? await runNode(['test/simulation/channels/table.ts', ...options])
    : await runNode(['--test', 'test/simulation/channels/*.test.ts'])
