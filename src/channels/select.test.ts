/**
 * Selection as a pure function: examples for the order, properties that must hold for any
 * catalogue and any health.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { makeChannel, makeSnapshot } from '../../test/support/snapshots.ts'
import type { Channel } from './channel.ts'
import { noEvidence } from './health/evidence.ts'
import { freshState, type HealthState, type Off, type Trial } from './health/health-state.ts'
import { step } from './health/rules.ts'
import { freshLatency } from './health/latency.ts'
import { selectChannel, type SelectOptions } from './select.ts'

interface Situation {
  readonly states?: Readonly<Record<string, HealthState>>
  readonly running?: Readonly<Record<string, number>>
  readonly tried?: readonly string[]
  readonly conversation?: string
  readonly now?: number
  /** Channels whose tokens are spent. */
  readonly empty?: readonly string[]
  readonly draw?: number
  readonly pinnedTo?: string
  readonly preferred?: string
}

function choose(channels: readonly Channel[], situation: Situation = {}): string | undefined {
  const options: SelectOptions = {
    facts: {
      state: (name) => situation.states?.[name] ?? freshState,
      running: (name) => situation.running?.[name] ?? 0,
      mayFailOverInto: (name) => situation.empty?.includes(name) !== true,
      hasSpentOwn: (name) => situation.empty?.includes(name) === true,
      draw: () => situation.draw ?? 0.5,
    },
    accountId: 'acc_1',
    conversation: situation.conversation ?? 'session',
    tried: situation.tried ?? [],
    now: situation.now ?? 0,
    pinnedTo: situation.pinnedTo,
    preferred: situation.preferred,
  }
  return selectChannel(makeSnapshot(channels), 'm', options)?.name
}

const unused = { form: 'stream', downSince: 1_000, tryingUntil: 0, probeAt: undefined } as const

function off(lastOkAt?: number): HealthState {
  return { ...refused, cause: 'run', lastOkAt }
}
const refused: Off = {
  ...freshState,
  ...unused,
  mode: 'off',
  cause: 'config',
  backOffUntil: 1_000,
  isConfirming: false,
}
const resting: HealthState = { ...freshState, restUntil: 1_000 }
/** Without probes one exchange at a time decides. */
const onTrial: Trial = {
  ...freshState,
  ...unused,
  mode: 'trial',
  cause: 'run',
  check: 'none',
  probeAt: 0,
  passed: 0,
}
const tryingNow: HealthState = { ...onTrial, tryingUntil: 1_000 }
const probedTrial: HealthState = { ...onTrial, check: 'request' }
const ramping: HealthState = { ...freshState, mode: 'ramp', since: -60_000 }
const slow: HealthState = { ...freshState, latency: { ...freshLatency, slowSince: 0 } }
const failure = { keyId: 'a', accountId: 'a', isBroken: false, beganAt: 0, isCounted: true }
const doubted: HealthState = {
  ...freshState,
  evidence: { stream: { ...noEvidence, failures: [failure] }, whole: noEvidence },
  burst: { form: 'stream', endsAt: 1_000, failed: 0 },
}

const main = makeChannel('main')
const reserve = makeChannel('reserve', { rank: 1 })

test('selects the lowest rank, whatever the weights', () => {
  assert.equal(choose([makeChannel('heavy', { rank: 1, weight: 100 }), main]), 'main')
})

test('selects a reserve when the main route is off, resting, tried, full or on a busy trial', () => {
  const both = [main, reserve]
  assert.equal(choose(both, { states: { main: off() } }), 'reserve')
  assert.equal(choose(both, { states: { main: resting } }), 'reserve')
  assert.equal(choose(both, { tried: ['main'] }), 'reserve')
  assert.equal(choose(both, { states: { main: tryingNow } }), 'reserve')
  const capped = makeChannel('main', { maxConcurrent: 2 })
  assert.equal(choose([capped, reserve], { running: { main: 2 } }), 'reserve')
  assert.equal(choose([capped, reserve], { running: { main: 1 } }), 'main')
})

test('a channel on trial gets the next exchange of its rank, and none beside it', () => {
  const channels = [makeChannel('a'), makeChannel('b'), makeChannel('c')]
  for (let account = 0; account < 20; account++)
    assert.equal(
      choose(channels, { conversation: `session-${account}`, states: { b: onTrial } }),
      'b',
    )
  assert.equal(choose([main, makeChannel('r', { rank: 1 })], { states: { r: onTrial } }), 'main')
})

test('a channel on trial by probes gets no traffic while another can serve', () => {
  assert.equal(choose([main, reserve], { states: { main: probedTrial } }), 'reserve')
  assert.equal(choose([main], { states: { main: probedTrial } }), 'main')
})

test('a returning channel takes its share of the exchanges, a slow one a twentieth', () => {
  const both = [main, reserve]
  assert.equal(choose(both, { states: { main: ramping }, draw: 0.54 }), 'main')
  assert.equal(choose(both, { states: { main: ramping }, draw: 0.56 }), 'reserve')
  assert.equal(choose(both, { states: { main: slow }, draw: 0.049 }), 'main')
  assert.equal(choose(both, { states: { main: slow }, draw: 0.051 }), 'reserve')
})

