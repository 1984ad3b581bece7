/**
 * SQL for tables `gateway_node`, `node_lease` and `channel_check`: which gateways run on this store,
 * which of them does what only one may do, and what operators ask of all of them. Times are the
 * store's.
 */
import type { Queryable, Transaction } from '../storage/database.ts'

export interface GatewayNode {
  /** Of the process: another one after a restart. */
  readonly id: string
  /** As operators call it. */
  readonly name: string
  readonly region: string
  readonly startedAtMs: number
  readonly seenAtMs: number
  /** Undefined while it runs, and where it ended without a word. */
  readonly endedAtMs: number | undefined
}

/** How long a node may go unseen before it counts as gone, and a lease before it is anybody's. */
export const nodeLostAfterMs = 15_000

/** The task of making the regular checks. */
export const checkTask = 'channel_checks'

export function isRunning(node: GatewayNode, nowMs: number): boolean {
  return node.endedAtMs === undefined && nowMs - node.seenAtMs < nodeLostAfterMs
}

export async function saveNode(transaction: Transaction, node: GatewayNode): Promise<void> {
  await transaction.query(
    `INSERT INTO gateway_node (id, name, region, started_at_ms, seen_at_ms, ended_at_ms)
     VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT (id) DO UPDATE
       SET seen_at_ms = excluded.seen_at_ms, ended_at_ms = excluded.ended_at_ms`,
    [node.id, node.name, node.region, node.startedAtMs, node.seenAtMs, node.endedAtMs ?? null],
  )
}

/** Those that run, and those that nobody has cleared away yet. */
export async function listNodes(queryable: Queryable): Promise<readonly GatewayNode[]> {
  const rows = await queryable.query(
    'SELECT id, name, region, started_at_ms, seen_at_ms, ended_at_ms FROM gateway_node ORDER BY started_at_ms, id',
  )
  return rows.map((row) => ({
    id: String(row['id']),
    name: String(row['name']),
    region: String(row['region']),
    startedAtMs: Number(row['started_at_ms']),
    seenAtMs: Number(row['seen_at_ms']),
    endedAtMs: row['ended_at_ms'] === null ? undefined : Number(row['ended_at_ms']),
  }))
}

export async function removeNode(transaction: Transaction, id: string): Promise<void> {
  await transaction.query('DELETE FROM gateway_node WHERE id = $1', [id])
}

export interface LeaseWish {
  readonly task: string
  readonly node: string
  readonly nowMs: number
  readonly lengthMs: number
}

/** Takes the lease or keeps it; false while another node has it. */
export async function takeLease(transaction: Transaction, wish: LeaseWish): Promise<boolean> {
  const rows = await transaction.query(
    `INSERT INTO node_lease (task, node, expires_at_ms) VALUES ($1, $2, $3)
     ON CONFLICT (task) DO UPDATE SET node = excluded.node, expires_at_ms = excluded.expires_at_ms
       WHERE node_lease.node = excluded.node OR node_lease.expires_at_ms <= $4
     RETURNING node`,
    [wish.task, wish.node, wish.nowMs + wish.lengthMs, wish.nowMs],
  )
  return rows.length > 0
}

/** Lets another node have at once what this one held. */
export async function releaseLeases(transaction: Transaction, node: string): Promise<void> {
  await transaction.query('DELETE FROM node_lease WHERE node = $1', [node])
}

/** Who may do the task now, where anybody may. */
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

export interface AskedCheck {
  readonly id: string
  readonly channel: string
}

export async function askForCheck(
  transaction: Transaction,
  asked: AskedCheck & { readonly askedAtMs: number },
): Promise<void> {
  await transaction.query(
    'INSERT INTO channel_check (id, asked_at_ms, channel) VALUES ($1, $2, $3)',
    [asked.id, asked.askedAtMs, asked.channel],
  )
}

export async function listAskedChecks(
  queryable: Queryable,
  sinceMs: number,
): Promise<readonly AskedCheck[]> {
  const rows = await queryable.query(
    'SELECT id, channel FROM channel_check WHERE asked_at_ms >= $1 ORDER BY id',
    [sinceMs],
  )
  return rows.map((row) => ({ id: String(row['id']), channel: String(row['channel']) }))
}

export async function removeAskedChecks(transaction: Transaction, beforeMs: number): Promise<void> {
  await transaction.query('DELETE FROM channel_check WHERE asked_at_ms < $1', [beforeMs])
}
