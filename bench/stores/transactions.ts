/**
 * How many transactions a store has committed with something written, read from outside, so that the
 * gateway is measured as it is. Only differences mean anything.
 */
import { readFileSync } from 'node:fs'
import type { PostgresServer } from '../../test/support/postgres.ts'

/** Where the index of SQLite's write-ahead log keeps its count of committed transactions. */
const countOffset = 8

/** Wraps at 2^32, far above what a run commits. */
export function readEmbeddedTransactions(path: string): number {
  const index = readFileSync(`${path}-shm`)
  return new DataView(index.buffer, index.byteOffset).getUint32(countOffset, true)
}

/**
 * Every transaction that writes takes a number, of a count that all databases of the server share. The
 * statistics views tell commits only seconds later.
 */
export async function readServerTransactions(server: PostgresServer): Promise<number> {
  return Number(await server.run('SELECT pg_snapshot_xmax(pg_current_snapshot())'))
}
