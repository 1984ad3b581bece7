/**
 * Brings the alerts in line with the conditions that hold, and puts a delivery for each target into the
 * outbox. Both are one transaction, so no alert lacks its messages.
 *
 *     its first condition begins           the alert begins         a message
 *     a worse kind begins                  acknowledged no more     a message
 *     the worst kind is over, others hold                           a message, unless it is acknowledged
 *     no condition holds                   the alert ends           a message
 *     its snooze is over                   acknowledged no more     the message of its worst condition again
 */
import { newId } from '../../base/id.ts'
import { findAccount } from '../../ledger/account-store.ts'
import type { Database, Transaction } from '../../storage/database.ts'
import {
  alertKinds,
  causeOf,
  compareKinds,
  isSevereEnough,
  keyOf,
  offKinds,
  type Alert,
  type AlertEvent,
  type AlertKind,
  type Condition,
  type Finding,
  type Notice,
} from './alert-kind.ts'
import { isHolderKind } from './account-rules.ts'
import {
  deleteAlert,
  endSnoozes,
  forgetAcknowledgement,
  insertAlert,
  listAlerts,
  saveConditions,
} from './alert-store.ts'
import { atTarget, countWaiting, insertDelivery, type Addressee } from './delivery-store.ts'
import { contactAddress, listTargets, type AlertTarget } from './target-store.ts'

/** Targets that an installation may have. */
export const targetsMax = 100
/** Deliveries that may wait for one target; further ones are dropped, and the log shows it. */
const waitingMax = 1_000
/** Alerts that fire at the same time. */
const firingMax = 10_000
/** Changes of one transaction; the next round makes the rest. */
const changesPerRound = 500
/** Titles in a message. */
const includesMax = 20

function readAlerts(database: Database): Promise<readonly Alert[]> {
  return listAlerts(database, { afterId: '', countMax: firingMax })
}

/** Returns the conditions of all alerts, by their key. */
export async function readConditions(database: Database): Promise<ReadonlyMap<string, Condition>> {
  const alerts = await readAlerts(database)
  return new Map(alerts.flatMap(({ conditions }) => conditions).map((one) => [keyOf(one), one]))
}

export interface Observation {
  /** The conditions of these kinds were looked at: without a finding they do not hold. */
  readonly kinds: readonly AlertKind[]
  readonly findings: readonly Finding[]
}

export interface RaiseOptions {
  readonly database: Database
  /** Gets the text of an alert's messages, with or without targets; on the node that found it. */
  readonly onNotice: (notice: Notice) => void
}

export async function applyObservation(
  options: RaiseOptions,
  observation: Observation,
  nowMs: number,
): Promise<void> {
  const alerts = await readAlerts(options.database)
  const room = Math.max(0, firingMax - alerts.length)
  const all = findChanges(alerts, observation, nowMs)
  const begun = all.filter(({ alert }) => alert === undefined).slice(0, room)
  const others = all.filter(({ alert }) => alert !== undefined)
  const changes = [...begun, ...others].slice(0, changesPerRound)
  if (changes.length === 0) return
  await notify(options, nowMs, async (transaction) => {
    const notices: Notice[] = []
    for (const change of changes) {
      const notice = await applyChange(transaction, change, nowMs)
      if (notice !== undefined) notices.push(notice)
    }
    return notices
  })
}

/** Sends the alerts again whose snooze is over. */
export async function wakeSnoozed(options: RaiseOptions, nowMs: number): Promise<void> {
  await notify(options, nowMs, async (transaction) => {
    const woken = await endSnoozes(transaction, nowMs)
    return woken.map((alert) => noticeOf(alert, 'firing', nowMs))
  })
}

/** Makes a change, and puts the messages about it into the outbox, in one transaction. */
export async function notify(
  { database, onNotice }: RaiseOptions,
  nowMs: number,
  change: (transaction: Transaction) => Promise<readonly Notice[]>,
): Promise<void> {
  const notices = await database.transact(async (transaction) => {
    const made = await change(transaction)
    await deliver(transaction, made, nowMs)
    return made
  })
  for (const notice of notices) onNotice(notice)
}

// --- changes of alerts ------------------------------------------------------------------------------

/** A cause whose conditions have changed. */
interface Change {
  readonly cause: string
  /** Before; undefined: it begins. */
  readonly alert: Alert | undefined
  readonly begun: readonly Condition[]
  /** The worst first. */
  readonly conditions: readonly Condition[]
}

function findChanges(
  alerts: readonly Alert[],
  { kinds, findings }: Observation,
  nowMs: number,
): readonly Change[] {
  const known = new Map(alerts.map((alert) => [alert.cause, alert]))
  const found = Map.groupBy(findings, causeOf)
  return [...new Set([...known.keys(), ...found.keys()])].flatMap((cause) => {
    const alert = known.get(cause)
    const before = alert?.conditions ?? []
    const now = found.get(cause) ?? []
    const knownKeys = new Set(before.map(keyOf))
    const foundKeys = new Set(now.map(keyOf))
    const kept = before.filter((one) => !kinds.includes(one.kind) || foundKeys.has(keyOf(one)))
    const begun = now
      .filter((one) => !knownKeys.has(keyOf(one)))
      .map((one) => ({ ...one, beganAtMs: nowMs }))
    if (kept.length === before.length && begun.length === 0) return []
    const conditions = [...kept, ...begun].toSorted((a, b) => compareKinds(a.kind, b.kind))
    return [{ cause, alert, begun, conditions }]
  })
}

