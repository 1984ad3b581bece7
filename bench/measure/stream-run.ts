/**
 * Runs streams through one proxy: starts the reading client, opens all streams, measures one window,
 * then ends the streams properly, so that each one is complete and charged.
 */
import { once } from 'node:events'
import { join } from 'node:path'
import { z } from 'zod'
import { models, streamRequestBody } from '../exchanges.ts'
import type { ProcessGroup, Running } from '../processes.ts'
import type { Bench, StreamCase } from '../proxies/proxy.ts'
import type { ServedCounts } from './served.ts'

const measured = z.object({
  kind: z.literal('measured'),
  events: z.number(),
  durationUs: z.number(),
  cpuUs: z.number(),
  residentBytes: z.number(),
  delayP50Us: z.number(),
  delayP99Us: z.number(),
  firstByteP50Us: z.number(),
  firstByteP99Us: z.number(),
})
const ended = z.object({
  kind: z.literal('ended'),
  completeStreams: z.number(),
  cutStreams: z.number(),
  events: z.number(),
})
const finished = z.object({
  kind: z.literal('finished'),
  streams: z.number(),
  events: z.number(),
  cut: z.number(),
  slips: z.number(),
})

export type StreamMeasurement = z.infer<typeof measured> & { readonly slips: number }

const openingLimitMs = 40_000
const endingLimitMs = 20_000

export async function startStreamUpstream(
  group: ProcessGroup,
  options: { readonly root: string; readonly core: number; readonly port: number },
): Promise<Running> {
  const program = join(options.root, 'bench/programs/stream-upstream.ts')
  const running = group.start({
    name: 'stream-upstream',
    command: [process.execPath, program, String(options.port)],
    core: options.core,
    output: 'log',
    hasChannel: true,
  })
  await group.waitForPort(running, options.port)
  return running
}

export interface StreamRun {
  readonly port: number
  readonly given: StreamCase
  /** The proxy's processes; empty without a proxy. */
  readonly pids: readonly number[]
  readonly streams: number
  readonly intervalMs: number
  readonly settlingMs: number
  readonly windowMs: number
}

export interface StreamParts {
  readonly bench: Bench
  readonly upstream: Running
}

/** Runs the streams; calls `during` after the window, while they still run. */
export async function runStreams(
  { bench, upstream }: StreamParts,
  run: StreamRun,
  { served, during }: { readonly served?: ServedCounts; readonly during?: () => Promise<void> },
): Promise<StreamMeasurement> {
  upstream.child.send({ kind: 'pace', intervalMs: run.intervalMs })
  const client = startClient(bench, run)
  const result = await message(client, measured, openingLimitMs + run.settlingMs + run.windowMs)
  await during?.()
  const clientEnd = message(client, ended, endingLimitMs)
  const upstreamEnd = message(upstream, finished, endingLimitMs)
  upstream.child.send({ kind: 'finish' })
  const [seen, sent] = await Promise.all([clientEnd, upstreamEnd])
  await client.ended
  checkNothingLost(run, seen, sent)
  served?.add(models.stream, {
    complete: seen.completeStreams,
    answered: sent.streams,
    outputTokens: sent.events,
  })
  return { ...result, slips: sent.slips }
}

function startClient(bench: Bench, run: StreamRun): Running {
  const task = {
    port: run.port,
    path: run.given.path,
    headers: run.given.headers,
    body: streamRequestBody,
    streams: run.streams,
    settlingMs: run.settlingMs,
    windowMs: run.windowMs,
    pids: run.pids,
  }
  const program = join(bench.root, 'bench/programs/stream-client.ts')
  return bench.group.start({
    name: 'stream-client',
    command: [process.execPath, program, JSON.stringify(task)],
    core: bench.cores.load,
    output: 'log',
    hasChannel: true,
  })
}

function checkNothingLost(
  run: StreamRun,
  seen: z.infer<typeof ended>,
  sent: z.infer<typeof finished>,
): void {
  const isComplete = seen.completeStreams === run.streams && sent.streams === run.streams
  if (isComplete && seen.events === sent.events && sent.cut === 0) return
  throw new Error(
    `of ${run.streams} streams ${seen.completeStreams} were complete, ` +
      `of ${sent.events} events ${seen.events} arrived, ${sent.cut} streams were cut`,
  )
}

/** Returns the program's next message; throws if the program ends first. */
async function message<Schema extends z.ZodType>(
  running: Running,
  schema: Schema,
  limitMs: number,
): Promise<z.output<Schema>> {
  const limit = AbortSignal.timeout(limitMs)
  const gone = running.ended.then(() => {
    throw new Error(`${running.name} ended early: ${running.readLog()}`)
  })
  const [received] = (await Promise.race([
    once(running.child, 'message', { signal: limit }),
    gone,
  ])) as readonly unknown[]
  return schema.parse(received)
}
