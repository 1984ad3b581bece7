/**
 * A missing master key file. Goal: no command creates a new key while the store holds credentials that are
 * sealed with the old one, and commands that read never create one.
 */
import assert from 'node:assert/strict'
import { existsSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { failure, json, newFolder, run, runOn } from '../support/command-line.ts'

const ports = { TURNPIKE_LISTEN: '127.0.0.1:0', TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0' }

function catalogue(credential: string): string {
  return `
vendors:
  alpha: { format: messages, credential: x-api-key }
models:
  large-1: { vendor: alpha, max_output_tokens: 8192, price: { input: 3.00, output: 15.00 } }
channels:
  main: { vendor: alpha, url: "http://127.0.0.1:9", credential: ${credential}, models: [large-1], check: none }
`
}

function keyFile(folder: string): string {
  return join(folder, 'data', 'master.key')
}

async function diagnose(folder: string): Promise<string> {
  const { out } = await run(folder, ['doctor', '--json'])
  const { findings } = JSON.parse(out) as { findings: { area: string; message: string }[] }
  return findings.map(({ message }) => message).join('\n')
}

describe('the master key', () => {
  it('is reported as missing, not replaced, while credentials are sealed with it', async () => {
    const folder = newFolder({
      'first.yaml': catalogue('vendor-canary-1'),
      'second.yaml': catalogue('vendor-canary-2'),
    })
    await json(folder, 'apply -f first.yaml')
    renameSync(keyFile(folder), join(folder, 'mislaid.key'))
    const missing = new RegExp(`master key file ${keyFile(folder)} is missing.* Put it back`)

    assert.match(await diagnose(folder), missing)
    for (const line of ['apply -f second.yaml --dry-run', 'apply -f second.yaml']) {
      const refused = await failure(folder, line)
      assert.deepEqual([refused.exit, refused.code], [2, 'operations.invalid'], line)
      assert.match(refused.message, missing)
    }
    await runOn(folder, ['serve', '--json'], ports)
    assert.ok(!existsSync(keyFile(folder)))

    renameSync(join(folder, 'mislaid.key'), keyFile(folder))
    assert.doesNotMatch(await diagnose(folder), /master key|cannot be opened/)
    assert.equal((await json(folder, 'apply -f second.yaml'))['kind'], 'applied')
  })

  it('is created by the first apply that seals a credential, and not by a dry run', async () => {
    const folder = newFolder({ 'catalog.yaml': catalogue('vendor-canary') })
    await json(folder, 'apply -f catalog.yaml --dry-run')
    await run(folder, ['doctor'])
    assert.ok(!existsSync(keyFile(folder)))
    await json(folder, 'apply -f catalog.yaml')
    assert.equal(statSync(keyFile(folder)).mode & 0o777, 0o600)
  })

  it('is created by the first start of a gateway', async () => {
    const folder = newFolder()
    await runOn(folder, ['serve', '--json'], ports)
    assert.equal(statSync(keyFile(folder)).mode & 0o777, 0o600)
  })
})
