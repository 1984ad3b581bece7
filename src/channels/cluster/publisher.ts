/**
 * Exchanges the state of channels with the other gateways on the store, about once a second: writes the
 * journal (history and costs of checks), publishes this node's live states, saves the state that a restart
 * needs, and reads which channels other nodes have switched off and which checks operators request. No
 * request waits for it. While the store does not answer, everything waits and is tried again.
 */
import { minuteMs } from '../../base/clock.ts'
import { inTurns } from '../../base/turns.ts'
import type { Membership, Round } from '../../storage/membership.ts'
import { isRunning, listNodes } from '../../storage/node-store.ts'
import type { Database, Transaction } from '../../storage/database.ts'
import type { HealthLine } from '../health/health-line.ts'
import type { HealthPlace } from '../health/health-place.ts'
import type { SavedHealth } from '../health/health-store.ts'
import { replaceHealth } from '../health/health-store.ts'
import { appendChanges, type ChannelChange } from './channel-history.ts'
import {
  checkTask,
  isSameState,
  listCheckRequests,
  listOffElsewhere,
  publishStates,
  removeCheckRequests,
  steady,
  withdrawStates,
  type CheckRequest,
  type PublishedState,
} from './channel-states.ts'
import { removeCheckAnswers } from './check-answers.ts'
import { appendCosts, type OperatorCost } from './operator-cost-store.ts'

export interface PublisherParts {
  readonly database: Database
  readonly membership: Membership
  readonly monotonic: () => number
  readonly journal: ChannelJournal
  /** The live state of every place. */
  readonly lines: () => Iterable<HealthLine>
  /** The health that a restart resumes from. */
  readonly save: () => Iterable<SavedHealth>
  readonly onOffElsewhere: (place: HealthPlace) => void
  readonly onCheckRequest: (request: CheckRequest) => void
}

/** How often the health is saved for a restart when no state changes. */
const saveIntervalMs = minuteMs
/** A gateway runs each requested check once within this time. */
const checkRequestMs = minuteMs
/** Longer than a command waits for an answer. */
const checkAnswerMs = 600_000

/** Describing one takes tens of microseconds. */
const linesPerTurn = 100

/** What a round publishes. */
interface Draft {
  readonly next: ReadonlyMap<string, PublishedState>
  readonly changed: readonly PublishedState[]
  readonly gone: readonly HealthLine[]
}

export class Publisher {
  readonly #parts: PublisherParts
  #firstRoundMs: number | undefined
  #saveDueMs = Number.POSITIVE_INFINITY
  #isSaveWanted = true
  #published: ReadonlyMap<string, PublishedState> = new Map()
  #seenOff: ReadonlySet<string> = new Set()
  #seenRequests: ReadonlySet<string> = new Set()

  constructor(parts: PublisherParts) {
    this.#parts = parts
  }

