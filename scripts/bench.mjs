/** `npm run bench`: installs what is missing, the peers included, then measures; see docs/performance.md. */
import { join } from 'node:path'
import { ensureDebianPackages } from './debian-packages.mjs'
import { ensureInstalled } from './packages.mjs'
import { root, runNode } from './runtime.mjs'

ensureInstalled(join(root, 'bench', 'peers'), 'production')
ensureDebianPackages(['postgres', 'nginx', 'chromium-headless-shell'])
process.exitCode = await runNode(['bench/main.ts', ...process.argv.slice(2)])
