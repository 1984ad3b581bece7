/** `npm run pictures`: builds the console where it is not built, and takes its pictures for README.md and docs/. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ensureDebianPackages } from './debian-packages.mjs'
import { root, runNode } from './runtime.mjs'

ensureDebianPackages()
const isBuilt = existsSync(join(root, 'console', 'built', 'index.html'))
process.exitCode =
  (isBuilt ? 0 : await runNode(['scripts/console.mjs'])) ||
  (await runNode(['site/take-pictures.ts', ...process.argv.slice(2)]))
