/** `npm run check`: types, lint, format, boundaries, unit tests. What a change must pass before a commit. */
import { ensureInstalled, root, run, runNode } from './runtime.mjs'
import { unitTestFiles } from './test-files.mjs'

ensureInstalled(root, 'development')

const steps = [
  ['types', () => run('tsc', ['-p', '.'])],
  // The client tests can only be understood with their packages, which `npm test` installs.
  ['lint', () => run('oxlint', ['--type-aware', '--quiet', '--ignore-pattern=test/clients', '.'])],
  ['format', () => run('prettier', ['--check', '--log-level', 'warn', '.'])],
  ['unit tests', async () => runNode(['--test', '--test-reporter=dot', ...unitTestFiles()])],
]

for (const [name, step] of steps) {
  const startedMs = performance.now()
  const code = await step()
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  process.stdout.write(`check: ${name} ${code === 0 ? 'passed' : 'FAILED'} (${seconds} s)\n`)
  if (code !== 0) {
    process.exitCode = 1
    break
  }
}
