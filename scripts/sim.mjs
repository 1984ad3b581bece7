/**
 * `npm run test:sim`: the health of channels in a simulated world. Without options the short volume
 * and the properties; `--full` the volume behind the table in docs/reliability.md, `--write` puts
 * that table there. `SEED=7` repeats one run, `--only=outage` one scenario.
 */
import { ensureInstalled, root, runNode } from './runtime.mjs'

ensureInstalled(root, 'development')

const options = process.argv.slice(2)
process.exitCode =
  options.length > 0
    ? await runNode(['test/sim/table.ts', ...options])
    : await runNode(['--test', 'test/sim/*.test.ts'])
