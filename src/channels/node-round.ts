/**
 * What a gateway exchanges with the store about channels, about once a second: it writes the
 * journal, publishes its live state, shows that it runs, takes or keeps the lease for the regular
 * checks, clears away nodes that are gone, and hears what other nodes have switched off and what
 * operators want checked. No request ever waits for it. While the store is out everything stays
 * and is tried again. The invariant: this node holds the lease by its own clock for no longer than
 * it does by the store's.
 */
import { every, type Clock } from '../base/clock.ts'
import type { Database, Transaction } from '../storage/database.ts'
import { appendChanges } from './channel-change-store.ts'
import type { ChannelJournal, JournalBatch } from './channel-journal.ts'
import { listOffElsewhere, publishStates, withdrawStates } from './channel-state-store.ts'
import type { HealthLine } from './health-line.ts'
import type { HealthPlace } from './health-place.ts'
import type { SavedHealth } from './health-saved.ts'
import { replaceHealth } from './health-store.ts'
import {
  checkTask,
  isRunning,
  listAskedChecks,
  listNodes,
  nodeLostAfterMs,
  releaseLeases,
  removeAskedChecks,
  removeNode,
  saveNode,
  takeLease,
  type GatewayNode,
} from './node-store.ts'
import { appendCosts } from './operator-cost-store.ts'
import { isSameState, steady, type PublishedState } from './published-state.ts'

export interface NodeRoundParts {
  readonly clock: Clock
  readonly database: Database
  readonly node: string
  /** As operators call it. */
  readonly nodeName: string
  readonly region: string
  /** Wall time that all nodes of the store agree on. */
  readonly readStoreTime: () => Promise<number>
  readonly journal: ChannelJournal
  /** The live state of every place. */
  readonly lines: () => readonly HealthLine[]
  /** What is worth keeping over a restart. */
  readonly save: () => readonly SavedHealth[]
  readonly onOffElsewhere: (place: HealthPlace) => void
  readonly onAskedCheck: (channel: string) => void
  /** Hears once of each time the store is out. */
  readonly onError: (error: unknown) => void
}

export interface NodeRound {
  /** Writes what waits now; resolves when that has been tried. */
  write(): Promise<void>
  /** The same, and what a restart resumes from with it. */
  save(): Promise<void>
  /** Whether this node is the one that makes the regular checks. */
  mayCheck(): boolean
  /** Writes what is left and tells the others that this node has ended. */
  close(): Promise<void>
}

const roundMs = 1_000
/** Of seeing and being seen; figures that move with every request are published as often. */
const beatMs = 5_000
const saveMs = 60_000
const checkHeardForMs = 60_000

