/** The gateways of a store as operators see them: program, state, and those that ended uncleanly. */
import { z } from 'zod'
import { dayMs } from '../../base/clock.ts'
import {
  isRunning,
  listNodes as readNodes,
  listUncleanStops,
  readStoreTime,
  type GatewayNode,
} from '../../storage/node-store.ts'
import { operation, timeOrNull, timeText } from '../operation.ts'

const stopDays = 30

/** `stopped` = it has said goodbye; `missing` = it has not, and its heartbeat is overdue. */
export const nodeStates = ['running', 'draining', 'stopped', 'missing'] as const

/** Lists the gateways by start, and the unclean stops of the last 30 days, oldest first. */
export const listNodes = operation(z.strictObject({}), async (context): Promise<NodeList> => {
  const { database, clock } = context
  const nowMs = await readStoreTime(database, clock)
  return database.snapshot(async (snapshot) => ({
    at: timeText(nowMs),
    nodes: (await readNodes(snapshot)).map((node) => viewNode(node, nowMs)),
    unclean_stops: (
      await listUncleanStops(snapshot, {
        fromMs: nowMs - stopDays * dayMs,
        toMs: nowMs + dayMs,
        nowMs,
      })
    ).map(({ name, fromMs, toMs }) => ({
      node: name,
      from: timeText(fromMs),
      to: timeOrNull(toMs),
    })),
  }))
})

export interface NodeList {
  /** The store's time; every age counts from here. */
  readonly at: string
  readonly nodes: readonly ReturnType<typeof viewNode>[]
  readonly unclean_stops: readonly {
    readonly node: string
    readonly from: string
    readonly to: string | null
  }[]
}

function viewNode(node: GatewayNode, nowMs: number) {
  return {
    id: node.id,
    name: node.name,
    region: node.region,
    version: node.version,
    commit: node.commit === '' ? null : node.commit,
    state: stateOf(node, nowMs),
    started_at: timeText(node.startedAtMs),
    seen_at: timeText(node.seenAtMs),
    age_ms: Math.max(0, nowMs - node.seenAtMs),
    stopped_at: timeOrNull(node.endedAtMs),
  }
}

function stateOf(node: GatewayNode, nowMs: number): (typeof nodeStates)[number] {
  if (node.endedAtMs !== undefined) return 'stopped'
  if (!isRunning(node, nowMs)) return 'missing'
  return node.isDraining ? 'draining' : 'running'
}
