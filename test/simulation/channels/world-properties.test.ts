/**
 * What must hold of whole worlds whatever goes wrong in them: rules R2 to R5 and R7 to R12, with random
 * faults on four channels of three ranks, one to twenty keys, caps, an operator's hand, one node or two
 * and clocks that are set. A failure prints its seed; `SEED=…` repeats it.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import type { Channel } from '../../../src/channels/channel.ts'
import { propertySeed } from './seed.ts'
import { during, steady, type Behaviour, type Script } from './vendor-model.ts'
import { World, type ChannelPlan, type HandMove, type WorldRecord } from './world.ts'
import { volume } from '../../support/variants.ts'

fc.configureGlobal({ seed: propertySeed(), endOnFailure: true })

const minuteMs = 60_000
const names = ['main', 'twin', 'reserve', 'last'] as const
const ranks = [0, 0, 1, 2] as const
const faultsEndMinute = 55
/** Long enough after the last fault to return from the longest hold and the longest slowness. */
const worldMinutes = 130

const faultArbitrary = fc.record({
  channel: fc.nat(names.length - 1),
  fromMinute: fc.nat(40),
  minutes: fc.integer({ min: 1, max: faultsEndMinute - 40 }),
  fault: fc.constantFrom<Partial<Behaviour>>(
    { errorRate: 1 },
    { errorRate: 0.4 },
    { breakRate: 1 },
    { breakRate: 0.3 },
    { latencyFactor: 4 },
    { throttle: { retryAfterMs: 20_000 } },
    { throttle: { retryAfterMs: undefined } },
    { isRefusing: true },
    { failing: { form: 'stream', how: 'cut' } },
    { failing: { form: 'whole', how: 'refuse' } },
    { failing: { form: 'stream', how: 'hang' } },
  ),
})

const handArbitrary = fc.record({
  channel: fc.nat(names.length - 1),
  fromMinute: fc.nat(30),
  /** Left switched off where undefined. */
  minutes: fc.option(fc.integer({ min: 1, max: 20 }), { nil: undefined }),
})

const worldArbitrary = fc.record({
  seed: fc.nat(1_000_000),
  faults: fc.array(faultArbitrary, { maxLength: 8, size: 'max' }),
  hands: fc.uniqueArray(handArbitrary, { maxLength: 2, selector: (hand) => hand.channel }),
  maxConcurrent: fc.constantFrom(undefined, 3),
  keyCount: fc.constantFrom(1, 2, 3, 20),
  wholeShare: fc.constantFrom(0, 0.5),
  nodeCount: fc.constantFrom(1, 2),
  check: fc.constantFrom('request' as const, 'none' as const),
})
type RandomWorld = typeof worldArbitrary extends fc.Arbitrary<infer Value> ? Value : never

function scriptOf(world: RandomWorld, channel: number): Script {
  const calm: Behaviour = { errorRate: 0.01, latencyFactor: 1 }
  const own = world.faults.filter((one) => one.channel === channel)
  return (at) => {
    const minute = at / minuteMs
    const active = own.filter(
      ({ fromMinute, minutes }) => minute >= fromMinute && minute < fromMinute + minutes,
    )
    return Object.assign({}, calm, ...active.map(({ fault }) => fault)) as Behaviour
  }
}

function movesOf({ hands }: RandomWorld): readonly HandMove[] {
  return hands.flatMap(({ channel, fromMinute, minutes }): HandMove[] => {
    const at = fromMinute * minuteMs
    const off = { at, channel: names[channel] ?? '', override: 'disabled' } as const
    if (minutes === undefined) return [off]
    return [off, { ...off, at: at + minutes * minuteMs, override: 'enabled' }]
  })
}

function open(world: RandomWorld): World {
  const channels = names.map((name, index): ChannelPlan => ({
    name,
    rank: ranks[index] ?? 0,
    script: scriptOf(world, index),
    change: {
      ...(index === 0 ? { maxConcurrent: world.maxConcurrent } : {}),
      ...(index === 1 ? { check: world.check } : {}),
    },
  }))
  return new World({
    channels,
    requestsPerSecond: 1,
    keyCount: world.keyCount,
    wholeShare: world.wholeShare,
    durationMs: worldMinutes * minuteMs,
    seed: world.seed,
    nodeCount: world.nodeCount,
    hand: movesOf(world),
  })
}

function watchTraffic(world: World): void {
  world.onAttempt = (channel, { tried, hasBegun }, node) => {
    assert.equal(channel.override, 'enabled', 'R2: a disabled channel never gets traffic')
    assert.ok(!hasBegun, 'R3: what has begun to answer is never tried elsewhere')
    assert.ok(!tried.has(channel.name), 'R4: the channels of an exchange are distinct')
    assert.ok(tried.size < 3, 'R4: at most three attempts')
    if (tried.size === 0) assertNoBetter(world, channel, node)
  }
  world.onProbe = (channel) => {
    assert.equal(channel.override, 'enabled', 'R2: a disabled channel is not asked either')
  }
}

