/**
 * Usage objects as vendors and servers document them or as the public has reported them, each with the counts
 * that are right to charge. One file per vendor or server; a case without a source holds no object.
 */
import { readdirSync, readFileSync } from 'node:fs'
import type { JsonObject } from '../../src/formats/json.ts'
import type { UsageCounts } from '../../src/metering/usage.ts'

export interface VendorCases {
  readonly vendor: string
  /** The day on which the sources were read. */
  readonly checked: string
  readonly cases: readonly (UsageCase | MissingCase)[]
}

interface CaseFacts {
  readonly name: string
  readonly api: 'chat' | 'messages' | 'responses'
  readonly form: 'whole' | 'stream'
  readonly note?: string
}

interface CaseSource {
  readonly address: string
  readonly kind: 'documented' | 'reported'
  /** Null where the source has none. */
  readonly date: string | null
}

/** It has `usage` or `events`, and one of `charge`, `parts` and `estimated`. */
export interface UsageCase extends CaseFacts {
  readonly source: CaseSource
  /** The usage of a whole answer. */
  readonly usage?: JsonObject
  /** Events of a stream, in order: those with usage, and the one that says why the answer ends. */
  readonly events?: readonly JsonObject[]
  /** All that is charged. */
  readonly charge?: UsageCounts
  /** The same by part, where several models or runs made the answer. */
  readonly parts?: readonly CasePart[]
  /** No complete count came, so the charge is an estimate. */
  readonly estimated?: true
  /** What the counts cost at the prices of the test. */
  readonly usd?: number
  /** The arithmetic. */
  readonly why: string
}

interface CasePart {
  readonly model?: string
  readonly charge: UsageCounts
}

/** What was looked for and not found. */
export interface MissingCase extends CaseFacts {
  readonly source: null
  readonly searched: string
}

export function readUsageCases(): readonly VendorCases[] {
  const folder = new URL('./usage-cases/', import.meta.url)
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => {
      const cases: unknown = JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
      return cases as VendorCases
    })
}

export function isSourced(entry: UsageCase | MissingCase): entry is UsageCase {
  return entry.source !== null
}
