/**
 * Measures the console on a large store: how soon each page is there, and the relay with ten consoles open
 * and with none, in turn. The gateway has one core; Chromium, load tool and vendor share the other one.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { migrate } from '../../src/storage/migrate.ts'
import { openStore } from '../../src/storage/open.ts'
import { findChromium } from '../../test/support/console/browser.ts'
import { fillLargeStore, largeShape } from '../../test/support/console/large-store.ts'
import {
  applyCatalogue,
  createAccount,
  createAdminToken,
  createClientKey,
  exportCatalogue,
} from '../../test/support/operations.ts'
import { models, price, requestBodies } from '../exchanges.ts'
import { chooseCores, moveToCore, provideTools } from '../machine.ts'
import { benchContext, benchMasterKey } from '../measure/operations.ts'
import { findProcessTree, readThreadTimes, usedBetween } from '../measure/process-cost.ts'
import { rotate } from '../measure/requests.ts'
import type { ConsolePlan } from '../options.ts'
import { findFreePort, type ProcessGroup } from '../processes.ts'
import type { Bench, Proxy } from '../proxies/proxy.ts'
import { embeddedPath, startTurnpike, type TurnpikeStore } from '../proxies/turnpike.ts'
import { startLoadProgram, type LoadProgram } from '../slow/load-program.ts'
import { measurePages, withConsoles, type PagesSetting } from './pages.ts'
import type { ConsoleFigures, RelayRound } from './report.ts'

export interface ConsoleSetting {
  readonly root: string
  readonly plan: ConsolePlan
  readonly group: ProcessGroup
  readonly workFolder: string
}

/** Steady, and low enough that the other core has time for Chromium. */
const ratePerSecond = 1_000
const answerMs = 250
const settlingMs = 2_000
const consoleCounts = [0, 10]

export async function measureConsole(setting: ConsoleSetting): Promise<ConsoleFigures> {
  const { root, plan, group, workFolder } = setting
  provideTools(false)
  const cores = chooseCores()
  moveToCore(cores.load)
  const port = await findFreePort()
  const program = await startLoadProgram(group, { root, core: cores.load, port })
  const bench: Bench = { group, workFolder, cores, root, jsonPort: port, streamPort: port }
  const browser = await chromium.launch({
    executablePath: writeNiceChromium(workFolder),
    chromiumSandbox: process.getuid?.() !== 0,
  })
  try {
    const store = await fillStore(bench)
    const adminPort = await findFreePort()
    const adminListen = `127.0.0.1:${adminPort}`
    const gateway = await startTurnpike(bench, store, {
      environment: { TURNPIKE_ADMIN_LISTEN: adminListen, TURNPIKE_MAX_RUNNING_PER_KEY: '0' },
    })
    const origin = `http://${adminListen}`
    const pages = { browser, origin, token: store.adminToken, rounds: plan.rounds }
    return {
      store: largeShape,
      pages: await measurePages(pages),
      relay: await measureRelay(program, { gateway, pages, plan }),
    }
  } finally {
    await browser.close()
  }
}

/** Chromium with the lowest priority, so that the load keeps its rate beside it. */
function writeNiceChromium(folder: string): string {
  const path = join(folder, 'chromium')
  writeFileSync(path, `#!/bin/sh\nexec nice -n 19 ${findChromium()} "$@"\n`, { mode: 0o755 })
  return path
}

/** A large store with one more channel, which leads to the vendor of the benchmark. */
async function fillStore(bench: Bench): Promise<TurnpikeStore> {
  const folder = join(bench.workFolder, 'console')
  mkdirSync(folder)
  const storeUrl = `sqlite:${embeddedPath(folder)}`
  const database = await openStore(storeUrl)
  try {
    await migrate(database)
    const context = benchContext(database)
    await fillLargeStore(context, largeShape)
    const catalogue = catalogueForm.parse(parse(await exportCatalogue(context)))
    const channel = {
      vendor: 'openai',
      url: `http://127.0.0.1:${bench.jsonPort}`,
      credential: 'bench-vendor-credential',
      models: [models.chat],
      check: 'none',
    }
    await applyCatalogue(context, {
      text: stringify({
        ...catalogue,
        models: { ...catalogue.models, [models.chat]: { vendor: 'openai', price } },
        channels: { ...catalogue.channels, 'bench-json': channel },
      }),
    })
    const account = await createAccount(context, { name: 'bench', balance_usd: '1000000' })
    const { secret: key } = await createClientKey(context, { account: account.id, name: 'bench' })
    const { secret: adminToken } = await createAdminToken(context, { name: 'bench' })
    return {
      name: 'turnpike',
      root: bench.root,
      key,
      adminToken,
      environment: { TURNPIKE_STORE: storeUrl, TURNPIKE_MASTER_KEY: benchMasterKey },
      folder,
    }
  } finally {
    await database.close()
  }
}

const catalogueForm = z.looseObject({
  models: z.record(z.string(), z.unknown()),
  channels: z.record(z.string(), z.unknown()),
})

interface RelaySetting {
  readonly gateway: Proxy
  readonly pages: PagesSetting
  readonly plan: ConsolePlan
}

async function measureRelay(
  program: LoadProgram,
  { gateway, pages, plan }: RelaySetting,
): Promise<readonly RelayRound[]> {
  const rounds: RelayRound[] = []
  for (let round = -1; round < plan.rounds; round++)
    for (const consoles of rotate(consoleCounts, round)) {
      const measured = await withConsoles(pages, consoles, () =>
        measureRound(program, gateway, plan.seconds),
      )
      if (round >= 0) rounds.push({ consoles, ...measured })
    }
  return rounds
}

async function measureRound(
  program: LoadProgram,
  gateway: Proxy,
  seconds: number,
): Promise<Omit<RelayRound, 'consoles'>> {
  const pids = findProcessTree(gateway.process.pid)
  const { path, headers } = gateway.slow.json
  await program.begin({
    port: gateway.port,
    path: path.replace('/beta', '/openai'),
    headers,
    body: requestBodies.chat,
    events: 0,
    periodMs: answerMs,
    ratePerSecond,
    runningMax: ratePerSecond,
    countMax: Number.MAX_SAFE_INTEGER,
    isCutShort: false,
  })
  await delay(answerMs + settlingMs)
  const atBegin = await program.mark()
  const before = readThreadTimes(pids)
  const startedMs = performance.now()
  await delay(seconds * 1_000)
  const { totalUs } = usedBetween(before, readThreadTimes(pids))
  const { client, last } = await program.mark()
  const durationMs = performance.now() - startedMs
  const ended = await program.end()
  // A refused request costs less than a relayed one, so figures with failures would be those of other work.
  if (ended.client.failed > 0)
    throw new Error(`${ended.client.failed} requests failed beside the consoles: ${ended.failure}`)
  const requests = client.complete - atBegin.client.complete
  return {
    cpuUsPerRequest: totalUs / requests,
    requestsPerSecond: (requests / durationMs) * 1_000,
    addedP50Ms: (last.p50Us ?? Number.NaN) / 1_000 - answerMs,
    addedP99Ms: (last.p99Us ?? Number.NaN) / 1_000 - answerMs,
  }
}
