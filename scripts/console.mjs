/**
 * Builds the console and the account page: `npm run console` writes console/built, which the gateway serves.
 * `--out FOLDER` writes another folder, `--types` only the types of the admin API. The same sources and
 * packages give the same files.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { buildDocument } from '../src/api/admin/openapi.ts'
import { ensureInstalled } from './packages.mjs'
import { root, runNode } from './runtime.mjs'

const folder = join(root, 'console')

const { values: options } = parseArgs({
  options: { out: { type: 'string' }, types: { type: 'boolean', default: false } },
})
ensureInstalled(folder, 'development')
process.exitCode = (await makeTypes()) || (options.types ? 0 : await build(options.out))

function makeTypes() {
  const document = join(root, '.cache', 'openapi.json')
  mkdirSync(dirname(document), { recursive: true })
  writeFileSync(document, JSON.stringify(buildDocument()))
  return runTool('openapi-typescript', 'bin/cli.js', [
    document,
    '--output',
    join('src', 'api', 'schema.ts'),
  ])
}

function build(out = join(folder, 'built')) {
  return runTool('vite', 'bin/vite.js', ['build', '--outDir', out, '--emptyOutDir'])
}

function runTool(name, path, words) {
  return runNode([join(folder, 'node_modules', name, path), ...words], { cwd: folder })
}
