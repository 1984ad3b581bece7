/**
 * The program as an operator runs it: `./bin/turnpike` in child processes on one store, `serve`
 * among them. Everything any of them wrote is kept. For tests of what commands do to a running
 * gateway, and of what may be read where.
 */
import { spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launcher, runCommand, type Ran } from './command-hosts.ts'
import { gather } from './gather.ts'

interface Ended extends Ran {
  readonly words: readonly string[]
}

export interface Serving {
  readonly url: string
  readonly adminUrl: string
  readonly pid: number
  /** What it has written so far: its log, and what it says to a person. */
  output(): string
  errors(): string
  /** SIGTERM, and then the exit code. */
  stop(): Promise<number>
}

export interface Program {
  readonly folder: string
  /** Every command that has ended, with what it wrote. */
  readonly ran: readonly Ended[]
  run(...words: readonly string[]): Promise<Ran>
  /** Runs with `--json`, expects success, and gives the document. */
  json<Document = Record<string, unknown>>(...words: readonly string[]): Promise<Document>
  write(name: string, text: string): Promise<void>
  serve(): Promise<Serving>
  /** Ends what still serves and removes the folder. */
  close(): Promise<void>
}

/** `environment` is that of every process: settings, and credentials written as `env:NAME`. */
export async function openProgram(
  environment: Readonly<Record<string, string>> = {},
): Promise<Program> {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-program-'))
  const ran: Ended[] = []
  const serving = new Set<Serving>()
  const env = {
    PATH: process.env['PATH'],
    TURNPIKE_LISTEN: '127.0.0.1:0',
    TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0',
    ...environment,
  }

  async function run(...words: readonly string[]): Promise<Ran> {
    const result = await runCommand(words, { cwd: folder, env })
    ran.push({ ...result, words })
    return result
  }

  return {
    folder,
    ran,
    run,
    async json<Document>(...words: readonly string[]): Promise<Document> {
      const { code, out, error } = await run(...words, '--json')
      if (code !== 0) throw new Error(`turnpike ${words.join(' ')} ended with ${code}: ${error}`)
      return JSON.parse(out) as Document
    },
    write: (name, text) => writeFile(join(folder, name), text),
    async serve() {
      const started = await startServing(folder, env)
      serving.add(started)
      return {
        ...started,
        async stop() {
          serving.delete(started)
          return started.stop()
        },
      }
    },
    async close() {
      for (const started of serving) await started.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function startServing(
  folder: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Serving> {
  const child = spawn(launcher, ['serve'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number>((resolve) => {
    child.once('close', (code, signal) => {
      resolve(code ?? (signal === null ? -1 : 128))
    })
  })
  const out = gather(child.stdout)
  const error = gather(child.stderr)
  const line = await out.until(/^.*"msg":"serving".*$/m).catch(async () => {
    throw new Error(`turnpike serve ended with ${await ended}: ${error.text()}`)
  })
  const { address, admin } = JSON.parse(line) as {
    readonly address: { readonly port: number }
    readonly admin: { readonly port: number }
  }
  return {
    url: `http://127.0.0.1:${address.port}`,
    adminUrl: `http://127.0.0.1:${admin.port}`,
    pid: child.pid ?? -1,
    output: () => out.text(),
    errors: () => error.text(),
    stop() {
      child.kill('SIGTERM')
      return ended
    },
  }
}