test('a slow or returning channel serves all when nothing else can, slow or not', () => {
  assert.equal(choose([main], { states: { main: slow }, draw: 0.9 }), 'main')
  assert.equal(
    choose([main, reserve], { states: { main: slow, reserve: off() }, draw: 0.9 }),
    'main',
  )
  assert.equal(
    choose([main, reserve], { states: { main: slow, reserve: slow }, draw: 0.9 }),
    'main',
  )
  const states = { main: slow, reserve: ramping }
  assert.equal(choose([main, reserve], { states, tried: ['main'], draw: 0.9 }), 'reserve')
})

test('a channel in doubt waits for its probes while another serves', () => {
  assert.equal(choose([main, reserve], { states: { main: doubted } }), 'reserve')
  assert.equal(choose([main, reserve], { states: { main: doubted, reserve: off() } }), 'main')
})

test('a failed exchange does not move into a channel that has spent its tokens, a fresh one does', () => {
  const both = [main, reserve]
  assert.equal(choose(both, { tried: ['main'], empty: ['reserve'] }), undefined)
  assert.equal(choose(both, { states: { main: off() }, empty: ['reserve'] }), 'reserve')
})

test('one exchange at a time tries a failed channel; the first attempt is never refused', () => {
  const tryingOff = { ...off(900), tryingUntil: 1_000 }
  assert.equal(choose([main, reserve], { states: { main: tryingOff, reserve: off(1) } }), 'reserve')
  assert.equal(choose([main], { states: { main: tryingOff } }), 'main')
  assert.equal(
    choose([main, reserve], { states: { main: tryingOff }, tried: ['reserve'] }),
    undefined,
  )
})

test('tries the least bad channel when none is usable: failed before resting, refusing ones only at first', () => {
  const channels = [makeChannel('a'), makeChannel('b'), makeChannel('c')]
  const states = { a: refused, b: resting, c: off() }
  assert.equal(choose(channels, { states }), 'c')
  assert.equal(choose(channels, { states, tried: ['c'] }), 'b')
  assert.equal(choose(channels, { states, tried: ['c', 'b'] }), undefined)
  assert.equal(choose(channels.slice(0, 1), { states }), 'a')
})

test('among failed channels the one that worked last is tried, then the lower rank', () => {
  const channels = [makeChannel('a', { rank: 2 }), makeChannel('b', { rank: 1 }), makeChannel('c')]
  assert.equal(choose(channels, { states: { a: off(500), b: off(400), c: off() } }), 'a')
  assert.equal(choose(channels, { states: { a: off(400), b: off(500), c: off(300) } }), 'b')
  assert.equal(choose(channels, { states: { a: off(), b: off(), c: off() } }), 'c')
})

test('among resting channels the one whose rest ends first is tried', () => {
  const later = { ...resting, restUntil: 2_000 }
  assert.equal(choose([main, reserve], { states: { main: later, reserve: resting } }), 'reserve')
})

test('a model without channels has no channel', () => {
  assert.equal(choose([]), undefined)
})

const channelArbitrary = fc.record({
  rank: fc.nat(2),
  weight: fc.integer({ min: 1, max: 10 }),
  override: fc.constantFrom('enabled' as const, 'disabled' as const),
  maxConcurrent: fc.constantFrom(undefined, 1, 2),
  running: fc.nat(3),
  isTried: fc.boolean(),
  state: fc.constantFrom(freshState, off(), off(7), refused, resting, onTrial, tryingNow),
})

test('property: what is chosen is enabled, untried, below its cap, and only nothing is chosen when nothing may be', () => {
  fc.assert(
    fc.property(
      fc.array(channelArbitrary, { maxLength: 6 }),
      fc.string(),
      (specimens, conversation) => {
        const channels = specimens.map(({ rank, weight, override, maxConcurrent }, index) =>
          makeChannel(`c${index}`, { rank, weight, override, maxConcurrent }),
        )
        const byName = <Value>(pick: (specimen: (typeof specimens)[number]) => Value) =>
          Object.fromEntries(specimens.map((specimen, index) => [`c${index}`, pick(specimen)]))
        const tried = specimens.flatMap(({ isTried }, index) => (isTried ? [`c${index}`] : []))
        const chosen = choose(channels, {
          conversation,
          tried,
          states: byName((specimen) => specimen.state),
          running: byName((specimen) => specimen.running),
        })
        const mayBe = specimens.map(
          (one) =>
            one.override === 'enabled' &&
            !one.isTried &&
            (one.maxConcurrent === undefined || one.running < one.maxConcurrent),
        )
        if (chosen === undefined) assert.ok(tried.length > 0 || !mayBe.includes(true))
        else {
          const index = Number(chosen.slice(1))
          assert.ok(mayBe[index])
          const isUsable = (position: number): boolean => {
            const state = specimens[position]?.state
            return mayBe[position] === true && (state === freshState || state === onTrial)
          }
          const usableRanks = specimens.flatMap((one, position) =>
            isUsable(position) ? [one.rank] : [],
          )
          if (usableRanks.length > 0) {
            assert.ok(isUsable(index), 'a usable channel comes before every other')
            assert.equal(specimens[index]?.rank, Math.min(...usableRanks))
          }
        }
      },
    ),
  )
})

