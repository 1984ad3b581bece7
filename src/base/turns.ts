/**
 * Long work on the event loop, in turns: whatever waits is served in between. Turns are counted in items and
 * not in time, so that a simulation repeats exactly.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Calls `work` with each item, with at most so many in a turn. A short list needs no other turn. */
export async function inTurns<Item>(
  items: Iterable<Item>,
  countPerTurn: number,
  work: (item: Item) => void,
): Promise<void> {
  let isFirst = true
  for (const batch of batchesOf(items, countPerTurn)) {
    if (!isFirst) await nextTurn()
    isFirst = false
    for (const item of batch) work(item)
  }
}

/** Groups items in their order, so many at a time. It takes an item only when its group is asked for. */
export function* batchesOf<Item>(items: Iterable<Item>, size: number): Generator<readonly Item[]> {
  let batch: Item[] = []
  for (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