/** Returns the message to send; undefined also where another node was faster. */
async function applyChange(
  transaction: Transaction,
  { cause, alert, begun, conditions: [worst, ...others] }: Change,
  nowMs: number,
): Promise<Notice | undefined> {
  if (worst === undefined) {
    if (alert === undefined || !(await deleteAlert(transaction, alert))) return undefined
    return overNotice(alert, [], nowMs)
  }
  const after = changedAlert(cause, alert, { conditions: [worst, ...others], begun }, nowMs)
  if (alert === undefined)
    return (await insertAlert(transaction, after)) ? noticeOf(after, 'firing', nowMs) : undefined
  const saved = await saveConditions(transaction, alert, after, nowMs)
  if (saved === undefined) return undefined
  const step = compareKinds(worst.kind, alert.conditions[0].kind)
  if (step < 0) {
    await forgetAcknowledgement(transaction, alert.id, nowMs)
    return noticeOf(after, 'firing', nowMs)
  }
  const isSilent =
    step === 0 || (saved.acknowledged !== undefined && !isBack(alert, after.conditions))
  return isSilent ? undefined : overNotice(alert, after.conditions, nowMs)
}

function changedAlert(
  cause: string,
  alert: Alert | undefined,
  { conditions, begun }: Pick<Alert, 'conditions'> & Pick<Change, 'begun'>,
  nowMs: number,
): Alert {
  const severity = alertKinds[conditions[0].kind]
  const severityMax = alert?.severityMax ?? severity
  return {
    id: newId('alr', nowMs),
    firstSeenAtMs: nowMs,
    acknowledged: undefined,
    ...alert,
    cause,
    conditions,
    severityMax: isSevereEnough(severity, severityMax) ? severity : severityMax,
    count: (alert?.count ?? 0) + begun.length,
    lastSeenAtMs: begun.length > 0 || alert === undefined ? nowMs : alert.lastSeenAtMs,
  }
}

// --- messages about them --------------------------------------------------------------------------

function noticeOf(
  { id, conditions: [worst, ...others], firstSeenAtMs }: Alert,
  event: AlertEvent,
  nowMs: number,
): Notice {
  return {
    alertId: id,
    event,
    type: worst.kind,
    severity: alertKinds[worst.kind],
    condition: worst,
    includes: titlesOf(others),
    firedAtMs: firstSeenAtMs,
    atMs: nowMs,
  }
}

/** The worst condition is over; `rest` holds. Those hear the end that have heard any of it. */
function overNotice(alert: Alert, rest: readonly Condition[], nowMs: number): Notice {
  const notice = noticeOf(alert, 'resolved', nowMs)
  const { condition } = notice
  const back = {
    type: 'channel.back',
    condition: { ...condition, title: `Channel ${condition.channel} is back` },
  }
  return {
    ...notice,
    type: `${notice.type}.resolved`,
    ...(isBack(alert, rest) && back),
    severity: rest.length === 0 ? alert.severityMax : notice.severity,
    includes: titlesOf(rest),
  }
}

/** Nothing is left that keeps the channel from serving a model. */
function isBack({ conditions }: Alert, rest: readonly Condition[]): boolean {
  return hasOffKind(conditions) && !hasOffKind(rest)
}

function hasOffKind(conditions: readonly Condition[]): boolean {
  const kinds: readonly AlertKind[] = offKinds
  return conditions.some(({ kind }) => kinds.includes(kind))
}

function titlesOf(conditions: readonly Condition[]): readonly string[] {
  return conditions.slice(0, includesMax).map(({ title }) => title)
}

// --- the outbox ---------------------------------------------------------------------------------------

async function deliver(
  transaction: Transaction,
  notices: readonly Notice[],
  nowMs: number,
): Promise<void> {
  if (notices.length === 0) return
  const targets = await listTargets(transaction, { afterName: '', countMax: targetsMax })
  const waiting = await countWaiting(transaction)
  for (const notice of notices)
    for (const target of targets) {
      if (!isSevereEnough(notice.severity, target.minSeverity)) continue
      const addressee = await addresseeOf(transaction, target, notice)
      if (addressee === undefined) continue
      const count = waiting.get(target.id) ?? 0
      waiting.set(target.id, count + 1)
      await insertDelivery(transaction, {
        id: newId('dlv', nowMs),
        targetId: target.id,
        ...addressee,
        notice,
        state: count < waitingMax ? 'waiting' : 'dropped',
      })
    }
}

/** Undefined without a recipient. */
async function addresseeOf(
  transaction: Transaction,
  { address }: AlertTarget,
  { condition: { kind, accountId } }: Notice,
): Promise<Addressee | undefined> {
  if (address !== contactAddress) return atTarget
  if (accountId === undefined || !isHolderKind(kind)) return undefined
  const account = await findAccount(transaction, accountId)
  if (account === undefined || account.contact === '') return undefined
  return { recipient: account.contact, language: account.language }
}

/** Queues a message to one target, whatever its severity, to show that it arrives. */
export async function raiseTest(
  transaction: Transaction,
  target: AlertTarget,
  nowMs: number,
): Promise<string> {
  const id = newId('dlv', nowMs)
  const condition: Finding = {
    kind: 'alert.test',
    subject: target.id,
    title: `Test of the alert target ${target.name}`,
    text: 'An operator has sent this message to see whether alerts arrive. There is nothing to do.',
    facts: { target: target.name },
  }
  await insertDelivery(transaction, {
    id,
    targetId: target.id,
    ...atTarget,
    notice: {
      alertId: newId('alr', nowMs),
      event: 'firing',
      type: condition.kind,
      severity: alertKinds[condition.kind],
      condition,
      includes: [],
      firedAtMs: nowMs,
      atMs: nowMs,
    },
    state: 'waiting',
  })
  return id
}
