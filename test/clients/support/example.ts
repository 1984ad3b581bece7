/**
 * Runs an example as its page says, in a copy of its folder that has the packages of these tests,
 * against the gateway of a rig and with nothing but the variables the page names.
 */
import assert from 'node:assert/strict'
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { usage } from '../../support/http-client.ts'
import { runChild } from './child.ts'
import type { ClientRig } from './client-rig.ts'

const root = join(import.meta.dirname, '..', '..', '..')

export interface Example {
  readonly folder: string
  /** The program and its file, as the page has them behind the variables. */
  readonly command: string
  /** Where the program of the command is, if not on the path. */
  readonly program?: string
}

/** Resolves with what it printed; it must have ended well and have been charged twice. */
export async function runExample(rig: ClientRig, example: Example): Promise<string> {
  const source = join(root, 'examples', example.folder)
  const page = await readFile(join(source, 'readme.md'), 'utf8')
  assert.ok(page.includes(`${example.command}\n`), 'the page has another command')
  const copy = await mkdtemp(join(tmpdir(), 'turnpike-example-'))
  try {
    await cp(source, copy, { recursive: true })
    await symlink(join(root, 'test', 'clients', 'node_modules'), join(copy, 'node_modules'))
    const account = await rig.gateway.createAccount()
    const [named = '', ...args] = example.command.split(' ')
    const { code, stdout, stderr } = await runChild({
      command: example.program ?? named,
      args,
      cwd: copy,
      timeoutMs: 300_000,
      env: {
        PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
        GATEWAY_URL: rig.gateway.url,
        GATEWAY_KEY: account.key,
        GATEWAY_TOKEN: account.token,
      },
    })
    assert.equal(code, 0, stderr)
    const figures = (await usage(rig.gateway.url, account.token))['usage'] as { requests: number }
    assert.equal(figures.requests, 2)
    return stdout
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}
