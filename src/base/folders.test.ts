import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { makeFolder } from './folders.ts'

function newFolder(context: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-folders-'))
  context.after(() => rmSync(folder, { recursive: true }))
  return folder
}

it('makes a private folder and those above it, and accepts one that exists', (context) => {
  const path = join(newFolder(context), 'a', 'b')
  makeFolder(path)
  makeFolder(path)
  assert.equal(statSync(path).mode & 0o777, 0o700)
  assert.equal(statSync(join(path, '..')).mode & 0o777, 0o700)
})

it('fails at once below a link that leads nowhere, and below a file', (context) => {
  const link = join(newFolder(context), 'link')
  symlinkSync('nowhere', link)
  assert.throws(() => makeFolder(join(link, 'a')), { code: 'EEXIST' })
  assert.throws(() => makeFolder(join(import.meta.filename, 'a')), { code: 'EEXIST' })
})

it(
  'fails at once where the system takes no folders',
  { skip: process.platform !== 'linux' },
  () => {
    assert.throws(() => makeFolder('/proc/turnpike/a'), {
      code: 'ENOTSUP',
      path: '/proc/turnpike',
    })
  },
)
