/**
 * `npm start` as a person types it: npm, its script, the gateway with its simulated vendors. The commands
 * that it prints work; Ctrl-C (to all these processes) and SIGTERM (to npm only) both drain and leave
 * nothing behind; the next start keeps the data.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { signIn } from '../support/browser-session.ts'
import { runCommand, type Ran } from '../support/command-hosts.ts'
import { eventually } from '../support/eventually.ts'
import { gather, type Gathered } from '../support/gather.ts'
import { post, send, usage } from '../support/http-client.ts'

const root = join(import.meta.dirname, '..', '..')

let folder: string
/** Process groups of what has been started and has not ended. */
const running = new Set<number>()
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turnpike-start-'))
})
after(async () => {
  for (const group of running) process.kill(-group, 'SIGKILL')
  await rm(folder, { recursive: true, force: true })
})

interface Started {
  readonly text: string
  /** The answer to the printed line of this number. */
  curl(index: number): Promise<Record<string, unknown>>
  /** To npm and all it runs, as a terminal does it. */
  interrupt(): void
  /** To npm alone, as a supervisor does it. */
  terminate(): void
  until(pattern: RegExp): Promise<string>
  /** Resolves when npm and everything that holds its output has ended. */
  readonly ended: Promise<number>
}

interface Launched {
  readonly group: number
  readonly out: Gathered
  readonly errors: Gathered
  readonly ended: Promise<number>
}

function launch(
  environment: Readonly<Record<string, string>>,
  words: readonly string[] = [],
): Launched {
  const child = spawn('npm', ['start', '--', ...words], {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      TURNPIKE_STORE: `sqlite:${join(folder, 'turnpike.db')}`,
      TURNPIKE_LISTEN: '127.0.0.1:0',
      TURNPIKE_ADMIN_LISTEN: '127.0.0.1:0',
      ...environment,
    },
  })
  const group = child.pid ?? assert.fail('npm did not start')
  running.add(group)
  const ended = new Promise<number>((resolve) => {
    child.once('close', (code) => {
      running.delete(group)
      resolve(code ?? 128)
    })
  })
  return { group, out: gather(child.stdout), errors: gather(child.stderr), ended }
}

async function start(environment: Readonly<Record<string, string>> = {}): Promise<Started> {
  const { group, out, errors, ended } = launch(environment)
  const text = await out
    .until(/[^]*Press Ctrl-C.*\n/)
    .catch(async () =>
      assert.fail(`npm start ended with ${await ended}: ${out.text()}${errors.text()}`),
    )
  const lines = text.split('\n').filter((line) => line.startsWith('curl '))
  return {
    text,
    async curl(index) {
      const { stdout } = await promisify(execFile)('sh', ['-c', `${lines[index] ?? ''} --silent`])
      return JSON.parse(stdout) as Record<string, unknown>
    },
    interrupt: () => process.kill(-group, 'SIGINT'),
    terminate: () => process.kill(group, 'SIGTERM'),
    until: (pattern) => out.until(pattern),
    ended,
  }
}

const ownCatalogue = `
models:
  large-1: { vendor: alpha, price: { input: 3, output: 15 } }
channels:
  vendor-main: { vendor: alpha, url: https://vendor.example, credential: sk-own, models: [large-1] }
`