export function createNodeRound(parts: NodeRoundParts): NodeRound {
  const { clock, database, node: id, journal } = parts
  let startedAtMs: number | undefined
  let beatAt = Number.NEGATIVE_INFINITY
  let saveAt = Number.POSITIVE_INFINITY
  let leaseUntil = Number.NEGATIVE_INFINITY
  let published = new Map<string, PublishedState>()
  let heardOff = new Set<string>()
  let heardChecks = new Set<string>()
  let isOut = false
  let current: Promise<void> | undefined
  let isWantedAgain = false
  let isSaveWanted = true
  let isClosed = false

  /** What differs from what is published; without `withFigures` only where the state itself does. */
  function draft(nowMs: number, withFigures: boolean): Map<string, PublishedState> {
    const next = new Map<string, PublishedState>()
    for (const shown of parts.lines()) {
      const key = keyOf(shown)
      const before = published.get(key)
      const line = steady(shown, before?.line)
      const isSame =
        before !== undefined &&
        (withFigures
          ? JSON.stringify(line) === JSON.stringify(before.line)
          : isSameState(line, before.line))
      next.set(key, isSame ? before : { node: id, line, publishedAtMs: nowMs })
    }
    return next
  }

  async function round(): Promise<void> {
    const beganAt = clock.monotonic()
    const nowMs = await parts.readStoreTime()
    startedAtMs ??= nowMs
    const isBeat = beganAt >= beatAt
    const isSaving = isSaveWanted || beganAt >= saveAt
    const next = draft(nowMs, isBeat)
    const isNews =
      [...next].some(([key, state]) => published.get(key) !== state) ||
      [...published.keys()].some((key) => !next.has(key))
    const isWriting = isBeat || isSaving || isNews || journal.waitingCount > 0
    if (isWriting) {
      const batch = journal.nextBatch()
      const saved = isSaving ? parts.save() : undefined
      isSaveWanted = false
      const isHolder = await commit({ batch, saved, next, isBeat, nowMs })
      journal.written(batch)
      published = next
      if (isSaving) saveAt = beganAt + saveMs
      if (isHolder !== undefined) {
        beatAt = beganAt + beatMs
        leaseUntil = isHolder ? beganAt + nodeLostAfterMs : Number.NEGATIVE_INFINITY
      }
    }
    await hear(nowMs)
    if (journal.waitingCount > 0) isWantedAgain = true
  }

  /** One transaction; whether this node holds the lease is known where it showed that it lives. */
  async function commit(what: {
    readonly batch: JournalBatch
    readonly saved: readonly SavedHealth[] | undefined
    readonly next: ReadonlyMap<string, PublishedState>
    readonly isBeat: boolean
    readonly nowMs: number
  }): Promise<boolean | undefined> {
    try {
      return await database.transact(async (transaction) => {
        await appendChanges(transaction, what.batch.changes)
        await appendCosts(transaction, what.batch.costs)
        const beat = what.isBeat ? await showLife(transaction, what.nowMs) : undefined
        await publish(transaction, what.next, beat?.isForgotten === true)
        if (what.saved !== undefined) await replaceHealth(transaction, what.saved)
        return beat?.isHolder
      })
    } catch (error) {
      isSaveWanted ||= what.saved !== undefined
      throw error
    }
  }

  async function showLife(
    transaction: Transaction,
    nowMs: number,
  ): Promise<{ readonly isHolder: boolean; readonly isForgotten: boolean }> {
    const nodes = await listNodes(transaction)
    await saveNode(transaction, ownNode(nowMs, undefined))
    for (const node of nodes)
      if (node.id !== id && !isRunning(node, nowMs)) {
        await withdrawStates(transaction, node.id)
        await removeNode(transaction, node.id)
      }
    await removeAskedChecks(transaction, nowMs - checkHeardForMs)
    const wish = { task: checkTask, node: id, nowMs, lengthMs: nodeLostAfterMs }
    const isHolder = await takeLease(transaction, wish)
    // Others took this node for gone, and what it had published with it.
    return { isHolder, isForgotten: !nodes.some((node) => node.id === id) }
  }

  function ownNode(nowMs: number, endedAtMs: number | undefined): GatewayNode {
    const { region, nodeName: name } = parts
    return { id, name, region, startedAtMs: startedAtMs ?? nowMs, seenAtMs: nowMs, endedAtMs }
  }

  async function publish(
    transaction: Transaction,
    next: ReadonlyMap<string, PublishedState>,
    isForgotten: boolean,
  ): Promise<void> {
    const states = [...next].flatMap(([key, state]) =>
      isForgotten || published.get(key) !== state ? [state] : [],
    )
    await publishStates(transaction, states)
    for (const [key, { line }] of published)
      if (!next.has(key)) await withdrawStates(transaction, id, line)
  }

  async function hear(nowMs: number): Promise<void> {
    const offs = await listOffElsewhere(database, id)
    const running = offs.length === 0 ? [] : await listNodes(database)
    const nextOff = new Set<string>()
    for (const off of offs) {
      if (!running.some((node) => node.id === off.node && isRunning(node, nowMs))) continue
      const key = `${off.node}\n${keyOf(off)}\n${off.sinceMs}`
      nextOff.add(key)
      if (!heardOff.has(key)) parts.onOffElsewhere({ channel: off.channel, model: off.model })
    }
    heardOff = nextOff
    const sinceMs = Math.max(startedAtMs ?? nowMs, nowMs - checkHeardForMs)
    const checks = await listAskedChecks(database, sinceMs)
    for (const check of checks) if (!heardChecks.has(check.id)) parts.onAskedCheck(check.channel)
    heardChecks = new Set(checks.map((check) => check.id))
  }

  async function rounds(): Promise<void> {
    try {
      do {
        isWantedAgain = false
        await round()
      } while (isWantedAgain)
      isOut = false
    } catch (error) {
      if (!isOut) parts.onError(error)
      isOut = true
    } finally {
      current = undefined
    }
  }

  function run(): Promise<void> {
    if (current === undefined) current = rounds()
    else isWantedAgain = true
    return current
  }

  const timer = every(clock, roundMs, run, parts.onError)
  void run()

  return {
    write: () => (isClosed ? Promise.resolve() : run()),
    save() {
      // A kill right after must not bring back on what has just been switched off.
      isSaveWanted = true
      return isClosed ? Promise.resolve() : run()
    },
    mayCheck: () => clock.monotonic() < leaseUntil,
    async close() {
      timer.cancel()
      await current
      isSaveWanted = true
      await run()
      isClosed = true
      leaseUntil = Number.NEGATIVE_INFINITY
      const nowMs = await parts.readStoreTime()
      await database.transact(async (transaction) => {
        await saveNode(transaction, ownNode(nowMs, nowMs))
        await releaseLeases(transaction, id)
      })
    },
  }
}

function keyOf({ channel, model }: HealthPlace): string {
  return `${channel}\n${model}`
}
