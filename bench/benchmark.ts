/**
 * One run of the benchmark from tools to figures: upstreams and proxies are started, the parts of
 * the plan measured one after the other, and the gateway's ledger compared with what was served.
 */
import { join } from 'node:path'
import { chooseCores, describeMachine, moveToCore } from './machine.ts'
import type { Figures, RequestRound } from './measure/figures.ts'
import { measureRequests } from './measure/requests.ts'
import { ServedBook } from './measure/served.ts'
import { startStreamUpstream } from './measure/stream-run.ts'
import { measureStreams, type StreamFigures } from './measure/streams.ts'
import type { Plan } from './options.ts'
import { findFreePort, type ProcessGroup } from './processes.ts'
import { startJsonUpstream } from './proxies/nginx.ts'
import type { Bench } from './proxies/proxy.ts'
import { ProxyYard } from './proxies/yard.ts'
import { provideTools } from './tools.ts'

export interface BenchmarkSetting {
  readonly plan: Plan
  readonly group: ProcessGroup
  readonly workFolder: string
  readonly root: string
  readonly profileFolder: string | undefined
}

export async function runBenchmark(setting: BenchmarkSetting): Promise<Figures> {
  const { plan, group, workFolder, root } = setting
  const tools = provideTools(plan.proxies.has('haproxy'))
  const cores = chooseCores()
  moveToCore(cores.load)
  const json = await startJsonUpstream(group, workFolder, cores.load)
  const streamPort = await findFreePort()
  const upstream = await startStreamUpstream(group, { root, core: cores.load, port: streamPort })
  const bench: Bench = { group, cores, workFolder, root, jsonPort: json.port, streamPort }
  const yard = new ProxyYard(bench, plan, tools, setting.profileFolder)
  const book = new ServedBook()
  // First, while there is little in the store that the gateway's own audit would look at.
  const streams: StreamFigures = await measureStreams({
    bench,
    plan,
    upstream,
    book,
    withProxies: (part, action) => yard.withProxies(part, action),
  })
  const requests = await runRequests(bench, plan, yard, book)
  const books = await yard.readBooks()
  return {
    machine: describeMachine(root, workFolder, join(root, 'bench', 'peers')),
    mode: plan.mode,
    requests,
    ...streams,
    money: books === undefined ? [] : book.compare(books.usage, books.audit),
  }
}

async function runRequests(
  bench: Bench,
  plan: Plan,
  yard: ProxyYard,
  book: ServedBook,
): Promise<readonly RequestRound[]> {
  const rounds: RequestRound[] = []
  if (!plan.parts.has('requests')) return rounds
  await yard.withProxies('requests', async (proxies) => {
    rounds.push(...(await measureRequests(bench, proxies, plan.requests, book)))
  })
  return rounds
}
