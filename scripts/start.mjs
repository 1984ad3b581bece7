/** `npm start`: installs what is missing, then serves; src/start.ts sets up the demo. */
import { ensureInstalled } from './packages.mjs'
import { root, runNode } from './runtime.mjs'

ensureInstalled(root, 'production')
process.exitCode = await runNode(['src/start.ts', ...process.argv.slice(2)])
