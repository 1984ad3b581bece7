/**
 * What one gateway takes from the process that runs it. Tests replace it: with their clock, their folder,
 * their full disk.
 */
import type { Logger } from 'pino'
import type { Clock } from '../base/clock.ts'
import type { Random } from '../base/random.ts'
import type { Secret } from '../base/secret.ts'
import type { TracePoint } from '../relay/stages.ts'
import type { Resolve } from '../http/client/checked-lookup.ts'
import type { Database } from '../storage/database.ts'
import type { MetricsReport } from '../telemetry/united-metrics.ts'

/** This gateway among the processes of one supervisor. */
export interface ProcessPlace {
  /** Its name as a node. */
  readonly name: string
  /** How many processes share the limits. */
  readonly count: number
  /** The sockets that the supervisor has bound, as file descriptors. */
  readonly listenDescriptor: number
  readonly adminListenDescriptor: number
  /** Returns the metrics of all processes as one. */
  readonly uniteMetrics: (reportOwn: () => Promise<MetricsReport>) => Promise<string>
}

export interface Effects {
  /** Absent where this process is the only one. */
  readonly place?: ProcessPlace

  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
  /** How many log lines could not be written so far. */
  readonly droppedLogLines?: () => number
  /** Variables of the process, for credentials written as `env:NAME`. */
  readonly environment: (name: string) => string | undefined
  readonly masterKey: () => Secret
  /** The store has failed and stays unusable: the process must end and be started again. */
  readonly onFatal: (error: Error) => void
  readonly onTracePoint?: (point: TracePoint, exchangeId: string) => void
  /** Called when this process holds the store, before it reads the catalogue. */
  readonly onStoreOpen?: (database: Database) => Promise<void>
  /** The most pages of 4 KB that an embedded store may have, for tests of a full disk. */
  readonly storePagesMax?: number
  /** Replaces the time of a PostgreSQL server in tests. */
  readonly readStoreTime?: () => number
  /** Replaces the look-up of vendors' names in tests. */
  readonly resolve?: Resolve
  /** Replaces the folder of the built console and account page. */
  readonly siteFolder?: string
}