function assertNoBetter(world: World, chosen: Channel, node: number): void {
  const book = world.books[node]
  assert.ok(book !== undefined)
  for (const other of world.snapshot.channels.values()) {
    if (other.rank >= chosen.rank) continue
    const isFull: boolean =
      other.maxConcurrent !== undefined && book.running(other.name) >= other.maxConcurrent
    assert.ok(
      isFull || book.grade(other, 'm') !== 'on',
      'R5: a reserve serves only what no channel before it does',
    )
  }
}

/** Each minute near the end: which channels were in full use, by node. */
function watchReturn(world: World): Set<string> {
  const seen = new Set<string>()
  for (let minute = worldMinutes - 15; minute < worldMinutes; minute++)
    world.clock.at(minute * minuteMs, () => {
      for (const [node, book] of world.books.entries())
        for (const channel of world.snapshot.channels.values())
          if (book.grade(channel, 'm') === 'on') seen.add(`${channel.name} at ${node}`)
    })
  return seen
}

function assertCalm({ changes }: WorldRecord, world: World): void {
  for (const name of names)
    for (const node of world.books.keys()) {
      const own = changes.filter((change) => change.channel === name && change.node === node)
      for (const { at } of own) {
        const hour = own.filter((one) => one.at >= at && one.at < at + 60 * minuteMs)
        assert.ok(hour.length <= 60, `R8: ${hour.length} changes within an hour`)
      }
    }
}

/**
 * Nothing goes from off to on at once but by a probe that refuted a refusal, or by an operator who has
 * switched the channel on at that moment.
 */
function assertRefusalsProven({ changes }: WorldRecord, moves: readonly HandMove[]): void {
  for (const [index, { at, channel, node, from, to, why }] of changes.entries()) {
    if (to !== 'on' || from !== 'off') continue
    const isByHand = moves.some(
      (move) => move.at === at && move.channel === channel && move.override === 'enabled',
    )
    const reason = isByHand ? 'operator' : 'refusal_not_confirmed'
    assert.equal(why, reason, `R11: ${channel} at ${node}, change ${index}`)
  }
}

/** An operator switches a refused channel off and on: seed 2016003051 found it. */
const switchedDuringRefusal: RandomWorld = {
  seed: 507_053,
  faults: [{ channel: 3, fromMinute: 21, minutes: 12, fault: { isRefusing: true } }],
  hands: [{ channel: 3, fromMinute: 29, minutes: 2 }],
  maxConcurrent: 3,
  keyCount: 3,
  wholeShare: 0,
  nodeCount: 2,
  check: 'request',
}

describe('a whole world, whatever goes wrong in it', () => {
  test('R2, R3, R4, R5, R7, R8, R9, R10, R11 hold', () => {
    fc.assert(
      fc.property(worldArbitrary, fc.boolean(), (world, jumps) => {
        const opened = open(world)
        watchTraffic(opened)
        const returned = watchReturn(opened)
        if (jumps) {
          opened.clock.at(20 * minuteMs, () => opened.clock.jumpWallTime(3_600_000))
          opened.clock.at(50 * minuteMs, () => opened.clock.jumpWallTime(-7_200_000))
        }
        const record = opened.run()
        if (world.maxConcurrent === undefined) assert.equal(record.refusedExchanges, 0)
        assertCalm(record, opened)
        assertRefusalsProven(record, movesOf(world))
        for (const channel of opened.snapshot.channels.values())
          for (const node of opened.books.keys())
            if (channel.override === 'enabled')
              assert.ok(
                returned.has(`${channel.name} at ${node}`),
                `R7: ${channel.name} at ${node} never was in full use again`,
              )
        const again = open(world).run()
        assert.deepEqual(again.changes, record.changes, 'R9, R10: neither luck nor wall time')
      }),
      { numRuns: volume({ few: 15, all: 40 }), examples: [[switchedDuringRefusal, false]] },
    )
  })

  test('R12: one key of several switches nothing off while other keys succeed', () => {
    const arbitrary = fc.record({
      seed: fc.nat(1_000_000),
      keyCount: fc.integer({ min: 2, max: 5 }),
      requestsPerSecond: fc.constantFrom(0.5, 2, 10),
      isPoisonedEverywhere: fc.boolean(),
    })
    fc.assert(
      fc.property(arbitrary, ({ seed, keyCount, requestsPerSecond, isPoisonedEverywhere }) => {
        // Every key succeeds first: the rule protects a channel only while another key has success.
        const failing = during(
          { from: minuteMs, to: Infinity },
          { errorRate: 0, failingKeys: new Set(['key-0']) },
          { errorRate: 0 },
        )
        const world = new World({
          channels: [
            { name: 'main', rank: 0, script: failing },
            { name: 'reserve', rank: 1, script: isPoisonedEverywhere ? failing : steady() },
          ],
          requestsPerSecond,
          keyCount,
          durationMs: 60 * minuteMs,
          seed,
        })
        const offs = world
          .run()
          .changes.filter(({ channel, to }) => channel === 'main' && to === 'off')
        assert.deepEqual(offs, [])
      }),
      { numRuns: volume({ few: 10, all: 25 }) },
    )
  })
})
