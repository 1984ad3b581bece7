/**
 * `npm run test:simulation`: the simulation of money, relay and ledger under many seeded schedules.
 * `--seeds=500` sets how many; `SEED=7` repeats one and prints what happened in it.
 */
import { runNode } from './runtime.mjs'

const option = process.argv.find((word) => word.startsWith('--seeds='))
const seed = process.env['SEED']
process.exitCode = await runNode(['--test', 'test/simulation/money/money.test.ts'], {
  env: {
    TURNPIKE_TEST_SEEDS: option?.slice('--seeds='.length) ?? '10000',
    ...(seed === undefined ? {} : { TURNPIKE_TEST_SEED: seed }),
  },
})
