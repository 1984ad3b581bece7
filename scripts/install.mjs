/** Installs the packages that the program needs. `bin/turnpike` calls it where its own Node is missing. */
import { ensureInstalled } from './packages.mjs'
import { root } from './runtime.mjs'

ensureInstalled(root, 'production')
