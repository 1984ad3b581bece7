/**
 * SQL of tables `gateway_node`, `unclean_stop` and `node_lease` (both engines) and `node` (PostgreSQL):
 * which gateways use this store, which of them ended without a clean stop, which of them holds the lease on
 * a task, and whose holds are valid.
 * All times are the store's, see `readStoreTime`.
 */
import { invariant } from '../base/errors.ts'
import type { Clock } from '../base/clock.ts'
import type { Database, Queryable, Transaction } from './database.ts'
import { column, rowForm, type Read } from './row-form.ts'
import { insertRow, upsertRows } from './rows.ts'
import type { PostgresConnection } from './postgres/connection.ts'

const nodeForm = rowForm({
  /** Identifies the process; a restart gets a new one. */
  id: column.text,
  /** The operator's name for the machine. */
  name: column.text,
  region: column.text,
  startedAtMs: column.number,
  seenAtMs: column.number,
  /** Undefined while the node runs, and after it died. */
  endedAtMs: column.optional(column.number),
  /** Addresses that forward requests to it and are not among its trusted proxies. */
  unlistedProxies: column.json<readonly string[]>(),
  /** Of its program. */
  version: column.text,
  /** The first digits of the commit's hash; empty = not known. */
  commit: column.named('commit_id', column.text),
  /** It finishes running requests and accepts no new ones. */
  isDraining: column.flag,
})
export type GatewayNode = Read<typeof nodeForm>

const nodeTable = {
  table: 'gateway_node',
  key: ['id'],
  kept: ['name', 'region', 'started_at_ms', 'version', 'commit_id'],
}

/** A node without a heartbeat for this long is gone; a task lease lasts as long. */
export const nodeTimeoutMs = 15_000

export function isRunning(node: GatewayNode, nowMs: number): boolean {
  return node.endedAtMs === undefined && nowMs - node.seenAtMs < nodeTimeoutMs
}

/**
 * Reads the time that all nodes of one store agree on: the server's clock, or the clock of the one
 * machine that uses an embedded store. Milliseconds of wall time.
 */
export async function readStoreTime(
  database: Pick<Database, 'dialect' | 'query'>,
  clock: Pick<Clock, 'now'>,
): Promise<number> {
  if (database.dialect === 'sqlite') return clock.now()
  const [row] = await database.query(
    'SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS now_ms',
  )
  return Number(row?.['now_ms'])
}

export async function saveNode(transaction: Transaction, node: GatewayNode): Promise<void> {
  await upsertRows(transaction, nodeTable, [nodeForm.write(node)])
}

/** Lists running nodes, and nodes that are gone but not evicted yet. */
export async function listNodes(queryable: Queryable): Promise<readonly GatewayNode[]> {
  const rows = await queryable.query('SELECT * FROM gateway_node ORDER BY started_at_ms, id')
  return rows.map(nodeForm.read)
}

export async function removeNode(transaction: Transaction, id: string): Promise<void> {
  await transaction.query('DELETE FROM gateway_node WHERE id = $1', [id])
}

/** A gateway that ended without a clean stop, some time between two moments. */
export interface UncleanStop {
  /** The operator's name for the machine. */
  readonly name: string
  /** Its last heartbeat. */
  readonly fromMs: number
  /** Undefined while it is no more than missing: no other gateway has looked for it. */
  readonly toMs: number | undefined
}

export async function recordUncleanStop(
  transaction: Transaction,
  { id, name, startedAtMs, seenAtMs }: GatewayNode,
  foundAtMs: number,
): Promise<void> {
  const seen = { started_at_ms: startedAtMs, seen_at_ms: seenAtMs, found_at_ms: foundAtMs }
  const row = { node: id, name, ...seen }
  await insertRow(transaction, 'unclean_stop', row, 'ON CONFLICT (node) DO NOTHING')
}

/** The node was only paused: it is still there. */
export async function withdrawUncleanStop(transaction: Transaction, id: string): Promise<void> {
  await transaction.query('DELETE FROM unclean_stop WHERE node = $1', [id])
}

