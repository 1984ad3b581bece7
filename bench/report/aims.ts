/** Compares the summary of a run with the project's performance aims, and with a baseline if there is one. */
import type { ProxyName } from '../options.ts'
import type { Summary } from './summary.ts'

export interface AimResult {
  readonly aim: string
  readonly measured: number
  readonly unit: '×' | 'ms'
  readonly isMet: boolean
}

const requestCpuRatioMax = 3.5
const eventCpuRatioMax = 2
const portkeyRateRatioMin = 8
const healthP99MsMax = 10
/** With fewer connections each charge has its own commit, which measures the disk. */
const connectionsMin = 32

/** Returns only aims with both sides measured. */
export function compareWithAims(summary: Summary): readonly AimResult[] {
  return [...requestAims(summary), ...streamAims(summary), ...healthAims(summary)].filter(
    (result) => Number.isFinite(result.measured),
  )
}

function requestAims(summary: Summary): readonly AimResult[] {
  const counts = new Set(summary.requests.map((row) => row.connections))
  return [...counts]
    .filter((connections) => connections >= connectionsMin)
    .flatMap((connections) =>
      requestAimsAt(summary.requests.filter((row) => row.connections === connections)),
    )
}

/** All rows have the same number of connections. */
function requestAimsAt(rows: Summary['requests']): readonly AimResult[] {
  const nginxCpuUs = rows.find((row) => row.proxy === 'nginx')?.cpuUs ?? Number.NaN
  const portkeyRate = rows.find((row) => row.proxy === 'portkey')?.requestsPerSecond ?? Number.NaN
  return rows
    .filter((row) => row.proxy === 'turnpike' && !row.isFree)
    .flatMap((row): AimResult[] => {
      const place = `${row.name}, ${row.connections} connections`
      const cpuRatio = row.cpuUs / nginxCpuUs
      const rateRatio = row.requestsPerSecond / portkeyRate
      return [
        {
          aim: `${place}: at most ${requestCpuRatioMax} × the CPU of nginx per request`,
          measured: cpuRatio,
          unit: '×',
          isMet: cpuRatio <= requestCpuRatioMax,
        },
        {
          aim: `${place}: at least ${portkeyRateRatioMin} × the requests per second of Portkey`,
          measured: rateRatio,
          unit: '×',
          isMet: rateRatio >= portkeyRateRatioMin,
        },
      ]
    })
}

function streamAims(summary: Summary): readonly AimResult[] {
  const cpuUsOf = (proxy: ProxyName, streams: number): number =>
    summary.streams.find((row) => row.proxy === proxy && row.streams === streams)?.cpuUs ??
    Number.NaN
  return [...new Set(summary.streams.map((row) => row.streams))].map((streams): AimResult => {
    const ratio = cpuUsOf('turnpike', streams) / cpuUsOf('nginx', streams)
    return {
      aim: `${streams} streams: at most ${eventCpuRatioMax} × the CPU of nginx per event`,
      measured: ratio,
      unit: '×',
      isMet: ratio <= eventCpuRatioMax,
    }
  })
}

function healthAims(summary: Summary): readonly AimResult[] {
  return summary.health
    .filter((row) => row.proxy === 'turnpike')
    .map((row): AimResult => {
      const p99Ms = row.p99Us / 1_000
      return {
        aim: `/health during ${row.streams} streams: single-digit milliseconds (p99)`,
        measured: p99Ms,
        unit: 'ms',
        isMet: p99Ms < healthP99MsMax,
      }
    })
}

export interface BaselineRatio {
  readonly what: string
  /** This checkout's figure divided by the baseline's. */
  readonly ratio: number
}

/** Returns an empty list if the run measured no baseline. */
export function compareWithBaseline({ requests, streams }: Summary): readonly BaselineRatio[] {
  const requestRatios = requests
    .filter((row) => row.proxy === 'turnpike')
    .flatMap((row) => {
      const name = row.name.replace('Turnpike', 'baseline')
      const old = requests.find(
        (other) =>
          other.proxy === 'baseline' &&
          other.name === name &&
          other.connections === row.connections,
      )
      if (old === undefined) return []
      const place = `${row.name}, ${row.connections} connections`
      return [
        { what: `${place}: CPU per request`, ratio: row.cpuUs / old.cpuUs },
        { what: `${place}: requests/s`, ratio: row.requestsPerSecond / old.requestsPerSecond },
        { what: `${place}: p99`, ratio: row.p99Us / old.p99Us },
      ]
    })
  const streamRatios = streams
    .filter((row) => row.proxy === 'turnpike')
    .flatMap((row) => {
      const old = streams.find(
        (other) => other.proxy === 'baseline' && other.streams === row.streams,
      )
      if (old === undefined) return []
      return [
        { what: `${row.streams} streams: CPU per event`, ratio: row.cpuUs / old.cpuUs },
        { what: `${row.streams} streams: delay p99`, ratio: row.delayP99Us / old.delayP99Us },
        {
          what: `${row.streams} streams: memory per stream`,
          ratio: row.kilobytesPerStream / old.kilobytesPerStream,
        },
      ]
    })
  return [...requestRatios, ...streamRatios]
}
