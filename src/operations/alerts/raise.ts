/**
 * Raises and resolves alerts: compares the conditions that hold with the alerts that are firing, and puts
 * a delivery for each target into the outbox. Both are one transaction, so no alert lacks its messages.
 */
import { newId } from '../../base/id.ts'
import { findAccount } from '../../ledger/account-store.ts'
import type { Database, Transaction } from '../../storage/database.ts'
import {
  alertKinds,
  isSevereEnough,
  keyOf,
  type Alert,
  type AlertEvent,
  type AlertKind,
  type Finding,
} from './alert-kind.ts'
import { accountKinds } from './account-rules.ts'
import { insertAlert, listFiring, resolveAlert } from './alert-store.ts'
import { countWaiting, insertDelivery } from './delivery-store.ts'
import { contactAddress, listTargets, type AlertTarget } from './target-store.ts'

/** Targets that an installation may have. */
export const targetsMax = 100
/** Deliveries that may wait for one target; what comes on top of them is dropped, and the log shows it. */
const waitingMax = 1_000
/** Alerts that fire at the same time. */
const firingMax = 10_000
/** What one transaction raises and resolves; the next round goes on. */
const changesPerRound = 500

export type FiringAlerts = readonly Alert[]

export function readFiring(database: Database): Promise<FiringAlerts> {
  return listFiring(database, { afterId: '', countMax: firingMax })
}

export interface Observation {
  /** The conditions of these kinds were looked at: what is not found does not hold. */
  readonly kinds: readonly AlertKind[]
  readonly findings: readonly Finding[]
  readonly firing: FiringAlerts
}

export interface RaiseOptions {
  readonly database: Database
  /** An alert began to fire, or is over; told on the node that found it. */
  readonly onAlert: (alert: Alert, event: AlertEvent) => void
}

/** Raises the alerts that were found and are not firing; resolves those that are not found any more. */
export async function applyObservation(
  { database, onAlert }: RaiseOptions,
  { kinds, findings, firing }: Observation,
  nowMs: number,
): Promise<void> {
  const keyOfFinding = ({ kind, subject }: Finding): string => keyOf(kind, subject)
  const found = new Set(findings.map(keyOfFinding))
  const known = new Set(firing.map(keyOfFinding))
  const begun = findings.filter((one) => !known.has(keyOfFinding(one)))
  const over = firing.filter((one) => kinds.includes(one.kind) && !found.has(keyOfFinding(one)))
  const room = Math.max(0, firingMax - firing.length)
  const news = begun.slice(0, Math.min(room, changesPerRound))
  const ended = over.slice(0, changesPerRound)
  if (news.length === 0 && ended.length === 0) return
  const outbox = await database.transact(async (transaction) => {
    const opened = await openOutbox(transaction, nowMs)
    for (const finding of news) await raise(transaction, finding, opened)
    for (const alert of ended)
      if (await resolveAlert(transaction, alert.id, nowMs))
        await opened.add({ ...alert, resolvedAtMs: nowMs }, 'resolved')
    return opened
  })
  for (const { alert, event } of outbox.added) onAlert(alert, event)
}

async function raise(transaction: Transaction, finding: Finding, outbox: Outbox): Promise<void> {
  const alert: Alert = {
    ...finding,
    id: newId('alr', outbox.nowMs),
    severity: alertKinds[finding.kind],
    firedAtMs: outbox.nowMs,
    resolvedAtMs: undefined,
  }
  if (await insertAlert(transaction, alert)) await outbox.add(alert, 'firing')
}

interface Outbox {
  readonly nowMs: number
  /** Whatever targets there are. */
  readonly added: readonly { readonly alert: Alert; readonly event: AlertEvent }[]
  add(alert: Alert, event: AlertEvent): Promise<void>
}

async function openOutbox(transaction: Transaction, nowMs: number): Promise<Outbox> {
  const targets = await listTargets(transaction, { afterName: '', countMax: targetsMax })
  const waiting = await countWaiting(transaction)
  const added: { readonly alert: Alert; readonly event: AlertEvent }[] = []
  return {
    nowMs,
    added,
    async add(alert, event) {
      added.push({ alert, event })
      for (const target of targets) {
        if (!wants(target, alert)) continue
        const recipient = await recipientOf(transaction, target, alert)
        if (recipient === undefined) continue
        const count = waiting.get(target.id) ?? 0
        waiting.set(target.id, count + 1)
        await insertDelivery(transaction, {
          id: newId('dlv', nowMs),
          alertId: alert.id,
          targetId: target.id,
          recipient,
          event,
          kind: alert.kind,
          state: count < waitingMax ? 'waiting' : 'dropped',
          createdAtMs: nowMs,
        })
      }
    },
  }
}

/** Empty: the address of the target. Undefined where there is nobody to write to. */
async function recipientOf(
  transaction: Transaction,
  { address }: AlertTarget,
  { kind, accountId }: Alert,
): Promise<string | undefined> {
  if (address !== contactAddress) return ''
  if (accountId === undefined || !accountKinds.includes(kind)) return undefined
  const contact = (await findAccount(transaction, accountId))?.contact ?? ''
  return contact === '' ? undefined : contact
}

/** Returns whether the target gets messages of this alert. */
export function wants(target: AlertTarget, alert: Alert): boolean {
  const { kinds, minSeverity } = target
  if (kinds !== undefined && !kinds.includes(alert.kind)) return false
  return isSevereEnough(alert.severity, minSeverity)
}

/** Queues a message to one target, whatever its filters, to show that it arrives. */
export async function raiseTest(
  transaction: Transaction,
  target: AlertTarget,
  nowMs: number,
): Promise<string> {
  const alert: Alert = {
    kind: 'alert.test',
    subject: target.id,
    title: `Test of the alert target ${target.name}`,
    text: 'An operator has sent this message to see whether alerts arrive. There is nothing to do.',
    facts: { target: target.name },
    id: newId('alr', nowMs),
    severity: alertKinds['alert.test'],
    firedAtMs: nowMs,
    // It never counts as firing.
    resolvedAtMs: nowMs,
  }
  await insertAlert(transaction, alert)
  const id = newId('dlv', nowMs)
  await insertDelivery(transaction, {
    id,
    alertId: alert.id,
    targetId: target.id,
    recipient: '',
    event: 'firing',
    kind: alert.kind,
    state: 'waiting',
    createdAtMs: nowMs,
  })
  return id
}
