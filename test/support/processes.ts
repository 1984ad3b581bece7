/**
 * `turnpike serve` with several processes, as an operator runs it: the launcher, a real PostgreSQL, simulated
 * vendors, an account with a key. For tests of what a supervisor and its gateways do.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { Agent } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts'
import { demoCatalogueWith } from './catalogues.ts'
import { gather } from './gather.ts'
import { open, send, type OpenAnswer, type WireAnswer } from './http-client.ts'
import type { PostgresServer } from './postgres.ts'
import { openProgram, type Program } from './program.ts'

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'turnpike')

/** One line of the log. */
interface LogLine {
  readonly msg: string
  readonly node?: string
  readonly process?: string
  readonly pid?: number
  readonly reason?: string
  readonly version?: string
}

export interface Processes {
  readonly url: string
  readonly adminUrl: string
  readonly port: number
  /** The supervisor's. */
  readonly pid: number
  readonly program: Program
  readonly sandbox: Sandbox
  readonly key: string
  lines(): readonly LogLine[]
  /** Resolves with the first so many lines with these fields, as soon as they are there. */
  until(fields: Partial<LogLine>, count?: number): Promise<readonly LogLine[]>
  signal(signal: NodeJS.Signals): void
  /** Exit code, or the signal that ended the supervisor. */
  readonly ended: Promise<number | NodeJS.Signals>
  /** Sends a request for a whole answer. */
  ask(prompt?: string, agent?: Agent): Promise<WireAnswer>
  /** Begins a stream. */
  stream(prompt?: string): OpenAnswer
  /** The store's URL. */
  readonly store: string
  /** The open holds in the store. */
  holds(): Promise<number>
  /** What the store says of the account. */
  charged(): Promise<{ readonly requests: number; readonly holds: number }>
  metrics(): Promise<string>
}

/** Only for a test that fails: it shows what was logged. */
const patienceMs = 90_000

interface Wanted {
  readonly server: PostgresServer
  readonly environment?: Readonly<Record<string, string>>
  readonly command?: string
  readonly count?: number
  readonly balanceUsd?: string
}

/** A test, or a program that calls what it is given when it ends. */
interface Context {
  after(close: () => Promise<void>): void
}

/** Starts two processes by default; resolves when all are ready. Ends everything with the test. */
export async function startProcesses(
  context: Context,
  { server, environment = {}, command = launcher, count = 2, balanceUsd = '100' }: Wanted,
): Promise<Processes> {
  const sandbox = await startSandbox()
  context.after(() => sandbox.close())
  const store = await server.createDatabase()
  const database = new URL(store).pathname.slice(1)
  const settings = {
    TURNPIKE_STORE: store,
    TURNPIKE_MASTER_KEY: '7'.repeat(64),
    TURNPIKE_NODE_NAME: 'here',
    TURNPIKE_NODE_LEASE: '1s',
    TURNPIKE_LOG_LEVEL: 'debug',
    ...environment,
  }
  const program = await openProgram(settings)
  context.after(() => program.close())
  await program.write('c.yaml', demoCatalogueWith({ every: { check: 'none' } })(sandbox.url))
  await program.json('apply', '-f', 'c.yaml')
  await program.json('account', 'create', 'acme', '--balance', balanceUsd)
  const { key } = await program.json<{ key: string }>('key', 'create', 'acme')
  const { token } = await program.json<{ token: string }>('admin-token', 'create')

  const child = spawn(command, ['serve', '--processes', String(count)], {
    cwd: program.folder,
    env: {
      PATH: process.env['PATH'],
      TURNPIKE_LISTEN: '127.0.0.1:0',
      TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const errors = gather(child.stderr)
  const ended = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ?? code ?? -1))
  })
  context.after(async () => {
    // The first signal lets answers finish, for which a failed test would wait.
    for (const signal of ['SIGTERM', 'SIGTERM'] as const) child.kill(signal)
    await ended
  })
  const lines: LogLine[] = []
  const lookOuts = new Set<() => void>()
  createInterface(child.stdout).on('line', (line) => {
    lines.push(JSON.parse(line) as LogLine)
    for (const look of lookOuts) look()
  })
  const until = (fields: Partial<LogLine>, times = 1): Promise<readonly LogLine[]> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        lookOuts.delete(look)
        const what = `${times} lines like ${JSON.stringify(fields)}`
        const all = lines.map((line) => JSON.stringify(line)).join('\n')
        reject(new Error(`no ${what}:\n${all}\n${errors.text()}`))
      }, patienceMs)
      const found: LogLine[] = []
      let lookedAt = 0
      const look = (): void => {
        found.push(...lines.slice(lookedAt).filter((line) => isLike(line, fields)))
        lookedAt = lines.length
        if (found.length < times) return
        lookOuts.delete(look)
        clearTimeout(timer)
        resolve(found.slice(0, times))
      }
      lookOuts.add(look)
      look()
    })
  await until({ msg: 'process ready' }, count)
  const [serving] = await until({ msg: 'serving' })
  const { address, admin } = serving as unknown as Record<string, { port: number }>
  assert.ok(address !== undefined && admin !== undefined)
  const url = `http://127.0.0.1:${address.port}`
  const adminUrl = `http://127.0.0.1:${admin.port}`
  const holds = async (): Promise<number> =>
    Number(await server.run('SELECT count(*) FROM hold', database))
  const wire = (prompt: string, isStream: boolean) => ({
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'large-1',
      max_tokens: 50,
      stream: isStream,
      messages: [{ role: 'user', content: prompt }],
    }),
  })
  return {
    url,
    adminUrl,
    port: address.port,
    pid: child.pid ?? -1,
    program,
    sandbox,
    key,
    lines: () => lines,
    until,
    signal: (signal) => void child.kill(signal),
    ended,
    ask: (prompt = 'hello', agent) =>
      send(`${url}/alpha/v1/messages`, {
        ...wire(prompt, false),
        ...(agent === undefined ? {} : { agent }),
      }),
    stream: (prompt = 'hello') => open(`${url}/alpha/v1/messages`, wire(prompt, true)),
    store,
    holds,
    async charged() {
      const usage = await program.json<{ usage: { requests: number } }>(
        'usage',
        'acme',
        '--period',
        'total',
      )
      return { requests: usage.usage.requests, holds: await holds() }
    },
    async metrics() {
      const answer = await send(`${adminUrl}/metrics`, {
        headers: { authorization: `Bearer ${token}` },
      })
      assert.equal(answer.status, 200, answer.text)
      return answer.text
    },
  }
}

function isLike(line: LogLine, fields: Partial<LogLine>): boolean {
  return Object.entries(fields).every(([name, value]) => line[name as keyof LogLine] === value)
}

/** Resolves with the number of the process that runs under this name; the latest of them. */
export function pidOf(processes: Processes, name: string): number {
  const ready = processes
    .lines()
    .findLast(({ msg, process: of }) => msg === 'process ready' && of === name)
  assert.ok(ready?.pid !== undefined, `${name} is ready`)
  return ready.pid
}

/** The names of the nodes that have answered requests. */
export function answering(processes: Processes): ReadonlySet<string> {
  return new Set(
    processes
      .lines()
      .flatMap(({ msg, node }) => (msg === 'exchange ended' && node !== undefined ? [node] : [])),
  )
}

/** Whether a connection is accepted at the port. */
export function isAccepting(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}
