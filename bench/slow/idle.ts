/**
 * Measures memory: of proxies that have just started, with many streams that get an event every ten seconds,
 * and some time after their end. Each number of streams gets new proxies, so that no memory is left from
 * before.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { streamModels, streamRequestBodies } from '../exchanges.ts'
import { streamsMax } from '../machine.ts'
import { readResidentBytes } from '../measure/process-cost.ts'
import type { MoneyLine } from '../measure/figures.ts'
import type { IdleRound } from './figures.ts'
import type { LoadProgram } from './load-program.ts'
import {
  findPids,
  startTargets,
  stopAndCompare,
  type Target,
  type TargetSetting,
} from './targets.ts'

const periodMs = 10_000
/** Each stream has had an event by then. */
const holdMs = 11_000
const openedPerSecond = 1_000
const openingLimitMs = 60_000
const pollMs = 100
/** More than any stream gets. */
const eventsMax = 200

interface IdleMeasurement {
  readonly rounds: readonly IdleRound[]
  readonly money: readonly MoneyLine[]
}

export async function measureIdle(
  program: LoadProgram,
  setting: TargetSetting,
): Promise<IdleMeasurement> {
  const { plan, bench } = setting
  const rounds: IdleRound[] = []
  const money: MoneyLine[] = []
  if (!plan.parts.has('idle-streams')) return { rounds, money }
  for (const wanted of plan.slow.idleStreams) {
    const streams = Math.min(wanted, streamsMax())
    const targets = await startTargets({ ...setting, part: `idle-${streams}` })
    await delay(plan.slow.restMs)
    const atRest = targets.map((target) => ({ target, restBytes: readBytes(target) }))
    const measured: Promise<IdleRound>[] = []
    for (const { target, restBytes } of atRest) {
      const { name, title } = target
      const runningBytes = await runIdleStreams(program, target, streams)
      const round = { target: name, title, streams, restBytes, runningBytes }
      // The others have their streams meanwhile.
      measured.push(
        delay(plan.slow.afterMs).then(() => ({ ...round, afterBytes: readBytes(target) })),
      )
    }
    rounds.push(...(await Promise.all(measured)))
    money.push(...(await stopAndCompare(bench, targets)))
  }
  return { rounds, money }
}

/** Returns the target's memory while the streams run; NaN if it has no such streams. */
async function runIdleStreams(
  program: LoadProgram,
  target: Target,
  streams: number,
): Promise<number> {
  const given = target.cases.streams.messages
  if (given === undefined) return Number.NaN
  await program.begin({
    port: target.port,
    ...given,
    body: streamRequestBodies.messages,
    events: eventsMax,
    periodMs,
    ratePerSecond: openedPerSecond,
    runningMax: streams,
    countMax: streams,
    isCutShort: true,
  })
  const limit = performance.now() + openingLimitMs
  for (;;) {
    const { begun, failure } = await program.mark()
    if (begun === streams) break
    if (performance.now() > limit)
      throw new Error(`${target.title}: ${begun} of ${streams} streams began; ${failure}`)
    await delay(pollMs)
  }
  await delay(holdMs)
  const runningBytes = readBytes(target)
  const { client, vendor, failure } = await program.end()
  if (client.complete < streams)
    throw new Error(`${target.title}: of ${streams} streams ${client.complete} ended; ${failure}`)
  target.books?.served.add(streamModels.messages, {
    complete: client.complete,
    answered: vendor.answered,
    outputTokens: vendor.outputTokens,
  })
  return runningBytes
}

function readBytes(target: Target): number {
  return readResidentBytes(findPids(target))
}
