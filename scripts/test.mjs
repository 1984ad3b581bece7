/**
 * `npm test`: types, lint, format, unused code and every test. Installs what is missing first: packages, the SDKs
 * that tests drive, Debian packages. `npm test -- FILE …` runs only these test files.
 * `npm run test:long` (`--long`): the larger tests in all their variants, and the files that only it runs.
 * `npm run test:quick` (`--quick`): the same checks, unit tests, and a core of the larger tests on SQLite.
 * `npm run check` (`--check`): checks and unit tests; what a change must pass before a commit.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ensureDebianPackages } from './debian-packages.mjs'
import { root, run, runNode } from './runtime.mjs'
import { makeTemporaryFolder } from './temporary-folder.mjs'
import { longTestFiles, quickTestFiles, unitTestFiles, wholeTestFiles } from './test-files.mjs'
import { readDurations, TestResults } from './test-results.mjs'

const words = process.argv.slice(2)
const tier = ['check', 'quick', 'long'].find((name) => words.includes(`--${name}`)) ?? 'all'
/** All that tests may need is there; otherwise only the packages for development. */
const isComplete = tier === 'all' || tier === 'long'
const chosen = words.filter((word) => !word.startsWith('--'))
const startedMs = performance.now()
const results = new TestResults()
const programOptions = ['--production', '--strict', '--include', 'files,dependencies,unlisted']
// Stores on a disk would spend much of their time in waiting for it.
const temporary = makeTemporaryFolder()
// More files at once than cores: most of them wait now and then for a process or a lease.
const largerTests = {
  name: 'larger tests',
  options: ['--test-concurrency=3', `--require=${root}/test/support/untracked-promises.cjs`],
  env: {
    TMPDIR: temporary,
    TURNPIKE_TEST_FOLDER: temporary,
    ...(tier === 'long' ? { TURNPIKE_TEST_LONG: '1' } : {}),
  },
}

if (isComplete) {
  await installAll()
  await prepareConsole()
}

if (chosen.length > 0) {
  await runTests(chosen, largerTests)
} else if (tier === 'long') {
  await runTests([...longTestFiles(), ...wholeTestFiles()], largerTests)
} else {
  await Promise.all([runChecks(), runUnitTests()])
  // Tests with stores and processes take minutes; they say little while the types are wrong.
  if (tier !== 'check' && results.failedCount === 0)
    await runTests(tier === 'quick' ? quickTestFiles() : wholeTestFiles(), largerTests)
}
rmSync(temporary, { recursive: true, force: true })
results.print({ wallMs: performance.now() - startedMs, isEachFileShown: isComplete })
process.exitCode = results.failedCount === 0 ? 0 : 1

/** Packages of npm and of Debian at once: most of the time of each is waiting. */
async function installAll() {
  const installing = ['test/clients', 'site', 'console'].map((folder) =>
    runNode(['scripts/install.mjs', folder]),
  )
  ensureDebianPackages()
  // Each has said why it could not.
  if ((await Promise.all(installing)).some((code) => code !== 0)) process.exit(1)
}

/** The types of its client are made from the document of the admin API; its tests need a build. */
async function prepareConsole() {
  const isBuilt = existsSync(join(root, 'console', 'built', 'index.html'))
  const pieces = []
  const words = ['scripts/console.mjs', ...(isBuilt ? ['--types'] : [])]
  const code = await runNode(words, { onOutput: (piece) => pieces.push(piece) })
  if (code !== 0) process.stderr.write(Buffer.concat(pieces))
}

/** Types, lint, format and unused code at once: none needs another. What has not changed is not checked again. */
async function runChecks() {
  // Each check that runs listens for the signals that end it.
  process.setMaxListeners(20)
  const cache = join('node_modules', '.cache')
  const incremental = (name) => ['--incremental', '--tsBuildInfoFile', join(cache, name)]
  // These can only be understood with their packages, which `npm test` installs.
  const separateTypes = [
    ['types of client tests', join('test', 'clients')],
    ['types of the website', 'site'],
    ['types of the console', 'console'],
  ].map(([name, project]) => [
    name,
    'tsc',
    '-p',
    project,
    ...incremental(`${project.replace('/', '-')}-types.tsbuildinfo`),
  ])
  const lintOptions =
    tier === 'all' ? [] : ['--ignore-pattern=test/clients', '--ignore-pattern=/console']
  const unusedInConsole = ['knip', '--no-progress', '--directory', 'console']
  const formatted = tier === 'all' ? ['.'] : ['package.json', ...changedFiles()]
  await Promise.all(
    [
      ['types', 'tsc', '-p', '.', ...incremental('types.tsbuildinfo')],
      ...(tier === 'all' ? separateTypes : []),
      ['lint', 'oxlint', '--type-aware', '--quiet', ...lintOptions, '.'],
      ['format', 'oxfmt', '--check', '--no-error-on-unmatched-pattern', ...formatted],
      ['unused code', 'knip', '--no-progress'],
      ...(tier === 'all'
        ? [
            ['unused code of the console', ...unusedInConsole],
            // The program alone, without tests: it may import no development package.
            ['unused files of the program', 'knip', '--no-progress', ...programOptions],
          ]
        : []),
      ['structure', 'node', join('scripts', 'structure.mjs')],
    ].map(runCheck),
  )
}

/** Files that differ from the branch that this one follows, or from its last commit where it follows none. */
function changedFiles() {
  const git = (...words) => {
    const { status, stdout } = spawnSync('git', words, { cwd: root, encoding: 'utf8' })
    return status === 0 ? stdout.split('\0').filter(Boolean) : undefined
  }
  const changed = ['diff', '--name-only', '--diff-filter=d', '-z', '--merge-base']
  const known = git(...changed, '@{upstream}') ?? git(...changed, 'HEAD')
  const added = git('ls-files', '--others', '--exclude-standard', '-z')
  return known === undefined || added === undefined ? ['.'] : [...known, ...added]
}

async function runCheck([name, command, ...commandArguments]) {
  const checkStartedMs = performance.now()
  const pieces = []
  const code = await run(command, commandArguments, { onOutput: (piece) => pieces.push(piece) })
  const output = Buffer.concat(pieces).toString()
  results.addStep({ name, code, output, durationMs: performance.now() - checkStartedMs })
}

/** All in one process: most of their time would be its start. */
function runUnitTests() {
  return runTests(unitTestFiles(), {
    name: 'unit tests',
    part: 'unit tests',
    options: ['--test-isolation=none'],
  })
}

/** The slowest files first, so that none is still running alone at the end. */
async function runTests(files, { name, part, options, env = {} }) {
  const testRun = results.startRun(name, part)
  const durations = readDurations()
  const expectedMs = (file) => durations[file] ?? Number.MAX_SAFE_INTEGER
  const code = await runNode(
    [
      '--test',
      '--test-timeout=1200000',
      `--test-reporter=${join(root, 'test', 'support', 'reporter.mjs')}`,
      '--test-reporter-destination=stdout',
      ...options,
      ...files.toSorted((left, right) => expectedMs(right) - expectedMs(left)),
    ],
    {
      onOutput: testRun.read,
      env: { NODE_COMPILE_CACHE: join(root, '.cache', 'compiled'), ...env },
    },
  )
  testRun.end(code)
}
