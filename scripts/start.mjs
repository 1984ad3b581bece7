/** `npm start`: installs what is missing, then serves; see src/start.ts for the demo it may set up. */
import { ensureInstalled, root, runNode } from './runtime.mjs'

ensureInstalled(root, 'production')
process.exitCode = await runNode(['src/start.ts', ...process.argv.slice(2)])
