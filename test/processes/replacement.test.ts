/**
 * SIGUSR2 replaces all processes one by one. Goal: no client notices. Streams that hold at a gate of the
 * vendor, clients that connect all the time and one that keeps its connection run through a replacement;
 * every answer must be complete and charged.
 */
import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { cp, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it, type TestContext } from 'node:test'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import type { OpenAnswer } from '../support/http-client.ts'
import { pidOf, startProcesses, type Processes } from '../support/processes.ts'
import { volume } from '../support/variants.ts'

const root = join(import.meta.dirname, '..', '..')
const streamCount = volume({ few: 150, all: 500 })
const streamsAtOnce = 50

describe('a replacement of all processes', () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.close())

  it('cuts no stream, refuses no connection, and charges every answer', async (context) => {
    const processes = await startProcesses(context, { server })
    const streams = await openHeldStreams(processes, streamCount)
    const clients = [
      keepAsking(() => processes.ask()),
      keepAsking(() => processes.stream('go on [[sandbox: output=8; event_delay_ms=5]]').ended),
      keepAsking(askOnOneConnection(context, processes)),
    ]
    processes.signal('SIGUSR2')
    await processes.until({ msg: 'retiring', node: 'here-1' })
    const others = keepAsking(() => processes.ask())
    assert.ok(!processes.lines().some(({ msg }) => msg === 'ended'), 'it waits for its streams')
    processes.sandbox.faults.release('gate')
    await processes.until({ msg: 'process replaced' }, 2)
    const counts = await Promise.all([...clients, others].map((client) => client.stop()))

    for (const { ended } of streams) assert.ok(isWhole(await ended))
    for (const count of counts) assert.ok(count > 0)
    const answers = counts.reduce((sum, count) => sum + count, streams.length)
    assert.deepEqual(await processes.charged(), { requests: answers, holds: 0 })
    assert.deepEqual((await processes.program.json('audit'))['differences'], [])
    assert.match(await processes.metrics(), countOf(answers))
  })

  it('loads a new version, and keeps the earlier one where the new one does not start', async (context) => {
    const releases = await mkdtemp(join(tmpdir(), 'turnpike-releases-'))
    context.after(() => rm(releases, { recursive: true }))
    const current = join(releases, 'current')
    await symlink(root, current)
    const processes = await startProcesses(context, {
      server,
      command: join(current, 'bin', 'turnpike'),
    })
    const [one, two] = [pidOf(processes, 'here-1'), pidOf(processes, 'here-2')]

    const broken = await makeRelease(releases, '9.9.8')
    await writeFile(join(broken, 'src', 'gateway', 'serve.ts'), 'export const serve = ')
    await linkTo(current, broken)
    processes.signal('SIGUSR2')
    const [stopped] = await processes.until({ msg: 'replacement stopped, processes serve on' })
    assert.deepEqual([stopped?.process, stopped?.reason], ['here-1', 'exit code 1'])
    assert.deepEqual([pidOf(processes, 'here-1'), pidOf(processes, 'here-2')], [one, two])
    assert.equal((await processes.ask()).status, 200)

    await linkTo(current, await makeRelease(releases, '9.9.9'))
    processes.signal('SIGUSR2')
    await processes.until({ msg: 'process replaced' }, 2)
    const versions = (await processes.until({ msg: 'serving' }, 4)).map(({ version }) => version)
    assert.deepEqual(versions.slice(2), ['9.9.9', '9.9.9'])
    assert.match(await processes.metrics(), /turnpike_build_info\{version="9\.9\.9"[^\n]* 1\n/)
  })

  it('refuses a second one meanwhile', async (context) => {
    const processes = await startProcesses(context, { server })
    const streams = await openHeldStreams(processes, 0)
    processes.signal('SIGUSR2')
    await processes.until({ msg: 'retiring', node: 'here-1' })
    processes.signal('SIGUSR2')
    await processes.until({
      msg: 'processes are being replaced already; send SIGUSR2 again after that',
    })
    processes.sandbox.faults.release('gate')
    await processes.until({ msg: 'process replaced' }, 2)
    for (const { ended } of streams) assert.ok(isWhole(await ended))
    assert.equal(processes.lines().filter(({ msg }) => msg === 'replacing processes').length, 1)
  })
})

/**
 * Opens streams, at least `countMin`, until both processes have some. Each has begun and stands at the
 * gate.
 */
async function openHeldStreams(
  processes: Processes,
  countMin: number,
): Promise<readonly OpenAnswer[]> {
  const socketsBefore = socketsOf(await processes.metrics())
  const streams: OpenAnswer[] = []
  let socketCounts = socketsBefore
  while (
    streams.length < countMin ||
    socketCounts.some((count, index) => count < (socketsBefore[index] ?? 0) + 10)
  ) {
    const more = Array.from({ length: streamsAtOnce }, () =>
      processes.stream('wait [[sandbox: hold=gate@before_terminal]]'),
    )
    for (const stream of more) await stream.until((text) => text.includes('content_block_delta'))
    streams.push(...more)
    socketCounts = socketsOf(await processes.metrics())
  }
  return streams
}

/** The open sockets of each process. */
function socketsOf(metrics: string): readonly number[] {
  return ['1', '2'].map((process) => {
    const pattern = `^turnpike_nodejs_active_resources{type="TCPSocketWrap",process="${process}"} (\\d+)$`
    const [, count] = new RegExp(pattern, 'm').exec(metrics) ?? []
    assert.ok(count !== undefined, metrics)
    return Number(count)
  })
}

/** A line that counts so many exchanges. */
function countOf(exchanges: number): RegExp {
  return new RegExp(
    `^turnpike_exchanges_total\\{.*ending="completed",status="200"\\} ${exchanges}$`,
    'm',
  )
}

/** A copy of the program with another version, as an update makes it. */
async function makeRelease(releases: string, version: string): Promise<string> {
  const folder = join(releases, version)
  for (const name of [
    'bin',
    'scripts',
    'src',
    'sandbox',
    'console/built',
    'package.json',
    'package-lock.json',
  ])
    await cp(join(root, name), join(folder, name), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as object
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...manifest, version }))
  // As in a packed release, which installs nothing.
  await writeFile(
    join(folder, 'build.json'),
    JSON.stringify({ commit: 'abc1234', date: '2026-01-01' }),
  )
  return folder
}

async function linkTo(link: string, target: string): Promise<void> {
  await symlink(target, `${link}.new`)
  await rename(`${link}.new`, link)
}

function askOnOneConnection(context: TestContext, processes: Processes) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  context.after(() => agent.destroy())
  return () => processes.ask('hello', agent)
}

function isWhole({ status, isComplete, text }: Awaited<ReturnType<Processes['ask']>>): boolean {
  return (
    status === 200 && isComplete && (!text.startsWith('event:') || text.includes('message_stop'))
  )
}

/** Asks again and again until `stop`, which resolves with the number of answers. The first bad one fails. */
function keepAsking(ask: () => ReturnType<Processes['ask']>): { stop(): Promise<number> } {
  const wanted = new AbortController()
  const asking = (async () => {
    let count = 0
    while (!wanted.signal.aborted) {
      const answer = await ask()
      assert.ok(isWhole(answer), `${answer.status} ${answer.text}`)
      count++
    }
    return count
  })()
  // Reported by `stop`.
  asking.catch(() => undefined)
  return {
    stop() {
      wanted.abort()
      return asking
    },
  }
}
