/**
 * Commands on separate stores, for tests of what a script sees of them: exit code, stdout and stderr.
 * Commands beside a gateway on one store are in program.ts.
 */
import assert from 'node:assert/strict'
import { execFile, spawn, type ExecFileException } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before } from 'node:test'
import { bareEnvironment, runCommand, type Ran } from './command-hosts.ts'
import { gather } from './gather.ts'

export { bareEnvironment, type Ran }

const program = new URL('../../src/cli.ts', import.meta.url).pathname
let root: string
let folderCount = 0

before(() => {
  root = mkdtempSync(join(tmpdir(), 'turnpike-cli-'))
})

after(() => rmSync(root, { recursive: true }))

/** Makes a folder with its own store. */
export function newFolder(files: Readonly<Record<string, string>> = {}): string {
  const folder = join(root, `store-${folderCount++}`)
  mkdirSync(folder)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  return folder
}

export function run(
  cwd: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  return runCommand(words, { cwd, env: environment })
}

/** Runs a line with `--json` where no file can grow beyond so many blocks of 512 bytes, as on a full disk. */
export function runWithin(cwd: string, line: string, blocks: number): Promise<Ran> {
  const script = `ulimit -f ${blocks}; exec "$0" "$@"`
  const words = ['-c', script, process.execPath, program, ...line.split(' '), '--json']
  return new Promise((resolve) => {
    execFile('/bin/sh', words, { cwd, env: { PATH: process.env['PATH'] } }, (failure, out, error) =>
      resolve({ code: exitCodeOf(failure), out, error }),
    )
  })
}

/** -1 where a signal ended it, or it could not be run at all. */
function exitCodeOf(failure: ExecFileException | null): number {
  if (failure === null) return 0
  return typeof failure.code === 'number' ? failure.code : -1
}

/** Runs a line in a terminal, answers its question, and resolves with what the terminal shows. */
export async function runAtTerminal(cwd: string, line: string, reply: string): Promise<string> {
  const command = `${process.execPath} ${program} ${line}`
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    cwd,
    env: bareEnvironment,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const closed = once(child, 'close')
  const out = gather(child.stdout)
  await out.until(/\[y\/N\]/)
  child.stdin.end(reply === '' ? '' : `${reply}\n`)
  await closed
  return out.text()
}

/** Runs a command that serves, stops it once it has said something, and reads all of its stdout. */
export async function runOn(
  cwd: string,
  words: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Record<string, unknown>> {
  const env = { ...bareEnvironment, ...environment }
  const child = spawn(process.execPath, [program, ...words], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const closed = once(child, 'close')
  const out = gather(child.stdout)
  await out.until(/\n\}\n/)
  child.kill('SIGTERM')
  assert.deepEqual(await closed, [0, null])
  return JSON.parse(out.text()) as Record<string, unknown>
}

/** Runs a line with `--json` and expects success. `more` are words with spaces in them. */
export async function json(
  cwd: string,
  line: string,
  ...more: readonly string[]
): Promise<Record<string, unknown>> {
  const ran = await run(cwd, [...line.split(' '), ...more, '--json'])
  assert.equal(ran.code, 0, `${line}: ${ran.error}`)
  assert.equal(ran.error, '')
  return JSON.parse(ran.out) as Record<string, unknown>
}

/** Runs a line with `--json` and expects an error: as the one document, and in words on stderr. */
export async function failure(
  cwd: string,
  line: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly exit: number; readonly code: string; readonly message: string }> {
  const ran = await run(cwd, [...line.split(' '), '--json'], environment)
  const { error } = JSON.parse(ran.out) as { error: { code: string; message: string } }
  assert.equal(ran.error, `turnpike: ${error.message}\n`)
  return { exit: ran.code, ...error }
}
