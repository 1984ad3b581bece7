/**
 * Which test files there are: unit tests stand beside the code, everything larger under test/. A unit
 * test opens no store and leaves nothing behind in its process, for `npm run check` runs all in one.
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
    ...testFilesBelow('test').filter(isDirectlyIn('test')),
    ...testFilesBelow('bench'),
  ]
}

/** Tests with stores, whole processes and real clients. */
export function wholeTestFiles() {
  return testFilesBelow('test').filter((path) => !isDirectlyIn('test')(path))
}
