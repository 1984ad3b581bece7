/**
 * Measures memory: of proxies that have just started, with many streams that get an event every ten seconds,
 * and some time after their end. Each number of streams gets new proxies, so that no memory is left from
 * before.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { streamModels, streamRequestBodies } from '../exchanges.ts'
import { streamsMax } from '../machine.ts'
import { readResidentBytes, usedBetween } from '../measure/process-cost.ts'
import type { MoneyLine } from '../measure/served.ts'
import type { IdleRound, RelayFigures } from './rounds.ts'
import type { LoadProgram } from './load-program.ts'
import {
  findPids,
  readTargetTimes,
  startTargets,
  stopAndCompare,
  type TargetSetting,
} from '../targets/start.ts'
import type { Target } from '../targets/target.ts'

const periodMs = 10_000
/** Each stream has had an event by then. */
const holdMs = 11_000
const openedPerSecond = 1_000
const openingLimitMs = 60_000
const pollMs = 100
/** More than any stream gets. */
const eventsMax = 200

export async function measureIdle(
  program: LoadProgram,
  setting: TargetSetting,
): Promise<Pick<RelayFigures, 'idle' | 'money'>> {
  const { plan, bench } = setting
  const idle: IdleRound[] = []
  const money: MoneyLine[] = []
  if (!plan.parts.has('idle-streams')) return { idle, money }
  const { restMs, afterMs, idleStreams } = plan.relay
  for (const wanted of idleStreams) {
    const streams = Math.min(wanted, streamsMax())
    const targets = await startTargets({ ...setting, part: `idle-${streams}` })
    await delay(restMs)
    const before = targets.map(readTargetTimes)
    await delay(restMs)
    const atRest = targets.map((target, index) => {
      const usedUs = usedBetween(before[index] ?? new Map(), readTargetTimes(target))
      return { target, restBytes: readBytes(target), restCpuMs: usedUs / restMs }
    })
    const ended: Promise<IdleRound>[] = []
    for (const { target, ...rest } of atRest) {
      const { name, title } = target
      const runningBytes = await runIdleStreams(program, target, streams)
      const round = { target: name, title, streams, ...rest, runningBytes }
      // The others have their streams meanwhile.
      ended.push(delay(afterMs).then(() => ({ ...round, afterBytes: readBytes(target) })))
    }
    idle.push(...(await Promise.all(ended)))
    money.push(...(await stopAndCompare(bench, targets)))
  }
  return { idle, money }
}

/** Returns the target's memory while the streams run; NaN if it has no such streams, or not all of them. */
async function runIdleStreams(
  program: LoadProgram,
  target: Target,
  streams: number,
): Promise<number> {
  const given = target.cases.streams.messages
  if (given === undefined) return Number.NaN
  await program({
    kind: 'begin',
    ports: target.ports,
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
  let begun = 0
  while (begun < streams && performance.now() < limit) {
    await delay(pollMs)
    ;({ begun } = await program({ kind: 'mark' }))
  }
  await delay(holdMs)
  const runningBytes = readBytes(target)
  const { client, vendor, failure } = await program({ kind: 'end' })
  target.books?.served.add(streamModels.messages, {
    complete: client.complete,
    answered: vendor.answered,
    outputTokens: vendor.outputTokens,
  })
  if (client.complete >= streams) return runningBytes
  // The figures of the other loads are worth keeping.
  const ended = `${begun} of ${streams} streams began and ${client.complete} ended`
  console.error(`bench: ${target.title}: ${ended}; ${failure}`)
  return Number.NaN
}

function readBytes(target: Target): number {
  return readResidentBytes(findPids(target))
}