  /** Joins the membership, which runs a round at once and then every second. */
  start(): void {
    this.#parts.membership.join({
      tasks: [checkTask],
      exchange: (round) => this.#exchange(round),
    })
  }

  /** Runs a round now; resolves when it has been tried. */
  write(): Promise<void> {
    return this.#parts.membership.exchange()
  }

  /**
   * Saves the health for a restart, too: after a kill at this moment, a channel that was just switched
   * off must stay off.
   */
  save(): Promise<void> {
    this.#isSaveWanted = true
    return this.write()
  }

  /** Whether this node makes the regular checks. */
  mayCheck(): boolean {
    return this.#parts.membership.hasTask(checkTask)
  }

  /** Writes the rest of the journal and ends the membership. */
  close(): Promise<void> {
    this.#isSaveWanted = true
    return this.#parts.membership.leave()
  }

  async #exchange(round: Round): Promise<void> {
    const { monotonic, journal } = this.#parts
    this.#firstRoundMs ??= round.nowMs
    const startMs = monotonic()
    const isSaving = this.#isSaveWanted || startMs >= this.#saveDueMs
    const draft = await this.#draft(round)
    const hasNews = draft.changed.length > 0 || draft.gone.length > 0
    if (round.isHeartbeat || isSaving || hasNews || journal.waitingCount > 0) {
      await this.#write(round, draft, isSaving)
      if (isSaving) this.#saveDueMs = startMs + saveIntervalMs
    }
    await this.#readOthers(round.nowMs)
    if (journal.waitingCount > 0) void this.write()
  }

  /** The states to publish; between heartbeats, numbers alone do not make a state a new one. */
  async #draft({ nowMs, isHeartbeat }: Round): Promise<Draft> {
    const { node } = this.#parts.membership
    const published = this.#published
    const next = new Map<string, PublishedState>()
    const changed: PublishedState[] = []
    await inTurns(this.#parts.lines(), linesPerTurn, (shown) => {
      const key = keyOf(shown)
      const before = published.get(key)
      const line = steady(shown, before?.line)
      const isSame =
        before !== undefined &&
        (isHeartbeat
          ? JSON.stringify(line) === JSON.stringify(before.line)
          : isSameState(line, before.line))
      const state = isSame ? before : { node, line, publishedAtMs: nowMs }
      next.set(key, state)
      if (!isSame) changed.push(state)
    })
    const gone = [...published].flatMap(([key, { line }]) => (next.has(key) ? [] : line))
    return { next, changed, gone }
  }

  /** One transaction: all of it is in the store, or nothing. */
  async #write(round: Round, draft: Draft, isSaving: boolean): Promise<void> {
    const { journal, save } = this.#parts
    const batch = journal.nextBatch()
    if (isSaving) this.#isSaveWanted = false
    try {
      await round.transact(async (transaction, heartbeat) => {
        await appendChanges(transaction, batch.changes)
        await appendCosts(transaction, batch.costs)
        for (const gone of heartbeat?.evicted ?? []) await withdrawStates(transaction, gone)
        if (heartbeat !== undefined) await removeOldChecks(transaction, round.nowMs)
        await this.#publish(transaction, draft, heartbeat?.wasEvicted === true)
        if (isSaving) await replaceHealth(transaction, save())
      })
    } catch (error) {
      this.#isSaveWanted ||= isSaving
      throw error
    }
    journal.written(batch)
    this.#published = draft.next
  }

  async #publish(
    transaction: Transaction,
    { next, changed, gone }: Draft,
    mustPublishAll: boolean,
  ): Promise<void> {
    await publishStates(transaction, mustPublishAll ? next.values() : changed)
    for (const line of gone) await withdrawStates(transaction, this.#parts.membership.node, line)
  }

  /** Reads channels that other nodes switched off and checks that operators request; reports each once. */
  async #readOthers(nowMs: number): Promise<void> {
    const { database, membership, onOffElsewhere, onCheckRequest } = this.#parts
    const offs = membership.isAlone ? [] : await listOffElsewhere(database, membership.node)
    const nodes = offs.length === 0 ? [] : await listNodes(database)
    const running = new Set(nodes.filter((one) => isRunning(one, nowMs)).map(({ id }) => id))
    const nextOff = new Set<string>()
    for (const off of offs) {
      if (!running.has(off.node)) continue
      const key = `${off.node}\n${keyOf(off)}\n${off.sinceMs}`
      nextOff.add(key)
      if (!this.#seenOff.has(key)) onOffElsewhere({ channel: off.channel, model: off.model })
    }
    this.#seenOff = nextOff
    const sinceMs = Math.max(this.#firstRoundMs ?? nowMs, nowMs - checkRequestMs)
    const requests = await listCheckRequests(database, sinceMs)
    for (const request of requests) if (!this.#seenRequests.has(request.id)) onCheckRequest(request)
    this.#seenRequests = new Set(requests.map(({ id }) => id))
  }
}

async function removeOldChecks(transaction: Transaction, nowMs: number): Promise<void> {
  await removeCheckRequests(transaction, nowMs - checkRequestMs)
  await removeCheckAnswers(transaction, nowMs - checkAnswerMs)
}

function keyOf({ channel, model }: HealthPlace): string {
  return `${channel}\n${model}`
}

interface JournalBatch {
  readonly changes: readonly ChannelChange[]
  readonly costs: readonly OperatorCost[]
}

/** The queue of history lines and costs that the store does not have yet. Adding never waits. */
export interface ChannelJournal {
  addChange(change: ChannelChange): void
  addCost(cost: OperatorCost): void
  readonly waitingCount: number
  /** The oldest lines, as many as one transaction should have. They stay until `written`. */
  nextBatch(): JournalBatch
  written(batch: JournalBatch): void
}

const linesMax = 10_000
const batchSizeMax = 500

/** `onDropped` is called for each line lost: the oldest, when more than `linesMax` wait. */
export function createChannelJournal(onDropped: (kind: 'change' | 'cost') => void): ChannelJournal {
  const changes: ChannelChange[] = []
  const costs: OperatorCost[] = []

  function add<Line>(kind: 'change' | 'cost', lines: Line[], line: Line): void {
    lines.push(line)
    if (lines.length <= linesMax) return
    lines.shift()
    onDropped(kind)
  }

  return {
    addChange: (change) => add('change', changes, change),
    addCost: (cost) => add('cost', costs, cost),
    get waitingCount() {
      return changes.length + costs.length
    },
    nextBatch: () => ({
      changes: changes.slice(0, batchSizeMax),
      costs: costs.slice(0, batchSizeMax),
    }),
    written(batch) {
      removeWritten(changes, batch.changes)
      removeWritten(costs, batch.costs)
    },
  }
}

/** Lines of the batch may have been dropped meanwhile; then other lines are first. */
function removeWritten<Line extends { readonly id: string }>(
  waiting: Line[],
  written: readonly Line[],
): void {
  const ids = new Set(written.map(({ id }) => id))
  let count = 0
  while (count < waiting.length && ids.has(waiting[count]?.id ?? '')) count++
  waiting.splice(0, count)
}
