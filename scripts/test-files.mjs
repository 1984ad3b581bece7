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
  'bad-days',
  'clients',
  'simulation',
  'leaks',
  'failover',
  'processes',
]

const isLong = (path) => path.endsWith('.long.test.ts')

/** What only `npm run test:long` runs, because it takes minutes and seldom changes what it tests. */
export function longTestFiles() {
  return testFilesBelow('test').filter(isLong)
}

/** Tests with stores, whole processes and real clients; those of slow folders first. */
export function wholeTestFiles() {
  const files = testFilesBelow('test').filter(
    (path) => !isDirectlyIn('test')(path) && !isLong(path),
  )
  const isSlow = (path) => slowFolders.includes(path.split('/')[1])
  return [...files.filter(isSlow), ...files.filter((path) => !isSlow(path))]
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
