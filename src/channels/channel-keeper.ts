/**
 * Keeps the channels of one running gateway: the book of their health, the prober that answers its
 * doubts, and everybody who is to hear of what happens: the history, operators, other nodes, the
 * counters. It decides nothing about health. The invariant: whatever the store does, a change takes
 * effect at once, and is written later.
 */
import { every, sleep, type Clock } from '../base/clock.ts'
import { newId } from '../base/id.ts'
import type { Random } from '../base/random.ts'
import type { Database } from '../storage/database.ts'
import type { Telemetry } from '../telemetry/events.ts'
import type { Snapshot } from './channel.ts'
import { createChannelAlerts } from './channel-alerts.ts'
import { describeChange } from './channel-change.ts'
import { createChannelJournal } from './channel-journal.ts'
import type { CheckResult } from './check.ts'
import { countsOf, priceCheck } from './check-cost.ts'
import { createHealthBook, type HealthBook } from './health-book.ts'
import type { PlacedEffect } from './health-event.ts'
import type { HealthPlace } from './health-place.ts'
import { readHealth } from './health-store.ts'
import { createNodeRound } from './node-round.ts'
import { createProber } from './prober.ts'
import type { Upstream } from './upstream.ts'

export interface ChannelKeeperParts {
  readonly clock: Clock
  readonly random: Random
  readonly database: Database
  readonly upstream: Upstream
  readonly telemetry: Telemetry
  readonly snapshot: () => Snapshot
  readonly nodeName: string
  readonly region: string
  readonly readStoreTime: () => Promise<number>
  readonly checkIntervalMs: number
  readonly failoverTokensMax: number
  readonly onError: (error: unknown) => void
}

export interface ChannelKeeper {
  /** This process, among those on the store. */
  readonly node: string
  readonly health: HealthBook
  /** History lines and costs that the store does not have yet. */
  journalWaitingCount(): number
  /** The catalogue has changed; `next` is what `snapshot` gives from now on. */
  follow(previous: Snapshot, next: Snapshot): void
  /** Resolves when what waits has been exchanged with the store, as far as that answers. */
  exchanged(): Promise<void>
  /** Writes what is left. */
  close(): Promise<void>
}

/** How punctual holds, probes and checks are; a look costs nothing while none is due. */
const wakeIntervalMs = 250
const closeTimeoutMs = 5_000

export async function openChannelKeeper(parts: ChannelKeeperParts): Promise<ChannelKeeper> {
  const { clock, telemetry, snapshot, onError } = parts
  const node = newId('node', clock.now())
  const journal = createChannelJournal((kind) => telemetry.journalDropped(kind))
  /** Place → failures by class up to its last line of history. */
  const failuresTold = new Map<string, ReadonlyMap<string, number>>()

  const prober = createProber({
    clock,
    upstream: parts.upstream,
    snapshot,
    health: () => health,
    onError,
    onChecked: noteCheck,
  })
  const health = createHealthBook({
    clock,
    random: parts.random,
    checkIntervalMs: parts.checkIntervalMs,
    failoverTokensMax: parts.failoverTokensMax,
    mayCheck: () => round.mayCheck(),
    onEffect: hear,
  })
  const alerts = createChannelAlerts({
    telemetry,
    monotonic: () => clock.monotonic(),
    snapshot,
    state: (channel, model) => health.state(channel, model),
  })
  const saved = await readHealth(parts.database)
  const round = createNodeRound({
    ...parts,
    node,
    journal,
    lines: () => health.list(snapshot()),
    save: () => health.save(),
    onOffElsewhere: (place) => health.warn(place),
    onAskedCheck: checkNow,
  })

  function hear(effect: PlacedEffect, place: HealthPlace): void {
    if (effect.kind === 'probe') prober.probe(place, effect.count)
    else if (effect.kind === 'alert') alerts.refused(effect.why, place)
    else {
      const { from, to, why } = effect
      telemetry.channelChanged(place.channel, { model: place.model, from, to, why })
      noteChange(effect, place)
      alerts.changed(effect, place)
      void round.save()
    }
  }

  function noteChange(
    { from, to, why }: Extract<PlacedEffect, { kind: 'changed' }>,
    place: HealthPlace,
  ): void {
    const line = health.find(place)
    if (line === undefined) return
    const key = `${place.channel}\n${place.model}`
    const detail = describeChange(line, failuresTold.get(key) ?? new Map())
    failuresTold.set(key, new Map(line.failures.map(({ outcome, count }) => [outcome, count])))
    const atMs = clock.now()
    const id = newId('evt', atMs)
    const { channel, model } = place
    journal.addChange({ id, atMs, node, channel, model, from, to, why, actor: undefined, detail })
  }

  function noteCheck(place: HealthPlace, { outcome, usage }: CheckResult): void {
    telemetry.probeEnded(place.channel, outcome)
    if (usage === undefined) return
    const atMs = clock.now()
    const amountPicos = priceCheck(place, usage, { snapshot: snapshot(), nowMs: atMs })
    if (amountPicos === undefined) return
    telemetry.checkCost(place.channel, amountPicos)
    const id = newId('evt', atMs)
    const { channel, model } = place
    const counts = countsOf(usage)
    journal.addCost({ id, atMs, node, channel, model, kind: 'check', usage: counts, amountPicos })
    void round.write()
  }

  /** An operator's wish: every model, whatever the plan says, and no hold stands in its way. */
  function checkNow(name: string): void {
    const channel = snapshot().channels.get(name)
    for (const model of channel?.models.keys() ?? []) {
      health.recheck({ channel: name, model })
      prober.probe({ channel: name, model })
    }
  }

  health.follow(undefined, snapshot())
  health.restore(saved)
  alerts.review()
  const wakeTimer = every(clock, wakeIntervalMs, () => health.wake(), onError)

  return {
    node,
    health,
    journalWaitingCount: () => journal.waitingCount,
    follow(previous, next) {
      health.follow(previous, next)
      prober.follow(previous, next)
      alerts.review()
    },
    exchanged: () => round.write(),
    async close() {
      wakeTimer.cancel()
      prober.close()
      // A store that does not answer must not keep the process from ending.
      const closed = round.close().catch(onError)
      await Promise.race([closed, sleep(clock, closeTimeoutMs)])
    },
  }
}
