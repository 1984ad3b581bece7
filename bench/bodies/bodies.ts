/**
 * Sends large bodies of every shape to a gateway, one after the other, and measures how long each keeps the
 * event loop, and the CPU time that it costs.
 */
import { createServer, request, type Server } from 'node:http'
import { type AddressInfo } from 'node:net'
import { answerBodies, formatPaths } from '../exchanges.ts'
import { chooseCores, moveToCore } from '../machine.ts'
import { findProcessTree, readThreadTimes, usedBetween } from '../measure/process-cost.ts'
import { monitorTurns, readLongestTurnMs } from '../measure/turns.ts'
import type { BodiesPlan } from '../options.ts'
import type { ProcessGroup } from '../processes.ts'
import type { Bench, Proxy } from '../proxies/proxy.ts'
import { prepareTurnpike, startTurnpike } from '../proxies/turnpike.ts'
import type { BodyFigures } from './report.ts'
import { shapes, type Shape } from './shapes.ts'

const mebibyte = 1_048_576
/** For the ends of a body and its last part. */
const roomBytes = 2_048

export interface BodiesSetting {
  readonly plan: BodiesPlan
  readonly group: ProcessGroup
  readonly workFolder: string
  readonly root: string
}

export async function measureBodies(setting: BodiesSetting): Promise<readonly BodyFigures[]> {
  const { plan, group, workFolder, root } = setting
  const cores = chooseCores()
  moveToCore(cores.load)
  const vendor = await startVendor()
  const { port } = vendor.address() as AddressInfo
  const bench: Bench = { group, cores, workFolder, root, jsonPort: port, streamPort: port }
  const store = await prepareTurnpike(bench, { name: 'turnpike', root })
  const { socketPath: turnsPath, ...monitor } = monitorTurns(workFolder)
  const gateway = await startTurnpike(bench, store, { awaitsAudit: true, ...monitor })
  try {
    const figures: BodyFigures[] = []
    // The first large body starts the thread that parses them.
    await measureBody(
      gateway,
      turnsPath,
      { name: 'start', make: () => Buffer.alloc(mebibyte, ' ') },
      1,
    )
    for (const shape of shapes)
      for (const mebibytes of plan.mebibytes)
        figures.push(await measureBody(gateway, turnsPath, shape, mebibytes))
    return figures
  } finally {
    await group.stop(gateway.process)
    vendor.close()
    vendor.closeAllConnections()
  }
}

async function measureBody(
  gateway: Proxy,
  turnsPath: string,
  { name, make }: Shape,
  mebibytes: number,
): Promise<BodyFigures> {
  const body = make(mebibytes * mebibyte - roomBytes)
  const pids = findProcessTree(gateway.process.pid)
  const before = readThreadTimes(pids)
  await readLongestTurnMs(turnsPath)
  const startedMs = performance.now()
  const status = await send(gateway, body)
  const answerMs = performance.now() - startedMs
  const longestTurnMs = await readLongestTurnMs(turnsPath)
  const cpuMs = usedBetween(before, readThreadTimes(pids)).totalUs / 1_000
  return { shape: name, mebibytes, status, answerMs, longestTurnMs, cpuMs }
}

function send({ port, stream }: Proxy, body: Buffer): Promise<number> {
  const headers = { ...stream?.headers, 'content-type': 'application/json' }
  const options = { port, method: 'POST', path: `/alpha${formatPaths.messages}`, headers }
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, headers: { ...headers, 'content-length': body.length } })
    sent.once('error', reject)
    sent.once('response', (answer) => {
      answer.resume().once('end', () => resolve(answer.statusCode ?? 0))
    })
    sent.end(body)
  })
}

/** Answers every request when it has read it. */
function startVendor(): Promise<Server> {
  const server = createServer((incoming, answer) => {
    incoming.resume().once('end', () => {
      answer.writeHead(200, { 'content-type': 'application/json' }).end(answerBodies.messages)
    })
  })
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve(server))
  })
}
