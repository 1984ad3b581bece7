/**
 * The soak test: two processes on PostgreSQL under a mixed load with vendor faults for half an hour. Rolling
 * replacements come in the first third and at the end, so that the same processes serve in between and the
 * growth of their memory shows.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { seededRandom } from '../../src/base/random.ts'
import { openStore } from '../../src/storage/open.ts'
import { eventually } from '../../test/support/eventually.ts'
import { reconcile } from '../../test/support/money.ts'
import { startPostgres } from '../../test/support/postgres.ts'
import { pidOf, startProcesses, type Processes } from '../../test/support/processes.ts'
import type { SoakPlan } from '../options.ts'
import { soakMaxTokens, SoakClients } from './clients.ts'
import type { SoakFigures } from './report.ts'
import { readSample, type Reading } from './samples.ts'

const seed = 18
const balanceUsd = '100000'
const settledLimitMs = 60_000
const replacementsInFirstThird = 2

export async function runSoak(plan: SoakPlan): Promise<SoakFigures> {
  const closers: (() => Promise<void>)[] = []
  const context = { after: (close: () => Promise<void>) => void closers.unshift(close) }
  const server = await startPostgres()
  context.after(() => server.close())
  try {
    const environment = { TURNPIKE_NODE_LEASE: '30s', TURNPIKE_LOG_LEVEL: 'info' }
    const processes = await startProcesses(context, { server, environment, balanceUsd })
    // Where a signal ends the benchmark: without their supervisor the gateways end, too.
    process.once('exit', () => processes.signal('SIGKILL'))
    return await soak(processes, plan)
  } finally {
    for (const close of closers) await close()
  }
}

async function soak(processes: Processes, plan: SoakPlan): Promise<SoakFigures> {
  const clients = new SoakClients({
    url: processes.url,
    key: processes.key,
    random: seededRandom(seed),
  })
  const readings: Reading[] = []
  clients.start()
  const untilMs = performance.now() + plan.durationMs
  const replaceEveryMs = plan.durationMs / 3 / (replacementsInFirstThird + 1)
  let replacements = 0
  while (performance.now() < untilMs) {
    const replaceAtMs = untilMs - plan.durationMs + replaceEveryMs * (replacements + 1)
    if (replacements < replacementsInFirstThird && performance.now() >= replaceAtMs)
      await replaceAll(processes, ++replacements)
    readings.push(await read(processes))
    await delay(plan.sampleMs)
  }
  await replaceAll(processes, ++replacements)
  await clients.stop()
  const holds = await countHoldsAtRest(processes)
  const { clean } = await processes.program.json<{ clean: boolean }>('audit')
  return {
    plan,
    replacements,
    readings,
    counts: clients.counts,
    failure: clients.failure,
    holds,
    isAuditClean: clean,
    ...(await compareBooks(processes, clients)),
  }
}

async function replaceAll(processes: Processes, count: number): Promise<void> {
  processes.signal('SIGUSR2')
  await processes.until({ msg: 'process replaced' }, count * 2)
}

async function read(processes: Processes): Promise<Reading> {
  const metrics = await processes.metrics()
  const places = [
    { name: 'supervisor', pid: processes.pid },
    { name: '1', pid: pidOf(processes, 'here-1') },
    { name: '2', pid: pidOf(processes, 'here-2') },
  ]
  return {
    samples: places.map((place) => readSample(place, metrics)),
    holds: await processes.holds(),
  }
}

/** After the last answer: what a client left behind may still be read to its end. */
async function countHoldsAtRest(processes: Processes): Promise<number> {
  return eventually(
    'no hold is open',
    () => processes.holds(),
    (holds) => holds === 0,
    settledLimitMs,
  ).catch(() => processes.holds())
}

async function compareBooks(processes: Processes, { seen }: SoakClients) {
  const database = await openStore(processes.store)
  try {
    const { records } = processes.sandbox.log
    const { chargedCount } = await reconcile({ records, database, seen, maxTokens: soakMaxTokens })
    return { charges: chargedCount, difference: undefined }
  } catch (error) {
    return { charges: Number.NaN, difference: String(error) }
  } finally {
    await database.close()
  }
}