test('property: a conversation stays where it is unless its own channel goes or the new one wins it', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 10 }), { minLength: 2, maxLength: 6 }),
      fc.string(),
      fc.nat(),
      (weights, conversation, removal) => {
        const channels = weights.map((weight, index) => makeChannel(`c${index}`, { weight }))
        const before = choose(channels, { conversation })
        const removed = `c${removal % weights.length}`
        const fewer = channels.filter((one) => one.name !== removed)
        const after = choose(fewer, { conversation })
        if (before === removed) assert.notEqual(after, removed)
        else assert.equal(after, before)
        const more = choose([...channels, makeChannel('new')], { conversation })
        assert.ok(more === before || more === 'new')
      },
    ),
  )
})

test('in the long run each channel of a rank gets conversations in proportion to its weight', () => {
  const channels = [
    makeChannel('one', { weight: 1 }),
    makeChannel('three', { weight: 3 }),
    makeChannel('six', { weight: 6 }),
  ]
  const sessionCount = 20_000
  const counts: Record<string, number> = {}
  for (let index = 0; index < sessionCount; index++) {
    const name = choose(channels, { conversation: `session-${index}` }) ?? ''
    counts[name] = (counts[name] ?? 0) + 1
  }
  // Five standard deviations of a binomial around the expected share.
  for (const { name, weight } of channels) {
    const share = weight / 10
    const deviation = Math.sqrt(sessionCount * share * (1 - share))
    assert.ok(Math.abs((counts[name] ?? 0) - sessionCount * share) < 5 * deviation, name)
  }
})

test('one conversation spreads its models over the channels of a rank', () => {
  const channels = [makeChannel('a'), makeChannel('b')]
  const names = new Set<string | undefined>()
  const options: SelectOptions = {
    facts: {
      state: () => freshState,
      running: () => 0,
      mayFailOverInto: () => true,
      hasSpentOwn: () => false,
      draw: () => 0.5,
    },
    accountId: 'acc_1',
    conversation: 'session',
    tried: [],
    now: 0,
  }
  for (let index = 0; index < 50; index++) {
    const model = `m${index}`
    const snapshot = { ...makeSnapshot(channels), channelsByModel: new Map([[model, channels]]) }
    names.add(selectChannel(snapshot, model, options)?.name)
  }
  assert.equal(names.size, 2)
})

test('selection follows the states that the health machine makes', () => {
  let state: HealthState = freshState
  const about = { kind: 'ended', form: 'stream' } as const
  for (const id of ['a', 'b', 'c', 'd', 'e']) {
    const caller = { keyId: id, accountId: id }
    const failed = { ...about, outcome: 'hard', caller, beganAt: 0 } as const
    state = step(state, failed, 0, () => 0.5).state
  }
  const choiceAt = (now: number): string | undefined =>
    choose([main, reserve], { states: { main: state }, now, draw: 0.3 })
  assert.equal(choiceAt(1_000), 'reserve')
  for (const now of [31_000, 37_000, 43_000]) {
    state = step(state, { kind: 'wake' }, now, () => 0.5).state
    assert.equal(choiceAt(now), 'reserve')
    const passed = { ...about, outcome: 'ok', caller: undefined, beganAt: now } as const
    state = step(state, passed, now, () => 0.5).state
  }
  assert.equal(choiceAt(44_000), 'reserve')
  assert.equal(choiceAt(90_000), 'main')
})

test('a pinned exchange gets its channel whatever its health, and no other', () => {
  const channels = ['a', 'b', 'c'].map((name) => makeChannel(name, { maxConcurrent: 2 }))
  const states = { b: refused }
  for (const state of [refused, resting, off(), tryingNow, slow])
    assert.equal(choose(channels, { pinnedTo: 'b', states: { b: state } }), 'b')
  assert.equal(choose(channels, { pinnedTo: 'b', states, tried: ['b'] }), undefined)
  assert.equal(choose(channels, { pinnedTo: 'b', running: { b: 2 } }), undefined)
  assert.equal(choose(channels, { pinnedTo: 'gone' }), undefined)
  const disabled = [makeChannel('a'), makeChannel('b', { override: 'disabled' })]
  assert.equal(choose(disabled, { pinnedTo: 'b' }), undefined)
})

test('a preferred channel comes first while it is usable, whatever its rank', () => {
  const channels = [makeChannel('a'), makeChannel('b'), makeChannel('reserve', { rank: 1 })]
  for (const preferred of ['a', 'b', 'reserve'])
    assert.equal(choose(channels, { preferred }), preferred)
  assert.notEqual(choose(channels, { preferred: 'reserve', states: { reserve: off() } }), 'reserve')
  assert.notEqual(choose(channels, { preferred: 'a', tried: ['a'] }), 'a')
  assert.notEqual(choose(channels, { preferred: 'gone' }), undefined)
})
