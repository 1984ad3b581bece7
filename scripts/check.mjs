/**
 * `npm run check`: types, lint, format, boundaries, unit tests. What a change must pass before a commit.
 * The steps run at once, for none needs another, and are reported in their order. What tsc and prettier
 * found in files whose content has not changed is kept below `node_modules`.
 */
import { join } from 'node:path'
import { ensureInstalled, root, run, runNode } from './runtime.mjs'
import { unitTestFiles } from './test-files.mjs'

ensureInstalled(root, 'development')

const typesCache = ['--incremental', '--tsBuildInfoFile', 'node_modules/.cache/types.tsbuildinfo']
const formatCache = [
  '--cache',
  '--cache-strategy=content',
  '--cache-location=node_modules/.cache/format.json',
]
const compileCache = { NODE_COMPILE_CACHE: join(root, 'node_modules', '.compile-cache') }

const steps = [
  ['types', (options) => run('tsc', ['-p', '.', ...typesCache], options)],
  [
    'lint',
    // The client tests can only be understood with their packages, which `npm test` installs.
    (options) =>
      run('oxlint', ['--type-aware', '--quiet', '--ignore-pattern=test/clients', '.'], options),
  ],
  [
    'format',
    (options) => run('prettier', ['--check', '--log-level', 'warn', ...formatCache, '.'], options),
  ],
  [
    'unit tests',
    // All in one process: most of their time would be its start. `npm test` gives each file its own.
    (options) =>
      runNode(['--test', '--test-isolation=none', '--test-reporter=dot', ...unitTestFiles()], {
        ...options,
        env: compileCache,
      }),
  ],
]

/** Runs one step; resolves with its exit code, what it wrote, and how long it took. */
async function timeStep(step) {
  const startedMs = performance.now()
  const pieces = []
  const code = await step({ onOutput: (piece) => pieces.push(piece) })
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  return { code, output: Buffer.concat(pieces).toString(), seconds }
}

const running = steps.map(([name, step]) => ({ name, ended: timeStep(step) }))
for (const { name, ended } of running) {
  const { code, output, seconds } = await ended
  if (code !== 0) process.stdout.write(output)
  process.stdout.write(`check: ${name} ${code === 0 ? 'passed' : 'FAILED'} (${seconds} s)\n`)
  if (code !== 0) process.exitCode = 1
}
