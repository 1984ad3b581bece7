/**
 * Runs the commands that README.md and docs/ show, in a shell and in their order, beside the gateway that
 * the README starts. Commands named in the text must exist with their options. Only placeholders are
 * replaced: a name, a key's id, the folder of backups. Dates move with today.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts'
import { run } from '../support/command-line.ts'
import { gather } from '../support/gather.ts'
import { smallCatalogue } from '../support/catalogues.ts'

const repository = join(import.meta.dirname, '..', '..')
const launcher = './bin/turnpike'
/** The day on which the days in the pages are meant. */
const writtenOn = Date.UTC(2026, 10, 21)
const dayMs = 86_400_000

const counts = 'model,requests,input,output\n'
const prices =
  '{"large-1": {"input_cost_per_token": 3e-6, "output_cost_per_token": 1.5e-5, "mode": "chat"}}'

interface Page {
  readonly name: string
  readonly text: string
}

const pages: readonly Page[] = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join('docs', name)),
].map((name) => ({ name, text: readFileSync(join(repository, name), 'utf8') }))

/** Lines of its shell blocks that call the program, without what is said behind them. */
function commandLines({ text }: Page): string[] {
  const blocks = [...text.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block ?? '')
  const lines = blocks.join('').split('\n')
  return lines
    .filter((line) => line.startsWith(launcher))
    .map((line) => line.replace(/\s+#.*$/, ''))
}

/** A folder as a reader has it after cloning, with the files the pages speak of. */
function newClone(sandbox: Sandbox): string {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-documented-'))
  mkdirSync(join(folder, 'bin'))
  mkdirSync(join(folder, 'backups'))
  symlinkSync(join(repository, 'bin', 'turnpike'), join(folder, 'bin', 'turnpike'))
  writeFileSync(join(folder, 'catalog.yaml'), smallCatalogue(sandbox.url))
  writeFileSync(join(folder, 'counts.csv'), counts)
  writeFileSync(join(folder, 'model_prices_and_context_window.json'), prices)
  return folder
}

/** The environment of a reader's shell; free ports in place of the usual ones. */
function environmentOf(): NodeJS.ProcessEnv {
  return {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    TURNPIKE_LISTEN: '127.0.0.1:0',
    TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0',
  }
}

function filledIn(line: string, folder: string, keyId: string): string {
  return line
    .replaceAll(/\[?\bNAME\b\]?/g, 'alpha-main')
    .replaceAll('key_…', keyId)
    .replaceAll('/backups/', `${join(folder, 'backups')}/`)
    .replaceAll(/\b20\d\d-\d\d-\d\d\b/g, (day) => {
      const movedMs = Date.parse(day) + (Math.floor(Date.now() / dayMs) * dayMs - writtenOn)
      return new Date(movedMs).toISOString().slice(0, 10)
    })
}

interface Typed {
  readonly code: number
  readonly out: string
  readonly error: string
}

function type(line: string, folder: string): Promise<Typed> {
  return new Promise((resolve) => {
    execFile('sh', ['-c', line], { cwd: folder, env: environmentOf() }, (failure, out, error) => {
      resolve({ code: typeof failure?.code === 'number' ? failure.code : 0, out, error })
    })
  })
}

/** Types the lines one after the other; `serve` goes on beside those that follow. */
async function typeAll(lines: readonly string[], folder: string): Promise<void> {
  let keyId = ''
  let stop: (() => Promise<void>) | undefined
  try {
    for (const line of lines) {
      const given = filledIn(line, folder, keyId)
      const [, command, ...words] = given.split(' ')
      if (command === 'serve') {
        stop = await startServing(folder, words)
        continue
      }
      const { code, out, error } = await type(given, folder)
      assert.deepEqual({ given, code, error }, { given, code: 0, error: '' })
      if (given.startsWith(`${launcher} key create`))
        keyId = /\bkey_[0-9a-z]{26}\b/.exec(out)?.[0] ?? keyId
    }
  } finally {
    await stop?.()
  }
}

async function startServing(
  folder: string,
  words: readonly string[],
): Promise<() => Promise<void>> {
  const child = spawn(launcher, ['serve', ...words], {
    cwd: folder,
    env: environmentOf(),
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  await gather(child.stdout).until(/"msg":"serving"/)
  return async () => {
    child.kill('SIGTERM')
    await ended
  }
}

describe('commands in the documentation', () => {
  let sandbox: Sandbox
  const folders: string[] = []

  before(async () => {
    sandbox = await startSandbox()
  })
  after(async () => {
    await sandbox.close()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })

  for (const page of pages) {
    const lines = commandLines(page)
    // documented-tasks.test.ts runs the pages of tasks.
    if (lines.length === 0 || page.name.startsWith(join('docs', 'tasks'))) continue
    it(`${page.name}: ${lines.length} lines work as printed`, async () => {
      const folder = newClone(sandbox)
      folders.push(folder)
      const appliesItself = lines.some((line) => line.startsWith(`${launcher} apply`))
      const before = appliesItself ? [] : [`${launcher} apply -f catalog.yaml`]
      await typeAll([...before, ...lines], folder)
    })
  }

  it('named in the text exist, with their options', async () => {
    const named = new Set<string>()
    for (const { text } of pages)
      for (const [, words] of text.matchAll(/`(?:\.\/bin\/)?turnpike ([^`]*)`/g))
        named.add(words ?? '')
    assert.ok(named.size > 10)
    const unknown: string[] = []
    for (const words of named) {
      const command = /^[a-z][a-z-]*(?: [a-z][a-z-]*)?(?![^ ])/.exec(words)?.[0].split(' ') ?? []
      const { code, out } = await run(repository, [...command, '--help'])
      const options = words.match(/(?<=^|[ [])--?[a-z][a-z-]*/g) ?? []
      const isKnown = code === 0 && options.every((option) => hasOption(out, option))
      if (!isKnown) unknown.push(words)
    }
    assert.deepEqual(unknown, [])
  })

  it('of npm are scripts in package.json', () => {
    const { scripts } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
      readonly scripts: Readonly<Record<string, string>>
    }
    const named = pages.flatMap(({ text }) =>
      [...text.matchAll(/\bnpm (?:run ([a-z:]+)|(start|test)\b)/g)].map(
        ([, script, own]) => script ?? own ?? '',
      ),
    )
    assert.ok(named.length > 10)
    assert.deepEqual(
      named.filter((name) => scripts[name] === undefined),
      [],
    )
  })

  it('link to pages that exist', () => {
    const missing: string[] = []
    for (const { name, text } of pages)
      for (const [, target] of text.matchAll(/\]\((?!https?:|#)([^)#]+)(?:#[^)]*)?\)/g))
        if (!existsSync(join(repository, name, '..', target ?? '')))
          missing.push(`${name}: ${target}`)
    assert.deepEqual(missing, [])
  })
})

/** The program's own options, `--json` and `--config`, go with every command. */
function hasOption(help: string, option: string): boolean {
  return ['--json', '--config', '--help'].includes(option) || new RegExp(`${option}\\b`).test(help)
}
