/**
 * When each key was used last, for operators. Requests only note it in memory; a timer writes new uses,
 * at most once a minute for each key. The invariant: noting never waits, and memory is bounded. Uses
 * since the last write are lost when the process is killed.
 */
import { every, minuteMs, type Clock } from '../base/clock.ts'
import type { Database } from '../storage/database.ts'
import { saveKeyUses } from './key-store.ts'

export interface KeyUses {
  note(keyId: string, atMs: number): void
  /** Writes the noted uses, then ends. */
  close(): Promise<void>
}

/** Beyond it, uses are noted again after the next write. */
const keysMax = 20_000
const writeIntervalMs = 10_000
const perKeyIntervalMs = minuteMs
const rowsPerTransaction = 1_000

export function createKeyUses(parts: {
  readonly clock: Clock
  readonly database: Database
  readonly onError: (error: unknown) => void
}): KeyUses {
  const { clock, database, onError } = parts
  const waiting = new Map<string, number>()
  let written = new Map<string, number>()
  let earlier = new Map<string, number>()

  async function write(): Promise<void> {
    while (waiting.size > 0) {
      const uses = [...waiting].slice(0, rowsPerTransaction)
      await database.transact((transaction) => saveKeyUses(transaction, uses))
      for (const [keyId, atMs] of uses) {
        if (waiting.get(keyId) === atMs) waiting.delete(keyId)
        written.set(keyId, atMs)
      }
    }
    if (written.size > keysMax) {
      earlier = written
      written = new Map()
    }
  }

  const timer = every(clock, writeIntervalMs, write, onError)
  return {
    note(keyId, atMs) {
      const lastMs = written.get(keyId) ?? earlier.get(keyId)
      if (lastMs !== undefined && atMs - lastMs < perKeyIntervalMs) return
      if (waiting.size < keysMax || waiting.has(keyId)) waiting.set(keyId, atMs)
    },
    async close() {
      timer.cancel()
      await write().catch(onError)
    },
  }
}
