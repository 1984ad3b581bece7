/**
 * `npm test`: everything. Installs what is missing (packages, the SDKs that tests drive, Debian packages),
 * then types, lint, format, and every test in one run with one closing line.
 */
import { join } from 'node:path'
import { ensureDebianPackages } from './debian-packages.mjs'
import { ensureInstalled, root, run, runNode } from './runtime.mjs'
import { unitTestFiles, wholeTestFiles } from './test-files.mjs'

ensureInstalled(root, 'development')
ensureInstalled(join(root, 'test', 'clients'), 'development')
ensureDebianPackages()

const chosen = process.argv.slice(2)
if (chosen.length === 0) {
  for (const [command, commandArguments] of [
    ['tsc', ['-p', '.']],
    ['tsc', ['-p', 'test/clients']],
    ['oxlint', ['--type-aware', '--quiet', '.']],
    ['prettier', ['--check', '--log-level', 'warn', '.']],
  ]) {
    const code = await run(command, commandArguments)
    if (code !== 0) {
      process.stdout.write(`${command} failed\n0 passed, 1 failed\n`)
      process.exit(1)
    }
  }
}

process.exitCode = await runNode([
  '--test',
  '--test-concurrency=2',
  '--test-timeout=1200000',
  `--test-reporter=${join(root, 'test', 'support', 'reporter.mjs')}`,
  '--test-reporter-destination=stdout',
  ...(chosen.length > 0 ? chosen : [...unitTestFiles(), ...wholeTestFiles()]),
])
