/**
 * `npm run test:fuzz`: mutates the kept inputs of test/fuzz/corpus for ten minutes of processor time, and
 * holds what the gateway makes of them against its promises. `--minutes=60` sets the time, `--only=csv` one
 * target; `SEED=7` repeats one run.
 */
import { runNode } from './runtime.mjs'

process.exitCode = await runNode(['test/fuzz/main.ts', ...process.argv.slice(2)])
