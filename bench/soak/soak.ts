/**
 * Two processes on PostgreSQL for a long time under the mixed load of the fault-injection tests, with three
 * rolling replacements, and a verdict: books are right, no hold is left, and no figure of a process grows.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { seededRandom } from '../../src/base/random.ts'
import { openStore } from '../../src/storage/open.ts'
import { eventually } from '../../test/support/eventually.ts'
import { reconcile, type Seen } from '../../test/support/money.ts'
import { startPostgres } from '../../test/support/postgres.ts'
import { pidOf, startProcesses, type Processes } from '../../test/support/processes.ts'
import { loadMaxTokens, sendLoad } from '../../test/torture/client-load.ts'
import type { SoakPlan } from '../options.ts'
import type { Made, RunResult, RunSetting } from '../part.ts'
import { formatChecks, formatTable } from '../table.ts'
import { findTrends, readSample, trendColumns, type Reading } from './samples.ts'

const seed = 18
/** Of a client before a request, on average. */
const pauseMs = 500
const balanceUsd = '100000'
const settledLimitMs = 60_000
const replacementsInFirstThird = 2

export async function runSoak({ plan }: RunSetting, made: Made): Promise<RunResult> {
  const closers: (() => Promise<void>)[] = []
  const context = { after: (close: () => Promise<void>) => void closers.unshift(close) }
  const server = await startPostgres()
  context.after(() => server.close())
  try {
    const environment = { TURNPIKE_NODE_LEASE: '30s', TURNPIKE_LOG_LEVEL: 'info' }
    const processes = await startProcesses(context, { server, environment, balanceUsd })
    // Where a signal ends the benchmark: without their supervisor the gateways end, too.
    process.once('exit', () => processes.signal('SIGKILL'))
    return await soak(processes, plan.soak, made)
  } finally {
    for (const close of closers) await close()
  }
}

async function soak(
  processes: Processes,
  plan: SoakPlan,
  { command, date, commit }: Made,
): Promise<RunResult> {
  const untilMs = performance.now() + plan.durationMs
  const { key, url } = processes
  const random = seededRandom(seed)
  const load = sendLoad({
    random,
    accounts: [{ id: 'soak', name: 'soak', key, token: '' }],
    findUrl: () => delay(2 * pauseMs * random(), url),
    isOver: () => performance.now() >= untilMs,
    answers: { all: [], storedCount: 0, deleted: new Set() },
    name: 'soak',
  })
  const readings = await readUntil(untilMs, processes, plan)
  await replaceAll(processes, replacementsInFirstThird + 1)
  const seen = await load
  const ends = seen.filter(({ hasEnd }) => hasEnd).length
  const trends = findTrends(readings, plan.memoryMarginBytes)
  const checks = [
    ...(await checkBooks(processes, seen)),
    { what: 'most answers were seen to their end', isRight: ends * 2 > seen.length },
    {
      what: 'memory, descriptors, handles and event-loop delay do not grow',
      isRight: trends.every(({ isFlat }) => isFlat),
    },
  ]
  return {
    report: [
      `\`${command}\` on ${date}, commit ${commit}: ${plan.durationMs / 60_000} minutes, ` +
        `${readings.length} readings, ${seen.length} requests, ${ends} answers seen to their end.\n`,
      formatTable(trendColumns, trends),
      formatChecks(checks),
    ].join('\n'),
    isRight: checks.every(({ isRight }) => isRight),
  }
}

async function readUntil(
  untilMs: number,
  processes: Processes,
  plan: SoakPlan,
): Promise<readonly Reading[]> {
  const readings: Reading[] = []
  const replaceEveryMs = plan.durationMs / 3 / (replacementsInFirstThird + 1)
  let replacements = 0
  while (performance.now() < untilMs) {
    const replaceAtMs = untilMs - plan.durationMs + replaceEveryMs * (replacements + 1)
    if (replacements < replacementsInFirstThird && performance.now() >= replaceAtMs)
      await replaceAll(processes, ++replacements)
    readings.push(await read(processes))
    await delay(plan.sampleMs)
  }
  return readings
}

async function replaceAll(processes: Processes, count: number): Promise<void> {
  processes.signal('SIGUSR2')
  await processes.until({ msg: 'process replaced' }, count * 2)
}

async function read(processes: Processes): Promise<Reading> {
  const metrics = await processes.metrics()
  return [
    { name: 'supervisor', pid: processes.pid },
    { name: '1', pid: pidOf(processes, 'here-1') },
    { name: '2', pid: pidOf(processes, 'here-2') },
  ].map((place) => readSample(place, metrics))
}

/** After the last answer: what a client left behind may still be read to its end. */
async function checkBooks(processes: Processes, seen: readonly Seen[]) {
  const holds = await eventually(
    'no hold is open',
    () => processes.holds(),
    (open) => open === 0,
    settledLimitMs,
  ).catch(() => processes.holds())
  const { clean } = await processes.program.json<{ clean: boolean }>('audit')
  const database = await openStore(processes.store)
  const agreed = await reconcile({
    records: processes.sandbox.log.records,
    database,
    seen,
    maxTokens: loadMaxTokens,
  }).catch(String)
  await database.close()
  const what =
    typeof agreed === 'string'
      ? agreed.replaceAll('\n', ' ')
      : `vendors, clients and books agree on ${agreed.chargedCount} charges`
  return [
    { what: `${holds} holds are open`, isRight: holds === 0 },
    { what: 'the audit is clean', isRight: clean },
    { what, isRight: typeof agreed !== 'string' },
  ]
}
