/**
 * `npm run test:mutation`: changes the code that meters and charges and the rules of channel health, one place at
 * a time, and counts the changes that unit tests see. `--only=metering` measures one group, `--only=FILE` one
 * source file, `--write` writes the result to docs/mutation.md, and `--last` reports the last result again.
 */
import { join } from 'node:path'
import { ensureInstalled } from './packages.mjs'
import { root, runNode } from './runtime.mjs'

ensureInstalled(join(root, 'test', 'mutation'), 'development')
process.exitCode = await runNode(['test/mutation/main.mjs', ...process.argv.slice(2)])