/** Lists the stops that may have been within a period, nodes that are missing now included. */
export async function listUncleanStops(
  queryable: Queryable,
  { fromMs, toMs, nowMs }: { fromMs: number; toMs: number; nowMs: number },
): Promise<readonly UncleanStop[]> {
  const rows = await queryable.query(
    `SELECT name, seen_at_ms, found_at_ms FROM unclean_stop
      WHERE seen_at_ms < $1 AND found_at_ms >= $2 ORDER BY seen_at_ms, node`,
    [toMs, fromMs],
  )
  const found = rows.map((row) => ({
    name: String(row['name']),
    fromMs: Number(row['seen_at_ms']),
    toMs: Number(row['found_at_ms']),
  }))
  const missing = (await listNodes(queryable))
    .filter((node) => node.endedAtMs === undefined && !isRunning(node, nowMs))
    .filter(({ seenAtMs }) => seenAtMs < toMs)
    .map(({ name, seenAtMs }) => ({ name, fromMs: seenAtMs, toMs: undefined }))
  return [...found, ...missing]
}

/** Finds when a gateway was last seen; undefined where none ever was. */
export async function findLastHeartbeat(queryable: Queryable): Promise<number | undefined> {
  const [row] = await queryable.query('SELECT MAX(seen_at_ms) AS seen_at_ms FROM gateway_node')
  const seen = row?.['seen_at_ms'] ?? null
  return seen === null ? undefined : Number(seen)
}

/** Takes or renews the lease on a task for `nodeTimeoutMs`; returns false while another node has it. */
export async function takeTaskLease(
  transaction: Transaction,
  lease: { readonly task: string; readonly node: string; readonly nowMs: number },
): Promise<boolean> {
  const rows = await transaction.query(
    `INSERT INTO node_lease (task, node, expires_at_ms) VALUES ($1, $2, $3)
     ON CONFLICT (task) DO UPDATE SET node = excluded.node, expires_at_ms = excluded.expires_at_ms
       WHERE node_lease.node = excluded.node OR node_lease.expires_at_ms <= $4
     RETURNING node`,
    [lease.task, lease.node, lease.nowMs + nodeTimeoutMs, lease.nowMs],
  )
  return rows.length > 0
}

/** Releases all task leases of a node, so that another node can take them at once. */
export async function releaseTaskLeases(transaction: Transaction, node: string): Promise<void> {
  await transaction.query('DELETE FROM node_lease WHERE node = $1', [node])
}

/** Finds the node that holds the lease on a task. */
export async function findLeaseHolder(
  queryable: Queryable,
  task: string,
  nowMs: number,
): Promise<string | undefined> {
  const [row] = await queryable.query(
    'SELECT node FROM node_lease WHERE task = $1 AND expires_at_ms > $2',
    [task, nowMs],
  )
  return row === undefined ? undefined : String(row['node'])
}

// --- hold leases: PostgreSQL only ------------------------------------------------------------------

export interface HoldLeaseTerm {
  readonly name: string
  readonly termMs: number
  /** Null = the server's time. */
  readonly nowMs: number | null
}

/** Registers a process that places holds; returns the number that its holds carry (column `boot`). */
export async function insertHoldLease(
  connection: PostgresConnection,
  { name, nowMs, termMs }: HoldLeaseTerm,
): Promise<bigint> {
  const rows = await connection.query(
    `INSERT INTO node (name, started_at_ms, lease_until_ms)
     SELECT $1, now_ms, now_ms + $3 FROM store_time($2) AS now_ms RETURNING boot`,
    [name, nowMs, termMs],
  )
  const boot = rows[0]?.['boot']
  invariant(typeof boot === 'bigint', 'a new boot has a number')
  return boot
}

/** Renews the lease; registers the process again where its lease had expired. */
export async function renewHoldLease(
  connection: PostgresConnection,
  boot: bigint,
  { name, nowMs, termMs }: HoldLeaseTerm,
): Promise<void> {
  await connection.query(
    `INSERT INTO node (boot, name, started_at_ms, lease_until_ms)
     SELECT $1, $2, now_ms, now_ms + $4 FROM store_time($3) AS now_ms
     ON CONFLICT (boot) DO UPDATE SET lease_until_ms = EXCLUDED.lease_until_ms`,
    [boot, name, nowMs, termMs],
  )
}

export async function removeHoldLease(connection: PostgresConnection, boot: bigint): Promise<void> {
  await connection.query('DELETE FROM node WHERE boot = $1', [boot])
}

/** Names of the nodes whose lease has not expired, each once. */
export async function listHoldLeases(database: Queryable): Promise<readonly string[]> {
  const rows = await database.query(
    'SELECT DISTINCT name FROM node WHERE lease_until_ms > store_time(NULL) ORDER BY name',
  )
  return rows.map((row) => String(row['name']))
}
