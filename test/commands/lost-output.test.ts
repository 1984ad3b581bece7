/**
 * Standard output that cannot be written, such as a file on a full disk. Goal: one sentence on stderr and
 * exit code 1; where a secret is lost, also the command that revokes it.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { describe, it } from 'node:test'
import { bareEnvironment, json, newFolder } from '../support/command-line.ts'
import { gather } from '../support/gather.ts'

const program = new URL('../../src/cli.ts', import.meta.url).pathname

async function runIntoFull(
  cwd: string,
  line: string,
): Promise<{ readonly code: unknown; readonly error: string }> {
  const full = openSync('/dev/full', 'w')
  const child = spawn(process.execPath, [program, ...line.split(' ')], {
    cwd,
    env: bareEnvironment,
    stdio: ['ignore', full, 'pipe'],
  })
  closeSync(full)
  assert.ok(child.stderr !== null)
  const error = gather(child.stderr)
  const [code] = (await once(child, 'close')) as [unknown]
  return { code, error: error.text() }
}

const sentence = /^turnpike: Standard output cannot be written: there is no space left\.[^\n]*\n$/

describe('output that cannot be written', () => {
  it('gives one sentence on stderr for every command', async () => {
    const folder = newFolder()
    await json(folder, 'account create acme --balance 5')
    const lines = ['account list', 'export', 'account statement acme', 'audit --json', 'doctor']
    for (const line of lines) {
      const { code, error } = await runIntoFull(folder, line)
      assert.equal(code, 1, line)
      assert.match(error, sentence, line)
    }
  })

  it('names the command that revokes a lost secret', async () => {
    const folder = newFolder()
    await json(folder, 'account create acme')
    for (const line of ['key create acme', 'token create acme --json', 'admin-token create']) {
      const { code, error } = await runIntoFull(folder, line)
      assert.equal(code, 1)
      assert.match(error, sentence)
      const [, revoke = ''] = /: turnpike (\S+ revoke key_\w+)\n$/.exec(error) ?? []
      assert.equal(revoke.split(' ')[0], line.split(' ')[0], error)
      await json(folder, revoke)
    }
  })
})
