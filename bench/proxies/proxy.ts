/**
 * What the measurements know of a proxy: where it listens, what it is asked, which processes it
 * costs. How one is configured and started is the business of its own file.
 */
import type { FormatName } from '../exchanges.ts'
import type { ProxyName } from '../options.ts'
import type { ProcessGroup, Running } from '../processes.ts'
import type { Cores } from '../machine.ts'

/** One row of the request table. */
export interface RequestCase {
  readonly name: string
  readonly format: FormatName
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** Costs nothing at Turnpike: shows what is left of a request without its money. */
  readonly isFree?: boolean
}

export interface StreamCase {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

export interface Proxy {
  readonly name: ProxyName
  readonly port: number
  readonly process: Running
  readonly requests: readonly RequestCase[]
  /** Absent where the proxy takes no part in the stream measurements. */
  readonly stream?: StreamCase
  readonly healthPath?: string
}

/** What every proxy needs to be started. */
export interface Bench {
  readonly group: ProcessGroup
  readonly cores: Cores
  readonly workFolder: string
  readonly root: string
  /** Serves both answers that are not streamed. */
  readonly jsonPort: number
  /** Serves the streams. */
  readonly streamPort: number
}
