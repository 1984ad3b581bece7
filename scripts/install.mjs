/** Installs the packages that Turnpike needs to run. `bin/turnpike` calls it when they are missing. */
import { ensureInstalled, root } from './runtime.mjs'

ensureInstalled(root, process.argv.includes('--development') ? 'development' : 'production')
