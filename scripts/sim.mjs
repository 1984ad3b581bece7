/**
 * `npm run test:sim`: the simulations. Without options that of channel health: the short volume and the
 * properties, from a new seed each time; `--full` runs the volume behind bench/results/channels.md, and
 * `--write` writes that table; `--only=outage` runs one scenario. `--money` runs that of money, relay and
 * ledger under many schedules; `--seeds=500` sets how many. `SEED=7` repeats one run.
 */
import { randomInt } from 'node:crypto'
import { runNode } from './runtime.mjs'

const options = process.argv.slice(2)
const seed = process.env.SEED
process.exitCode = options.includes('--money') ? await simulateMoney() : await simulateChannels()

function simulateChannels() {
  if (options.length > 0) return runNode(['test/simulation/channels/table.ts', ...options])
  if (!seed) {
    process.env.EXPLORE = String(randomInt(2 ** 31))
    process.stdout.write(`properties begin at seed ${process.env.EXPLORE}\n`)
  }
  return runNode(['--test', 'test/simulation/channels/*.test.ts'])
}

function simulateMoney() {
  const seeds = options.find((word) => word.startsWith('--seeds='))?.slice('--seeds='.length)
  return runNode(['--test', 'test/simulation/money/money.test.ts'], {
    env: {
      TURNPIKE_TEST_SEEDS: seeds ?? '10000',
      ...(seed === undefined ? {} : { TURNPIKE_TEST_SEED: seed }),
    },
  })
}
