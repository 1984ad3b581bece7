/**
 * Runs schemathesis against a gateway with all of its checks. One caller, who may do everything that the
 * document has, sends each generated request; then every other caller sends the same bytes.
 * python/callers.py compares each answer with the rights of its caller.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ReadyPython } from './python.ts'
import { runChild } from './child.ts'

export interface Caller {
  readonly headers: Readonly<Record<string, string>>
  /** Ids of operations. It is refused at all others. */
  readonly may: readonly string[]
  /** Operations that it does not call, because they would end the run. */
  readonly skips: readonly string[]
}

export interface SchemathesisTarget {
  /** A file or an address. */
  readonly document: string
  readonly url: string
  /** The name of a module in the folder python. */
  readonly hooks: string
  /** Sent with each generated request. */
  readonly headers: Readonly<Record<string, string>>
  /** By name, for each account: those who send a request after the first caller. */
  readonly callers: readonly Readonly<Record<string, Caller>>[]
  /** More variables for the hooks. */
  readonly env: Readonly<Record<string, string>>
  /** A pattern of paths that are not called. */
  readonly excludedPaths?: string
  readonly folder: string
}

export interface Budget {
  /** `brief`: not every caller sends every request, and the values of queries are not all covered. */
  readonly config: 'brief' | 'long'
  /** Random requests of each operation. */
  readonly maxExamples: number
  readonly seed: number
}

interface CallerFigures {
  readonly sent: number
  readonly done: number
  readonly refused: number
}

export interface SchemathesisResult {
  readonly code: number | null
  readonly output: string
  /** Generated requests that have passed all checks. */
  readonly passed: number
  readonly callers: Readonly<Record<string, CallerFigures>>
}

const pythonFolder = join(import.meta.dirname, '..', 'python')

export async function runSchemathesis(
  { python }: ReadyPython,
  target: SchemathesisTarget,
  { config, maxExamples, seed }: Budget,
): Promise<SchemathesisResult> {
  const figures = join(target.folder, `${target.hooks}-figures.json`)
  const callers = join(target.folder, `${target.hooks}-callers.json`)
  await writeFile(callers, JSON.stringify(target.callers))
  const headers = Object.entries(target.headers)
  const { code, stdout, stderr } = await runChild({
    command: join(dirname(python), 'schemathesis'),
    args: [
      '--config-file',
      join(pythonFolder, `schemathesis-${config}.toml`),
      'run',
      target.document,
      '--url',
      target.url,
      ...headers.flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
      '--phases',
      'examples,coverage,fuzzing',
      '--max-examples',
      String(maxExamples),
      ...(target.excludedPaths === undefined ? [] : ['--exclude-path-regex', target.excludedPaths]),
      '--checks',
      'all',
      '--seed',
      String(seed),
      // Tests do not depend on the speed of the machine.
      '--request-timeout',
      '60',
      '--max-response-time',
      '60',
      '--generation-database',
      'none',
      '--continue-on-failure',
    ],
    env: {
      PATH: '/usr/bin:/bin',
      HOME: target.folder,
      PYTHONPATH: pythonFolder,
      PYTHONDONTWRITEBYTECODE: '1',
      SCHEMATHESIS_HOOKS: join(pythonFolder, `${target.hooks}.py`),
      CALLERS: callers,
      SENDS_ALL: config === 'long' ? 'yes' : 'no',
      FIGURES: figures,
      ...target.env,
    },
    cwd: target.folder,
    timeoutMs: 3_600_000,
  })
  const output = `${stdout}\n${stderr}`
  const [, passed] = /(\d+) generated, \1 passed/.exec(stdout) ?? []
  if (passed === undefined) throw new Error(output)
  return {
    code,
    output,
    passed: Number(passed),
    callers: JSON.parse(await readFile(figures, 'utf8')) as SchemathesisResult['callers'],
  }
}
