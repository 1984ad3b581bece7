/** The log of `serve` on a real pseudo-terminal (`script`) and on a pipe: the same lines. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { test } from 'node:test'
import { bareEnvironment, newFolder } from '../support/command-line.ts'
import { gather } from '../support/gather.ts'

const program = join(import.meta.dirname, '../../src/cli.ts')
const serve = `exec '${process.execPath}' '${program}' serve`
const adminToken = `ad_${'canary'.repeat(8)}`

/** Starts `serve`, waits for the line that says so, stops it, and returns all that it wrote. */
async function outputOf(command: string, words: readonly string[]): Promise<string> {
  const child = spawn(command, words, {
    cwd: newFolder(),
    env: {
      ...bareEnvironment,
      TERM: 'xterm',
      TURNPIKE_LISTEN: '127.0.0.1:0',
      TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0',
      TURNPIKE_ADMIN_TOKEN: adminToken,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const closed = once(child, 'close')
  const out = gather(child.stdout)
  await out.until(/serving[^\n]*\n/)
  child.kill('SIGTERM')
  await closed
  assert.ok(!out.text().includes(adminToken))
  return out.text()
}

const onTerminal = ['--quiet', '--flush', '--command', serve, '/dev/null']

test('the log is JSON lines, on a pipe and on a terminal', async () => {
  for (const text of [await outputOf('sh', ['-c', serve]), await outputOf('script', onTerminal)]) {
    const [line = ''] = /^\{.*"msg":"serving".*\}/m.exec(text) ?? []
    assert.equal((JSON.parse(line) as { level: string }).level, 'info')
  }
})
