/** Compares a run with a slow vendor with the project's performance aims. */
import type { AimResult } from '../report/aims.ts'
import type { IdleRound } from './figures.ts'
import { compareCores, type SlowRow } from './summary.ts'

const requestRatioMax = 3
const eventRatioMax = 1.5
const lastAddedMsMax = 4
const aloneAddedMsMax = 1
const firstAddedMsMax = 0.5
const storeRatioMax = 1.5
const peerRatioMin = 4
const restMbMax = 120
const idleMbMax = 300
const idleStreamsMin = 9_000
const leftMbMax = 40
const megabyte = 1_000_000
const aimedRate = 2_000

/** Returns only aims with both sides measured. */
export function compareWithSlowAims(
  rows: readonly SlowRow[],
  idle: readonly IdleRound[],
): readonly AimResult[] {
  return [...requestAims(rows), ...streamAims(rows), ...peerAims(rows), ...memoryAims(idle)].filter(
    ({ measured }) => Number.isFinite(measured),
  )
}

function atMost(
  aim: string,
  measured: number,
  [most, unit]: readonly [number, AimResult['unit']],
): AimResult {
  const text = `${aim}: at most ${most} ${unit}`
  return { aim: text, measured, unit, isMet: measured <= most }
}

function requestAims(rows: readonly SlowRow[]): readonly AimResult[] {
  const find = (part: SlowRow['part'], target: SlowRow['target']): SlowRow | undefined =>
    rows.find((row) => {
      const isAimed = part === 'alone' || row.ratePerSecond === aimedRate
      return row.part === part && row.target === target && isAimed
    })
  const [slow, alone] = [find('slow', 'turnpike'), find('alone', 'turnpike')]
  const storeRatio = (find('slow', 'postgres')?.cpuUs ?? Number.NaN) / (slow?.cpuUs ?? Number.NaN)
  const at = `${aimedRate.toLocaleString('en')} requests a second`
  return [
    atMost(`${at}: CPU of nginx per request`, slow?.cpuRatio ?? Number.NaN, [requestRatioMax, '×']),
    atMost(`${at}: added to the last byte, p50`, slow?.lastAddedP50Ms ?? Number.NaN, [
      lastAddedMsMax,
      'ms',
    ]),
    atMost(
      'one request at a time: added to the last byte, p50',
      alone?.lastAddedP50Ms ?? Number.NaN,
      [aloneAddedMsMax, 'ms'],
    ),
    atMost(`${at}: CPU on PostgreSQL, its server included, of that on SQLite`, storeRatio, [
      storeRatioMax,
      '×',
    ]),
  ]
}

function streamAims(rows: readonly SlowRow[]): readonly AimResult[] {
  return rows
    .filter(({ part, target }) => part === 'short-streams' && target === 'turnpike')
    .flatMap(({ load, cpuRatio, firstAddedP50Ms }) => [
      atMost(`streams of ${load}: CPU of nginx per event`, cpuRatio, [eventRatioMax, '×']),
      atMost(`streams of ${load}: added to the first byte, p50`, firstAddedP50Ms, [
        firstAddedMsMax,
        'ms',
      ]),
    ])
}

/** nginx, haproxy and Envoy read no bodies. */
const readers: ReadonlySet<SlowRow['target']> = new Set(['portkey', 'litellm'])

function peerAims(rows: readonly SlowRow[]): readonly AimResult[] {
  const cores = compareCores(rows)
  const ours = cores.find(({ target }) => target === 'turnpike')?.requestsPerCore ?? Number.NaN
  return cores
    .filter(({ target }) => readers.has(target))
    .map(({ title, requestsPerCore }) => {
      const measured = ours / requestsPerCore
      return {
        aim: `requests per core of ${title}: at least ${peerRatioMin} ×`,
        measured,
        unit: '×',
        isMet: measured >= peerRatioMin,
      }
    })
}

function memoryAims(idle: readonly IdleRound[]): readonly AimResult[] {
  const ours = idle.filter(({ target }) => target === 'turnpike')
  const rest = ours.slice(0, 1).map(({ restBytes }) => {
    return atMost('memory at rest', restBytes / megabyte, [restMbMax, 'MB'])
  })
  const many = ours
    .filter(({ streams }) => streams >= idleStreamsMin)
    .flatMap(({ streams, restBytes, runningBytes, afterBytes }) => {
      const name = `${streams.toLocaleString('en')} mostly idle streams`
      return [
        atMost(`${name}: memory in all`, runningBytes / megabyte, [idleMbMax, 'MB']),
        atMost(`${name}: left after them, above rest`, (afterBytes - restBytes) / megabyte, [
          leftMbMax,
          'MB',
        ]),
      ]
    })
  return [...rest, ...many]
}
