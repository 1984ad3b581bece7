/**
 * What the measurements know of a proxy: its port, its requests and its process. Knows no configuration
 * of any proxy.
 */
import type { FormatName, StreamFormatName } from '../exchanges.ts'
import type { ProxyName } from '../options.ts'
import type { ProcessGroup, Running } from '../processes.ts'
import type { Cores } from '../machine.ts'

/** One row of the request table. */
export interface RequestCase {
  readonly name: string
  readonly format: FormatName
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Turnpike does not charge it: it shows the cost of a request without the ledger. */
  readonly isFree?: boolean
}

export interface StreamCase {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

/** What a proxy can do while the vendor takes its time. */
export interface SlowCases {
  readonly title: string
  /** A chat request with a JSON answer. */
  readonly json: StreamCase
  readonly streams: Readonly<Partial<Record<StreamFormatName, StreamCase>>>
  /** More than these it cannot do on one core. */
  readonly requestsPerSecondMax?: number
  readonly streamsPerSecondMax?: number
}

export interface Proxy {
  readonly name: ProxyName
  readonly port: number
  readonly process: Running
  readonly requests: readonly RequestCase[]
  /** Absent if the proxy is not part of the stream measurements. */
  readonly stream?: StreamCase
  readonly healthPath?: string
  readonly slow: SlowCases
}

/** What starting any proxy needs. */
export interface Bench {
  readonly group: ProcessGroup
  readonly cores: Cores
  readonly workFolder: string
  readonly root: string
  /** The upstream of answers that are not streamed. */
  readonly jsonPort: number
  /** The upstream of streams. */
  readonly streamPort: number
}
