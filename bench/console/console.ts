/**
 * Measures the console on a large store: how soon each page is there, and the relay with ten consoles open
 * and with none, in turn. The gateway has one core; Chromium, load tool and vendor share the other one.
 */
import { mkdirSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { migrate } from '../../src/storage/migrate.ts'
import { openStore } from '../../src/storage/open.ts'
import { fillLargeStore, largeShape } from '../../test/support/console/large-store.ts'
import {
  applyCatalogue,
  createAccount,
  createAdminToken,
  createClientKey,
  exportCatalogue,
} from '../../test/support/operations.ts'
import { models, price } from '../exchanges.ts'
import { chooseCores, moveToCore, provideTools } from '../machine.ts'
import { benchContext, benchMasterKey } from '../measure/operations.ts'
import { findProcessTree, readThreadTimes, usedBetween } from '../measure/process-cost.ts'
import { rotate, runWrk } from '../measure/requests.ts'
import type { ConsolePlan } from '../options.ts'
import { findFreePort, type ProcessGroup } from '../processes.ts'
import type { Bench, Proxy } from '../proxies/proxy.ts'
import { embeddedPath, startTurnpike, type TurnpikeStore } from '../proxies/turnpike.ts'
import { startVendor } from '../refusals/refusals.ts'
import { measurePages, withConsoles, type PagesSetting } from './pages.ts'
import type { ConsoleFigures, RelayRound } from './report.ts'

export interface ConsoleSetting {
  readonly root: string
  readonly plan: ConsolePlan
  readonly group: ProcessGroup
  readonly workFolder: string
}

const connections = 32
const consoleCounts = [0, 10]

export async function measureConsole(setting: ConsoleSetting): Promise<ConsoleFigures> {
  const { root, plan, group, workFolder } = setting
  provideTools(false)
  const cores = chooseCores()
  moveToCore(cores.load)
  const vendor = await startVendor()
  const { port } = vendor.address() as AddressInfo
  const bench: Bench = { group, workFolder, cores, root, jsonPort: port, streamPort: port }
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium',
    chromiumSandbox: process.getuid?.() !== 0,
  })
  try {
    const store = await fillStore(bench)
    const adminPort = await findFreePort()
    const adminListen = `127.0.0.1:${adminPort}`
    const gateway = await startTurnpike(bench, store, {
      environment: { TURNPIKE_ADMIN_LISTEN: adminListen },
    })
    const origin = `http://${adminListen}`
    const pages = { browser, origin, token: store.adminToken, rounds: plan.rounds }
    return {
      store: largeShape,
      pages: await measurePages(pages),
      relay: await measureRelay(bench, { gateway, pages, plan }),
    }
  } finally {
    await browser.close()
    vendor.close()
    vendor.closeAllConnections()
  }
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

async function measureRelay(
  bench: Bench,
  { gateway, pages, plan }: { gateway: Proxy; pages: PagesSetting; plan: ConsolePlan },
): Promise<readonly RelayRound[]> {
  const rounds: RelayRound[] = []
  for (let round = -1; round < plan.rounds; round++)
    for (const consoles of rotate(consoleCounts, round)) {
      const measured = await withConsoles(pages, consoles, () =>
        measureRound(bench, gateway, plan.seconds),
      )
      if (round >= 0) rounds.push({ consoles, ...measured })
    }
  return rounds
}

async function measureRound(
  bench: Bench,
  gateway: Proxy,
  seconds: number,
): Promise<Omit<RelayRound, 'consoles'>> {
  const [chat] = gateway.requests
  if (chat === undefined) throw new Error('the gateway has no request to measure')
  const pids = findProcessTree(gateway.process.pid)
  const before = readThreadTimes(pids)
  const result = await runWrk(bench, {
    ports: [gateway.port],
    path: chat.path.replace('/beta', '/openai'),
    format: chat.format,
    headers: chat.headers,
    connections,
    seconds,
  })
  const { totalUs } = usedBetween(before, readThreadTimes(pids))
  const failures = result.badStatus + result.socketErrors
  // A refused request costs less than a relayed one, so figures with failures would be those of other work.
  if (failures > 0 || result.requests === 0)
    throw new Error(`${failures} of ${result.requests} requests failed beside the consoles`)
  return {
    cpuUsPerRequest: totalUs / result.requests,
    requestsPerSecond: result.requests / (result.durationUs / 1e6),
    p50Ms: result.p50Us / 1_000,
    p99Ms: result.p99Us / 1_000,
  }
}
