/**
 * Measures what the sealing of ended hours costs beside charges, on both engines: a gateway gets requests
 * while it seals all entries of a store, and the same number afterwards.
 */
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../src/storage/database.ts'
import { openStore } from '../../src/storage/open.ts'
import { startPostgres, type PostgresServer } from '../../test/support/postgres.ts'
import { askOften, startVendor, type Ask } from '../client.ts'
import { chooseCores, moveToCore } from '../machine.ts'
import { findProcessTree, readThreadTimes, usedBetween } from '../measure/process-cost.ts'
import { median, percentileOf } from '../measure/statistics.ts'
import type { Made, RunResult, RunSetting } from '../part.ts'
import { figure, formatTable, text, type Column } from '../table.ts'
import { stopTarget, type Bench } from '../targets/target.ts'
import { chatOf, prepareStore, startTurnpike, type Gateway } from '../targets/turnpike.ts'

/** The requests of a store cover two months. */
const keepsAll = { TURNPIKE_REQUEST_RETENTION: '400d' }
const warmUpRequests = 2_000
const batch = 100
const atOnce = 8
const lookMs = 50
/** A gateway begins to seal about a minute after its start. */
const startLimitMs = 300_000

export async function runSealing(
  { plan, group, workFolder, root }: RunSetting,
  { command, date, commit }: Made,
): Promise<RunResult> {
  const cores = chooseCores()
  moveToCore(cores.load)
  const port = await startVendor()
  const bench = { group, cores, workFolder, root, vendorPort: port, chatPort: port }
  // Not in the work folder: the server runs as another system user, which may not read it.
  const server = await startPostgres({ parentFolder: dirname(workFolder) })
  const reports: string[] = []
  try {
    for (const [engine, onServer] of [['SQLite'], ['PostgreSQL', server]] as const)
      reports.push(await measure(bench, { engine, server: onServer, requests: plan.sealing }))
  } finally {
    await group.stopAll()
    await server.close()
  }
  const made = `Made by \`${command}\` on ${date}, commit ${commit}.`
  return { report: [made, ...reports].join('\n\n'), isRight: true }
}

interface Case {
  readonly engine: string
  readonly server: PostgresServer | undefined
  readonly requests: number
}

async function measure(bench: Bench, { engine, server, requests }: Case): Promise<string> {
  console.error(`bench: sealing: making the store on ${engine}`)
  const store = await prepareStore(bench, engine, { server, pastRequests: requests })
  const options = { awaitsAudit: true, environment: keepsAll }
  const gateway = await startTurnpike(bench, store, options)
  const chat = chatOf(gateway)
  await askOften(chat, { count: warmUpRequests, atOnce })
  const database = await openStore(store.environment['TURNPIKE_STORE'] ?? '')
  try {
    await waitForSeals(database)
    const during = await askWhile(gateway, chat, async () => !(await has(database, 'seal_mark')))
    const count = during.times.length
    const quiet = await askWhile(gateway, chat, (asked) => Promise.resolve(asked < count))
    const [row] = await database.query('SELECT COUNT(*) AS sealed FROM sealed_entry')
    return describe(engine, { quiet, during, entries: Number(row?.['sealed']) })
  } finally {
    await database.close()
    await stopTarget(bench, gateway)
  }
}

async function has(database: Database, table: 'sealed_entry' | 'seal_mark'): Promise<boolean> {
  return (await database.query(`SELECT 1 AS found FROM ${table} LIMIT 1`)).length > 0
}

async function waitForSeals(database: Database): Promise<void> {
  const limit = performance.now() + startLimitMs
  while (!(await has(database, 'sealed_entry'))) {
    if (performance.now() > limit) throw new Error('the gateway has not begun to seal in time')
    await delay(lookMs)
  }
}

interface Asked {
  readonly times: readonly number[]
  readonly durationMs: number
  /** Of all threads of the gateway, without the server of the store. */
  readonly cpuUs: number
}

async function askWhile(
  { processes }: Gateway,
  chat: Ask,
  goesOn: (asked: number) => Promise<boolean>,
): Promise<Asked> {
  const pids = processes.flatMap(({ pid }) => findProcessTree(pid))
  const times: number[] = []
  const before = readThreadTimes(pids)
  // The thread that seals ends in between; its last reading stays.
  let last = before
  const startedMs = performance.now()
  while (await goesOn(times.length)) {
    times.push(...(await askOften(chat, { count: batch, atOnce })))
    last = new Map([...last, ...readThreadTimes(pids)])
  }
  return { times, durationMs: performance.now() - startedMs, cpuUs: usedBetween(before, last) }
}

interface Measured {
  readonly quiet: Asked
  readonly during: Asked
  readonly entries: number
}

function describe(engine: string, { quiet, during, entries }: Measured): string {
  const rows: readonly [name: string, valueOf: (asked: Asked) => number][] = [
    ['requests a second', ({ times, durationMs }) => (times.length / durationMs) * 1_000],
    ['p50, ms', ({ times }) => median(times)],
    ['p99, ms', ({ times }) => percentileOf(times, 99) ?? Number.NaN],
    ['longest, ms', ({ times }) => Math.max(...times)],
    ['CPU of the gateway for a request, µs', ({ times, cpuUs }) => cpuUs / times.length],
  ]
  const columns: readonly Column<(typeof rows)[number]>[] = [
    text(engine, ([name]) => name),
    figure('without sealing', ([, valueOf]) => valueOf(quiet)),
    figure('while it seals', ([, valueOf]) => valueOf(during)),
    figure('ratio', ([, valueOf]) => valueOf(during) / valueOf(quiet)),
  ]
  const extraUs = during.cpuUs - (quiet.cpuUs / quiet.times.length) * during.times.length
  const each = Math.round(extraUs / entries)
  const seconds = (during.durationMs / 1_000).toFixed(1)
  return (
    `${entries.toLocaleString('en')} entries were sealed in ${seconds} s, with ${each} µs of CPU of the ` +
    `gateway for each.\n\n${formatTable(columns, rows)}`
  )
}
