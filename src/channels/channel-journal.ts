/**
 * What waits to be written about channels: lines of their history and costs of checks. Adding never
 * waits for the store. The invariant: nothing leaves before the store has it, but for the oldest
 * once `linesMax` wait, which is told.
 */
import type { ChannelChange } from './channel-change.ts'
import type { OperatorCost } from './operator-cost-store.ts'

export interface JournalBatch {
  readonly changes: readonly ChannelChange[]
  readonly costs: readonly OperatorCost[]
}

export interface ChannelJournal {
  addChange(change: ChannelChange): void
  addCost(cost: OperatorCost): void
  readonly waitingCount: number
  /** The oldest that wait, as many as one transaction should hold. They stay until `written`. */
  nextBatch(): JournalBatch
  written(batch: JournalBatch): void
}

export type JournalKind = 'change' | 'cost'

const linesMax = 10_000
const batchMax = 500

/** `onDropped` hears of every line lost because the store has been out for too long. */
export function createChannelJournal(onDropped: (kind: JournalKind) => void): ChannelJournal {
  const changes: ChannelChange[] = []
  const costs: OperatorCost[] = []

  function add<Line>(kind: JournalKind, lines: Line[], line: Line): void {
    lines.push(line)
    if (lines.length <= linesMax) return
    lines.shift()
    onDropped(kind)
  }

  return {
    addChange: (change) => add('change', changes, change),
    addCost: (cost) => add('cost', costs, cost),
    get waitingCount() {
      return changes.length + costs.length
    },
    nextBatch: () => ({ changes: changes.slice(0, batchMax), costs: costs.slice(0, batchMax) }),
    written(batch) {
      removeWritten(changes, batch.changes)
      removeWritten(costs, batch.costs)
    },
  }
}

/** Some of the batch may have been dropped meanwhile: then others stand at the front. */
function removeWritten<Line extends { readonly id: string }>(
  waiting: Line[],
  written: readonly Line[],
): void {
  const ids = new Set(written.map(({ id }) => id))
  let count = 0
  while (count < waiting.length && ids.has(waiting[count]?.id ?? '')) count++
  waiting.splice(0, count)
}
