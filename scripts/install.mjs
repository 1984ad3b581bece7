/**
 * Installs the packages that the program needs. `bin/turnpike` calls it where its own Node is missing. With the
 * name of a folder: all packages of the project there, also those for development.
 */
import { join } from 'node:path'
import { ensureInstalled } from './packages.mjs'
import { root } from './runtime.mjs'

const [folder] = process.argv.slice(2)
if (folder === undefined) ensureInstalled(root, 'production')
else ensureInstalled(join(root, folder), 'development')
