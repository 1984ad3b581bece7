/** Installs the packages that running Turnpike takes. `bin/turnpike` calls it when they are missing. */
import { ensureInstalled, root } from './runtime.mjs'

ensureInstalled(root, process.argv.includes('--development') ? 'development' : 'production')
