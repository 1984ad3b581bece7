/**
 * Completion in real shells. fish prints its candidates itself; bash and zsh run at a terminal, where the
 * test types an unfinished line and presses Tab. `npm test` installs zsh and fish on Debian.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { bareEnvironment, newFolder, run } from '../support/command-line.ts'
import { gather } from '../support/gather.ts'

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'turnpike')

let folder: string
let environment: NodeJS.ProcessEnv

before(async () => {
  folder = newFolder({ 'catalog.yaml': '' })
  mkdirSync(join(folder, 'bin'))
  symlinkSync(launcher, join(folder, 'bin', 'turnpike'))
  environment = {
    ...bareEnvironment,
    PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
    HOME: folder,
    TERM: 'dumb',
    LC_ALL: 'C.UTF-8',
  }
})

/** Types each line at a terminal of the shell; `expected` must show before the next one is typed. */
async function atTerminal(
  command: string,
  steps: readonly { readonly typed: string; readonly expected: RegExp }[],
): Promise<void> {
  const child = spawn('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    cwd: folder,
    env: environment,
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const closed = once(child, 'close')
  const out = gather(child.stdout)
  try {
    for (const { typed, expected } of steps) {
      child.stdin.write(typed)
      await out.until(expected)
    }
  } finally {
    child.kill('SIGKILL')
    await closed
  }
}

/** Ctrl-U empties the line before the next one. */
const emptied = '\u0015'

const typedLines = [
  { typed: `${emptied}turnpike acco\t`, expected: /turnpike account / },
  { typed: `${emptied}turnpike channel hist\t`, expected: /turnpike channel history / },
  { typed: `${emptied}turnpike account create x --bal\t`, expected: /create x --balance / },
  { typed: `${emptied}turnpike apply -f cata\t`, expected: /-f catalog\.yaml / },
]

describe('completion at a terminal', () => {
  it('of bash completes commands, options and files', () =>
    atTerminal('bash --norc --noprofile -i', [
      { typed: 'source <(turnpike completion bash); echo is-rea""dy\n', expected: /is-ready/ },
      ...typedLines,
    ]))

  it('of zsh completes commands, options and files', () =>
    atTerminal('zsh -f -i', [
      {
        typed: 'autoload -Uz compinit && compinit -u; echo is-rea""dy\n',
        expected: /is-ready/,
      },
      { typed: 'source <(turnpike completion zsh); echo is-loa""ded\n', expected: /is-loaded/ },
      ...typedLines,
    ]))

  it('of fish completes commands, options and files', async () => {
    const complete = async (line: string): Promise<readonly string[]> => {
      const script = 'turnpike completion fish | source; complete --do-complete $argv'
      const words = ['--no-config', '--command', script, line]
      const { stdout } = await promisify(execFile)('fish', words, { cwd: folder, env: environment })
      return stdout.split('\n').map((found) => found.split('\t')[0] ?? '')
    }
    assert.deepEqual(await complete('turnpike acco'), ['account', ''])
    assert.deepEqual(await complete('turnpike channel hist'), ['history', ''])
    assert.ok((await complete('turnpike account create x --bal')).includes('--balance'))
    assert.ok((await complete('turnpike apply -f cata')).includes('catalog.yaml'))
  })
})

describe('words of an unfinished line', () => {
  const candidates = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { code, out, error } = await run(folder, ['complete-words', '--', ...words])
    assert.deepEqual({ code, error }, { code: 0, error: '' })
    return out.split('\n').flatMap((line) => line.split('\t')[0] || [])
  }

  it('complete with every visible command of the help', async () => {
    const { out } = await run(folder, ['--help'])
    const listed = [...out.matchAll(/^ {2}([a-z][a-z-]+)(?: |$)/gm)].map(([, name]) => name ?? '')
    const commands = listed.filter((name) => name !== 'turnpike')
    assert.ok(commands.length > 15)
    assert.deepEqual(new Set(await candidates('')), new Set(commands))
  })

  it('complete values of options', async () => {
    assert.deepEqual(await candidates('completion', ''), ['bash', 'zsh', 'fish'])
    assert.deepEqual(await candidates('init', 'openai', 'deep'), ['deepseek'])
    assert.deepEqual(await candidates('apply', '-f', ''), [':files'])
    assert.deepEqual(await candidates('usage', 'north wind', '--period', 'm'), ['month'])
    assert.deepEqual(await candidates('account', 'show', 'acme', '--jso'), ['--json'])
  })
})
