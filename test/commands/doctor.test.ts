/** `turnpike doctor` on a full disk: it finds that the store cannot be written. */
import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { Diagnosis } from '../../src/operations/store/doctor.ts'
import { json, newFolder, runWithin } from '../support/command-line.ts'

/** While no file may have more than so many blocks of 512 bytes. */
async function diagnoseWithin(folder: string, blocks: number): Promise<Diagnosis> {
  const { out } = await runWithin(folder, 'doctor', blocks)
  return JSON.parse(out) as Diagnosis
}

function storeFinding({ findings }: Diagnosis): string {
  const { status, message } = findings.find(({ area }) => area === 'store') ?? {}
  return `${status}: ${message}`
}

describe('doctor', () => {
  it('reports a store as writable only where it is, and writes nothing to it', async () => {
    const folder = newFolder()
    await json(folder, 'account create acme')
    const data = join(folder, 'data')
    const before = statSync(join(data, 'turnpike.db')).size

    assert.match(storeFinding(await diagnoseWithin(folder, 10_000_000)), /^ok: .* is writable/)
    const full = await diagnoseWithin(folder, 1_000)
    assert.match(storeFinding(full), /^problem: The store cannot be written, .* Make room/)
    assert.equal(full.ok, false)

    assert.equal(statSync(join(data, 'turnpike.db')).size, before)
    assert.deepEqual(
      readdirSync(data).filter((name) => name.includes('wal')),
      [],
    )
    assert.equal((await json(folder, 'audit'))['clean'], true)
  })
})
