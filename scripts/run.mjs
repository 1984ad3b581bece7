/**
 * `node scripts/run.mjs NAME …` runs `scripts/NAME.mjs` with the project's own Node, after it has installed
 * the development packages. Scripts started this way may use what Node 20 does not have.
 */
import { ensureInstalled } from './packages.mjs'
import { root, runNode } from './runtime.mjs'

const [name, ...options] = process.argv.slice(2)
ensureInstalled(root, 'development')
process.exitCode = await runNode([`scripts/${name}.mjs`, ...options])
