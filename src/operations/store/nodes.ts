/** The gateways of a store as operators see them: program, state, and those that ended uncleanly. */
import { z } from 'zod'
import { dayMs } from '../../base/clock.ts'
import {
  isRunning,
  listNodes as readNodes,
  readStoreTime,
  type GatewayNode,
} from '../../storage/node-store.ts'
import { moment, type Answer } from '../answer-forms.ts'
import { noInput, operation, timeOrNull, timeText } from '../operation.ts'
import { readUncleanStops, uncleanStopForm } from '../unclean-stops.ts'

const stopDays = 30

const nodesForm = z.strictObject({
  at: moment.meta({ description: "The store's time; every age counts from here." }),
  nodes: z.array(
    z.strictObject({
      id: z.string(),
      name: z.string(),
      region: z.string(),
      version: z.string(),
      commit: z.string().nullable(),
      state: z.enum(['running', 'draining', 'stopped', 'missing']).meta({
        description: 'missing: without a heartbeat and without a goodbye; stopped: ended cleanly.',
      }),
      started_at: moment,
      seen_at: moment.meta({ description: 'Its last heartbeat.' }),
      age_ms: z.number(),
      stopped_at: moment.nullable(),
    }),
  ),
  unclean_stops: z
    .array(uncleanStopForm)
    .meta({ description: 'Of the last 30 days, oldest first.' }),
})

type NodeView = Answer<typeof nodesForm>['nodes'][number]

/** Lists the gateways by start, and the unclean stops of the last 30 days, oldest first. */
export const listNodes = operation({ input: noInput, answer: nodesForm }, async (context) => {
  const { database, clock } = context
  const nowMs = await readStoreTime(database, clock)
  return database.snapshot(async (snapshot) => ({
    at: timeText(nowMs),
    nodes: (await readNodes(snapshot)).map((node) => viewNode(node, nowMs)),
    unclean_stops: await readUncleanStops(snapshot, {
      fromMs: nowMs - stopDays * dayMs,
      toMs: nowMs + dayMs,
      nowMs,
    }),
  }))
})

function viewNode(node: GatewayNode, nowMs: number): NodeView {
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

function stateOf(node: GatewayNode, nowMs: number): NodeView['state'] {
  if (node.endedAtMs !== undefined) return 'stopped'
  if (!isRunning(node, nowMs)) return 'missing'
  return node.isDraining ? 'draining' : 'running'
}