const consolePattern = /^Console: (\S+)   \(signs in once, within five minutes/m
const vendorsPattern = /simulated vendors {3}(\S+)/

function found(text: string, pattern: RegExp): string {
  return pattern.exec(text)?.[1] ?? assert.fail(`${pattern.source} is not in: ${text}`)
}

/** Takes this port until the test is over, unless something has it already. */
async function occupy(port: number, context: TestContext): Promise<void> {
  const server = createServer((socket) => socket.destroy())
  context.after(() => server.close())
  await new Promise<void>((resolve) => {
    server.once('error', () => resolve())
    server.listen({ host: '127.0.0.1', port }, () => resolve())
  })
}

/** An admin address whose port is in use until the test ends. */
async function takenAddress(context: TestContext): Promise<Readonly<Record<string, string>>> {
  const server = createServer().listen(0, '127.0.0.1')
  context.after(() => server.close())
  await once(server, 'listening')
  return { TURNPIKE_ADMIN_LISTEN: `127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('prints commands that work, drains on Ctrl-C, and keeps the data', async (context) => {
  await occupy(9_100, context)
  const first = await start()
  assert.notEqual(new URL(found(first.text, vendorsPattern)).port, '9100')
  const answer = await first.curl(0)
  assert.equal(answer['type'], 'message')
  const printed = await first.curl(1)
  assert.equal((printed['usage'] as { requests: number }).requests, 1)

  const link = new URL(found(first.text, consolePattern))
  assert.equal(link.pathname, '/console/sign-in')
  const code = link.hash.slice(1)
  const signedIn = await signIn(link.origin, { code })
  assert.equal((JSON.parse(signedIn.text) as { role: string }).role, 'owner')
  assert.equal((await signIn(link.origin, { code })).status, 401)

  const base = found(first.text, /Turnpike is running at (\S+)/)
  const vendors = found(first.text, vendorsPattern)
  const key = found(first.text, /(cr_\w+)/)
  const stream = post(`${base}/alpha/v1/messages`, key, {
    model: 'large-1',
    max_tokens: 50,
    stream: true,
    messages: [{ role: 'user', content: 'Hello [[sandbox: hold=gate@mid]]' }],
  })
  assert.equal((await send(`${vendors}/_sandbox/reached/gate`)).status, 200)
  first.interrupt()
  await first.until(/"msg":"draining"/)
  await send(`${vendors}/_sandbox/release/gate`, { method: 'POST' })
  const streamed = await stream
  assert.ok(streamed.isComplete)
  assert.match(streamed.body.toString(), /event: message_stop/)
  assert.equal(await first.ended, 0)
  const whole = await first.until(/[^]*"msg":"ended".*/)
  assert.equal(whole.split(code).length, 2, 'the code is in the banner and in no log line')

  await occupy(Number(new URL(vendors).port), context)
  const second = await start()
  assert.notEqual(found(second.text, vendorsPattern), vendors)
  assert.notEqual(new URL(found(second.text, consolePattern)).hash, link.hash)
  const again = found(second.text, /Turnpike is running at (\S+)/)
  const asked = await post(`${again}/alpha/v1/messages`, key, {
    model: 'large-1',
    max_tokens: 50,
    messages: [{ role: 'user', content: 'Hello again' }],
  })
  assert.equal(asked.status, 200, asked.body.toString())
  const { usage: sum } = await usage(again, found(first.text, /(ro_\w+)/))
  assert.equal((sum as { requests: number }).requests, 3)
  second.terminate()
  await second.ended
  await second.until(/"msg":"ended"/)
})

test('creates no secret in a failed start, so that the next start shows them all', async (context) => {
  const environment = { TURNPIKE_STORE: `sqlite:${join(folder, 'second.db')}` }
  const failing = launch({ ...environment, ...(await takenAddress(context)) })
  assert.equal(await failing.ended, 1)
  assert.match(failing.errors.text(), /Port \d+ is already in use/)

  const second = await start(environment)
  const { text } = second
  const path = found(text, /admin token +in (\S+\.admin-token) +\(only you can read it\)/)
  assert.match(readFileSync(path, 'utf8'), /^ad_\w+$/m)
  assert.doesNotMatch(text, /ad_\w{49}/)
  assert.match(text, consolePattern)
  assert.match(text, /demo key +cr_\w+ +\(shown only once\)/)
  assert.match(text, /read-only token +ro_\w+ +\(shown only once\)/)
  assert.equal((await second.curl(0))['type'], 'message')
  const listed = await runCommand(['account', 'list', '--json'], { cwd: folder, env: environment })
  const accounts = JSON.parse(listed.out) as readonly Record<string, unknown>[]
  assert.deepEqual(
    accounts.map(({ name }) => name),
    ['demo'],
  )

  const file = join(folder, 'own.yaml')
  await writeFile(file, ownCatalogue)
  const applied = await runCommand(['apply', '-f', file], { cwd: folder, env: environment })
  assert.match(applied.out, /- account demo\n- key cr_[^]*turnpike account resume demo/)
  const refused = await eventually(
    'the demo key is refused',
    () => second.curl(0),
    (answer) => answer['type'] === 'error',
  )
  assert.match(JSON.stringify(refused), /authentication_error/)
  second.terminate()
  await second.ended
})

test('prints the address of the console without a link where no owner has a token', async () => {
  const environment = { TURNPIKE_STORE: `sqlite:${join(folder, 'fifth.db')}` }
  const first = await start(environment)
  first.terminate()
  await first.ended
  const type = (line: string): Promise<Ran> =>
    runCommand([...line.split(' '), '--json'], { cwd: folder, env: environment })
  const [token] = JSON.parse((await type('admin-token list')).out) as readonly { id: string }[]
  await type(`admin-token revoke ${token?.id ?? ''}`)
  const second = await start(environment)
  assert.match(second.text, /^Console: http:\S+\/console\/   \(sign in with an admin token\)$/m)
  second.terminate()
  await second.ended
})

test('refuses a second start on the same store, and the first keeps its vendors', async () => {
  const environment = { TURNPIKE_STORE: `sqlite:${join(folder, 'third.db')}` }
  const exported = (): Promise<Ran> => runCommand(['export'], { cwd: folder, env: environment })
  const first = await start(environment)
  const before = await exported()
  assert.match(before.out, /alpha-main/)

  const second = launch(environment)
  assert.equal(await second.ended, 1)
  assert.match(second.errors.text(), /Another gateway process is serving the store/)
  assert.deepEqual(await exported(), before)
  assert.equal((await first.curl(0))['type'], 'message')
  first.terminate()
  await first.ended
})

test('leaves the catalogue unchanged when a start fails after its vendors moved to another port', async (context) => {
  const environment = { TURNPIKE_STORE: `sqlite:${join(folder, 'fourth.db')}` }
  const exported = (): Promise<Ran> => runCommand(['export'], { cwd: folder, env: environment })
  const first = await start(environment)
  first.terminate()
  await first.ended
  const before = await exported()

  await occupy(Number(new URL(found(first.text, vendorsPattern)).port), context)
  const failing = launch({ ...environment, ...(await takenAddress(context)) })
  assert.equal(await failing.ended, 1)
  assert.match(failing.errors.text(), /Port \d+ is already in use/)
  assert.deepEqual(await exported(), before)
})

test('ends with 2 for unknown words and for a setting without its value', async () => {
  for (const [words, told] of [
    [['--bogus'], /Unknown option '--bogus'/],
    [['bogus'], /Unexpected argument 'bogus'/],
    [['--config'], /'--config <value>' argument missing/],
  ] as const) {
    const { ended, errors } = launch({}, words)
    assert.equal(await ended, 2)
    assert.match(errors.text(), told)
    assert.match(errors.text(), /Usage: npm start -- \[--config PATH\]/)
  }
})
