/** The form of a result that is compared with an aim, and the comparison of a run with a baseline. */
import type { Summary } from './summary.ts'

export interface AimResult {
  readonly aim: string
  readonly measured: number
  readonly unit: '×' | 'ms' | 'MB'
  readonly isMet: boolean
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
