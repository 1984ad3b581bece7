/** What each part of the benchmark gets and gives. */
import type { Plan } from './options.ts'
import type { ProcessGroup } from './processes.ts'

export interface RunSetting {
  readonly plan: Plan
  readonly group: ProcessGroup
  readonly workFolder: string
  readonly root: string
  /** Where a gateway keeps its CPU profiles; without one it makes none. */
  readonly profileFolder: string | undefined
  /** The checkouts that are compared, by the name of their commit, oldest first. */
  readonly programs: ReadonlyMap<string, string>
}

/** How a report says where it is from. */
export interface Made {
  readonly command: string
  readonly date: string
  readonly commit: string
}

export interface RunResult {
  readonly report: string
  /** False: money or another promise is wrong, and the command fails. */
  readonly isRight: boolean
  /** Kept as JSON beside the report. */
  readonly figures?: object
  /** Writes what else the documentation shows; returns its path. */
  readonly writePicture?: () => string | undefined
}
