/**
 * `serve` whose log cannot be written: a full disk, a reader that has gone, one that hangs. Goal: the
 * gateway answers as ever, and SIGTERM ends it in order.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { bareEnvironment, json, newFolder } from '../support/command-line.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import { findFreePort } from '../support/postgres.ts'
import { gather } from '../support/gather.ts'

const program = join(import.meta.dirname, '..', '..', 'src', 'cli.ts')
const adminToken = `ad_${'a'.repeat(49)}`
/** A gateway that its log has stopped answers nothing, ever. */
const timeout = 120_000
/** More than one block of the log, so that it is written at once. */
const linesOfBlock = 60
const linesOfPipe = 1_500

/** The vendor is never called: requests without a key are refused before. */
const catalogue = `
vendors: { alpha: { format: messages, credential: x-api-key, version_header: alpha-version, default_version: "1" } }
models: { large-1: { vendor: alpha, price: { input: 3.00, output: 15.00 } } }
channels:
  alpha-main: { vendor: alpha, url: http://127.0.0.1:9, credential: none, models: [large-1], check: none }
`

describe('a log that cannot be written', () => {
  let folder: string
  let child: ChildProcess | undefined
  beforeEach(async () => {
    folder = newFolder({ 'catalogue.yaml': catalogue })
    await json(folder, 'apply -f catalogue.yaml')
  })
  afterEach(() => {
    child?.kill('SIGKILL')
    child = undefined
  })

  interface Serving {
    readonly url: string
    readonly adminUrl: string
    readonly process: ChildProcess
  }

  async function serve(stdout: number | 'pipe'): Promise<Serving> {
    const [main, admin] = [await findFreePort(), await findFreePort()]
    const started = spawn(process.execPath, [program, 'serve'], {
      cwd: folder,
      stdio: ['ignore', stdout, 'inherit'],
      env: {
        ...bareEnvironment,
        TURNPIKE_LISTEN: `127.0.0.1:${main}`,
        TURNPIKE_ADMIN_LISTEN: `127.0.0.1:${admin}`,
        TURNPIKE_ADMIN_TOKEN: adminToken,
        TURNPIKE_LOG_LEVEL: 'debug',
        TURNPIKE_MAX_FAILED_SIGN_INS: '0',
      },
    })
    child = started
    const adminUrl = `http://127.0.0.1:${admin}`
    const livez = (): Promise<number> =>
      send(`${adminUrl}/livez`).then(
        ({ status }) => status,
        () => 0,
      )
    await eventually('the gateway lives', livez, (status) => status === 200)
    return { url: `http://127.0.0.1:${main}`, adminUrl, process: started }
  }

  /** Each is a line of the log at level debug. */
  async function askInVain({ url }: Serving, requestCount: number): Promise<void> {
    for (let asked = 0; asked < requestCount; asked += 20) {
      const answers = Array.from({ length: 20 }, () =>
        send(`${url}/alpha/v1/messages`, { method: 'POST', body: '{}' }),
      )
      for (const { status } of await Promise.all(answers)) assert.equal(status, 401)
    }
  }

  async function endsInOrder(serving: Serving): Promise<void> {
    assert.equal((await send(`${serving.adminUrl}/livez`)).status, 200)
    const closed = once(serving.process, 'exit')
    serving.process.kill('SIGTERM')
    assert.deepEqual(await closed, [0, null])
  }

  it('on a full disk delays no answer', { timeout }, async () => {
    const full = openSync('/dev/full', 'w')
    const serving = await serve(full)
    closeSync(full)
    await askInVain(serving, linesOfBlock)
    await askInVain(serving, linesOfBlock)
    assert.equal((await send(`${serving.url}/health`)).status, 200)
    await endsInOrder(serving)
  })

  it('counts lost lines after its reader has ended', { timeout }, async () => {
    const serving = await serve('pipe')
    assert.ok(serving.process.stdout !== null)
    await gather(serving.process.stdout).until(/"msg":"serving"/)
    serving.process.stdout.destroy()
    const countDropped = async (): Promise<number> => {
      await askInVain(serving, linesOfBlock)
      const { body } = await send(`${serving.adminUrl}/metrics`, {
        headers: { authorization: `Bearer ${adminToken}` },
      })
      return Number(/^turnpike_log_lines_dropped_total (\d+)$/m.exec(body.toString())?.[1])
    }
    await eventually('lines are dropped', countDropped, (count) => count > 0)
    await endsInOrder(serving)
  })

  it('delays nothing when its reader hangs', { timeout }, async () => {
    const path = join(folder, 'pipe')
    execFileSync('mkfifo', [path])
    // Open at both ends and never read: full after 64 KB.
    const pipe = openSync(path, constants.O_RDWR)
    const serving = await serve(pipe)
    await askInVain(serving, linesOfPipe)
    await endsInOrder(serving)
    closeSync(pipe)
  })
})
