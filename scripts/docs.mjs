/**
 * The website of docs/: `npm run docs` builds it into site/dist, `npm run docs -- --serve` shows it while you write.
 * The build ends with 1 where a link leads nowhere.
 */
import { join } from 'node:path'
import { ensureInstalled } from './packages.mjs'
import { root, runNode } from './runtime.mjs'

const site = join(root, 'site')
const generator = join(site, 'node_modules', 'vitepress', 'bin', 'vitepress.js')

ensureInstalled(site, 'development')
const isServed = process.argv.includes('--serve')
const words = isServed ? ['dev', site] : ['build', site]
process.exitCode = await runNode([generator, ...words])
