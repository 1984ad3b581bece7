/**
 * Packs due deliveries into messages: an alert alone, or several of one kind where they follow each other
 * within the digest time, or all that quiet hours have held back. Decides when, and sends nothing.
 */
import { newId } from '../../base/id.ts'
import type { Database } from '../../storage/database.ts'
import { lastPackedAt, listUnpacked, pack, postpone, type Delivery } from './delivery-store.ts'
import { parseQuietHours, quietUntil } from './quiet-hours.ts'
import type { AlertTarget } from './target-store.ts'

/** Looked at in one round; the next one goes on. */
const deliveriesPerRound = 1_000
const alertsPerMessage = 100

export interface PackOptions {
  readonly targets: ReadonlyMap<string, AlertTarget>
  readonly nowMs: number
}

interface Plan {
  readonly postponed: readonly (Delivery & {
    readonly untilMs: number
    readonly isQuiet: boolean
  })[]
  /** Each becomes one message. */
  readonly groups: readonly (readonly Delivery[])[]
}

export async function packDue(database: Database, { targets, nowMs }: PackOptions): Promise<void> {
  const due = await listUnpacked(database, { nowMs, countMax: deliveriesPerRound })
  if (due.length === 0) return
  const plan = await planMessages(database, due, { targets, nowMs })
  await database.transact(async (transaction) => {
    for (const { id, untilMs, isQuiet } of plan.postponed)
      await postpone(transaction, id, { dueAtMs: untilMs, isQuiet })
    for (const group of plan.groups) {
      const message = { id: newId('msg', nowMs), atMs: nowMs }
      for (const { id } of group) await pack(transaction, id, message)
    }
  })
}

async function planMessages(
  database: Database,
  due: readonly Delivery[],
  { targets, nowMs }: PackOptions,
): Promise<Plan> {
  const postponed: (Delivery & { untilMs: number; isQuiet: boolean })[] = []
  const groups = new Map<string, Delivery[]>()
  for (const delivery of due) {
    const quietMs = quietEnd(targets.get(delivery.targetId), delivery, nowMs)
    if (quietMs !== undefined) {
      postponed.push({ ...delivery, untilMs: quietMs, isQuiet: true })
      continue
    }
    const key = groupOf(delivery, targets.get(delivery.targetId)?.digestMs === 0)
    groups.set(key, [...(groups.get(key) ?? []), delivery])
  }
  const ready: Delivery[][] = []
  for (const group of groups.values()) {
    const untilMs = await digestEnd(database, group, { targets, nowMs })
    if (untilMs !== undefined)
      postponed.push(...group.map((one) => ({ ...one, untilMs, isQuiet: false })))
    else
      for (let at = 0; at < group.length; at += alertsPerMessage)
        ready.push(group.slice(at, at + alertsPerMessage))
  }
  return { postponed, groups: ready }
}

/** What stands in one message: what quiet hours held back, else one kind, else one alert. */
function groupOf(delivery: Delivery, isAlone: boolean): string {
  const { id, targetId, recipient, kind, event, wasQuiet } = delivery
  if (wasQuiet) return `${targetId}\n${recipient}`
  return isAlone ? id : `${targetId}\n${recipient}\n${kind}\n${event}`
}

/** Returns when the target's quiet hours end, where they hold this delivery back. */
function quietEnd(
  target: AlertTarget | undefined,
  { severity, kind }: Delivery,
  nowMs: number,
): number | undefined {
  if (target?.quietHours === undefined || severity === 'critical' || kind === 'alert.test')
    return undefined
  const hours = parseQuietHours(target.quietHours)
  return hours === undefined ? undefined : quietUntil(hours, nowMs)
}

/** Returns when the digest of this group is due, where a message of the group was packed shortly before. */
async function digestEnd(
  database: Database,
  group: readonly Delivery[],
  { targets, nowMs }: PackOptions,
): Promise<number | undefined> {
  const [first] = group
  if (first === undefined || first.wasQuiet || first.kind === 'alert.test') return undefined
  const digestMs = targets.get(first.targetId)?.digestMs ?? 0
  if (digestMs === 0) return undefined
  const packedAtMs = await lastPackedAt(database, first)
  const endMs = (packedAtMs ?? 0) + digestMs
  return packedAtMs !== undefined && endMs > nowMs ? endMs : undefined
}
