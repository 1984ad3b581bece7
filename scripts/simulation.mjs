/**
 * `npm run test:simulation`: relay and ledger under seeded schedules, many of them. `--seeds=500` says
 * how many; `SEED=7` repeats one and tells what happened in it.
 */
import { ensureInstalled, root, runNode } from './runtime.mjs'

ensureInstalled(root, 'development')

const option = process.argv.find((word) => word.startsWith('--seeds='))
const seed = process.env['SEED']
process.exitCode = await runNode(['--test', 'test/simulation/money.test.ts'], {
  env: {
    TURNPIKE_TEST_SEEDS: option?.slice('--seeds='.length) ?? '10000',
    ...(seed === undefined ? {} : { TURNPIKE_TEST_SEED: seed }),
  },
})
