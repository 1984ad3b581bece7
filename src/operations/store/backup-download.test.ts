/** The files of copies for other machines: none is left, and a failure ends nothing but its own copy. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { createCopies } from './backup-download.ts'

let folder: string

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'turnpike-download-'))
})

after(() => rmSync(folder, { recursive: true }))

const checked = { bytes: 5, sha256: '', isClean: true }

test('files that a killed process has left are removed, and no others', () => {
  const place = join(folder, 'left')
  const others = ['.other.db.download.0123abcd.unfinished', '.turnpike.db.0123abcd.unfinished']
  const left = ['', '-journal', '-wal', '-shm'].map(
    (suffix) => `.turnpike.db.download.0123abcd.unfinished${suffix}`,
  )
  const names = ['turnpike.db', ...others, ...left]
  createFolder(place, names)
  createCopies(join(place, 'turnpike.db'), () => Promise.resolve(checked))
  assert.deepEqual(readdirSync(place).sort(), ['turnpike.db', ...others].sort())
})

test('an open copy has no name, and is read to its end', async () => {
  const place = join(folder, 'open')
  createFolder(place, ['turnpike.db'])
  const openCopy = createCopies(join(place, 'turnpike.db'), (path) => {
    writeFileSync(path, 'bytes')
    return Promise.resolve(checked)
  })
  const copy = await openCopy()
  assert.deepEqual(readdirSync(place), ['turnpike.db'])
  assert.equal(Buffer.from((await copy.read()) ?? []).toString(), 'bytes')
  assert.equal(await copy.read(), undefined)
  await assert.rejects(openCopy(), /making or sending a backup already/)
  await copy.close()
  await (await openCopy()).close()
})

test('a copy that could fill the disk is refused, and makes no file', async () => {
  const place = join(folder, 'full')
  createFolder(place, ['turnpike.db'])
  writeFileSync(join(place, 'turnpike.db'), 'x'.repeat(100))
  let freeBytes = 199
  const copy = (): Promise<typeof checked> => Promise.resolve(checked)
  const openCopy = createCopies(join(place, 'turnpike.db'), copy, () => Promise.resolve(freeBytes))
  await assert.rejects(openCopy(), /199 bytes left.*twice the size of the store, 200 bytes/)
  assert.deepEqual(readdirSync(place), ['turnpike.db'])
  freeBytes = 200
  await (await openCopy()).close()
})

test('a copy that fails leaves no file, and the next one is made', async () => {
  const place = join(folder, 'failing')
  createFolder(place, ['turnpike.db'])
  let isBroken = true
  const openCopy = createCopies(join(place, 'turnpike.db'), (path) => {
    writeFileSync(`${path}-journal`, '')
    return isBroken ? Promise.reject(new Error('the thread was stopped')) : Promise.resolve(checked)
  })
  await assert.rejects(openCopy(), /the thread was stopped/)
  assert.deepEqual(readdirSync(place), ['turnpike.db'])
  isBroken = false
  await (await openCopy()).close()
  assert.deepEqual(readdirSync(place), ['turnpike.db'])
})

function createFolder(path: string, names: readonly string[]): void {
  mkdirSync(path)
  for (const name of names) writeFileSync(join(path, name), '')
}
