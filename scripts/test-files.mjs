/**
 * Lists the test files: unit tests are beside the code, everything larger is under test/. A unit test
 * opens no store and leaves nothing behind in its process, because all unit tests run in one process.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './runtime.mjs'

function testFilesBelow(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .map((name) => join(folder, name))
    .filter((path) => path.endsWith('.test.ts') && !path.includes('node_modules'))
    .sort()
}

function isDirectlyIn(folder) {
  return (path) => path.split('/').length === folder.split('/').length + 1
}

export function unitTestFiles() {
  return [
    ...testFilesBelow('src'),
    ...testFilesBelow('sandbox'),
    ...testFilesBelow('test').filter(isDirectlyIn('test')),
    ...testFilesBelow('bench'),
  ]
}

/** Folders whose files take longest; the other files take a second or two. */
const slowFolders = [
  'money',
  'commands',
  'torture',
  'clients',
  'simulation',
  'leaks',
  'failover',
  'processes',
]

/** Tests with stores, whole processes and real clients; those of slow folders first. */
export function wholeTestFiles() {
  const files = testFilesBelow('test').filter((path) => !isDirectlyIn('test')(path))
  const isSlow = (path) => slowFolders.includes(path.split('/')[1])
  return [...files.filter(isSlow), ...files.filter((path) => !isSlow(path))]
}

/** Their files start programs, machines or clients, or run for a long time. */
const separateFolders = ['clients', 'deploy', 'leaks', 'processes', 'simulation', 'site', 'torture']
/** Files that look at what their process holds, break its PostgreSQL, or run for a long time. */
const separateFiles = new Set([
  'test/console/browser.test.ts',
  'test/e2e/failed-start.test.ts',
  'test/money/crash-points.test.ts',
  'test/money/crash-points-on-postgres.test.ts',
  'test/money/many-streams.test.ts',
  'test/storage/postgres-faults.test.ts',
])
const groupFilesMax = 8

/**
 * Returns the files in groups of those that may share a process. A file that runs the tests of another one on
 * PostgreSQL shares none with it: the second would find its modules loaded.
 */
export function groupsOf(files) {
  const nameOf = (path) => {
    const folder = path.split('/')[1]
    if (separateFiles.has(path) || separateFolders.includes(folder)) return path
    return path.endsWith('-on-postgres.test.ts') ? `${folder} on PostgreSQL` : folder
  }
  return [...Map.groupBy(files, nameOf).values()].flatMap((group) => {
    const count = Math.ceil(group.length / groupFilesMax)
    return Array.from({ length: count }, (_, part) => group.filter((_, at) => at % count === part))
  })
}

/** The larger tests of `npm run test:quick`: the core of each promise, on SQLite, in seconds per file. */
export function quickTestFiles() {
  return [
    'test/e2e/credentials.test.ts',
    'test/e2e/errors-first-event.test.ts',
    'test/e2e/errors-midway.test.ts',
    'test/e2e/first-answer.test.ts',
    'test/e2e/limits.test.ts',
    'test/e2e/routing.test.ts',
    'test/e2e/transparency-bodies.test.ts',
    'test/failover/blame.test.ts',
    'test/failover/broken-answers.test.ts',
    'test/failover/recovery.test.ts',
    'test/failover/vendor-errors.test.ts',
    'test/money/client-leaves.test.ts',
    'test/money/last-cent.test.ts',
    'test/money/order.test.ts',
    'test/money/prices.test.ts',
    'test/money/vendor-breaks.test.ts',
    'test/storage/books.test.ts',
    'test/storage/embedded-ledger.test.ts',
    'test/transcripts/transcripts.test.ts',
  ]
}
