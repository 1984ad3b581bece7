/** The shell around the reducer, with a clock moved by hand and the channels of a small snapshot. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { makeChannel, makeSnapshot } from '../../../test/support/snapshots.ts'
import { seededRandom } from '../../base/random.ts'
import { Secret } from '../../base/secret.ts'
import type { Channel, Snapshot } from '../channel.ts'
import type { SavedHealth } from './health-store.ts'
import { HealthBook } from './health-book.ts'
import type { PlacedEffect } from './health-event.ts'
import type { Outcome } from './health-event.ts'
import type { Caller } from './evidence.ts'
import { selectChannel } from '../select.ts'

const twoModels = new Map([
  ['m', undefined],
  ['n', undefined],
])

function channel(name: string, change: Partial<Channel> = {}): Channel {
  return makeChannel(name, { models: twoModels, ...change })
}

function snapshotOf(...channels: Channel[]): Snapshot {
  return makeSnapshot(channels)
}

function callerOf(keyId: string | undefined): Caller | undefined {
  return keyId === undefined ? undefined : { keyId, accountId: keyId }
}

function open() {
  const clock = new ManualClock()
  const noted: string[] = []
  const onEffect = (effect: PlacedEffect, place: { channel: string; model: string }): void => {
    const detail =
      effect.kind === 'changed'
        ? ` ${effect.to}`
        : effect.kind === 'probe'
          ? ` ${effect.count}`
          : ''
    noted.push(`${place.channel}/${place.model} ${effect.kind}${detail}`)
  }
  const book = new HealthBook({
    clock,
    random: seededRandom(1),
    onEffect,
    checkIntervalMs: 600_000,
    failoverTokensMax: 100,
  })
  const attempt = (to: Channel, outcome: Outcome, keyId?: string, model = 'm'): void => {
    book.end(book.begin(to, model, { isProbe: keyId === undefined, form: 'stream' }), {
      outcome,
      caller: callerOf(keyId),
    })
  }
  const fail = (to: Channel): void => {
    for (const keyId of ['a', 'b', 'c', 'd', 'e']) attempt(to, 'hard', keyId)
  }
  return { clock, noted, book, attempt, fail }
}

/** Lets time pass, waking every second, and answers every probe that is asked for. */
function passTime(
  opened: ReturnType<typeof open>,
  durationMs: number,
  answer: (book: HealthBook) => void,
): void {
  for (let elapsed = 0; elapsed < durationMs; elapsed += 1_000) {
    opened.clock.advance(1_000)
    const before = opened.noted.length
    opened.book.wake()
    if (opened.noted.slice(before).some((line) => line.includes('probe'))) answer(opened.book)
  }
}

const main = channel('main')

test('counts the attempts that run on a channel, over all its models', () => {
  const { book } = open()
  const one = book.begin(main, 'm')
  const other = book.begin(main, 'n')
  assert.equal(book.running('main'), 2)
  book.end(one, { outcome: 'ok', caller: callerOf('a') })
  book.end(other, { outcome: 'client', caller: callerOf('a') })
  assert.equal(book.running('main'), 0)
})

test('checks take no client’s room, and count apart from what clients have running', () => {
  const { book, clock } = open()
  const capped = channel('main', { maxConcurrent: 2 })
  book.follow(undefined, snapshotOf(capped))
  const select = (): Channel | undefined =>
    selectChannel(snapshotOf(capped), 'm', {
      facts: book,
      accountId: 'a',
      conversation: 'a',
      tried: [],
      now: clock.monotonic(),
    })
  const checks = ['m', 'n'].map((model) => book.begin(capped, model, { isProbe: true }))
  assert.deepEqual([book.running('main'), book.probing('main')], [0, 2])
  assert.equal(select(), capped)
  const clients = ['m', 'n'].map((model) => book.begin(capped, model))
  assert.equal(select(), undefined)
  // What an operator is shown is all that the vendor sees.
  assert.equal(book.find({ channel: 'main', model: 'm' })?.running, 4)
  for (const one of checks) book.end(one, { outcome: 'ok', caller: undefined })
  assert.deepEqual([book.running('main'), book.probing('main')], [2, 0])
  for (const one of clients) book.end(one, { outcome: 'ok', caller: callerOf('a') })
  assert.deepEqual([book.running('main'), book.probing('main')], [0, 0])
})

test('a check is sent while there is room beside clients, and one at a time where there is none', () => {
  const { book } = open()
  const capped = channel('main', { maxConcurrent: 2 })
  book.follow(undefined, snapshotOf(capped, channel('free')))
  const probe = (): void => void book.begin(capped, 'm', { isProbe: true })
  probe()
  assert.equal(book.mayProbe('main'), true)
  probe()
  assert.equal(book.mayProbe('main'), false)
  const full = open().book
  full.follow(undefined, snapshotOf(capped))
  for (let index = 0; index < 3; index++) full.begin(capped, 'm')
  assert.equal(full.mayProbe('main'), true)
  full.begin(capped, 'n', { isProbe: true })
  assert.equal(full.mayProbe('main'), false)
  for (let index = 0; index < 9; index++) book.begin(channel('free'), 'm', { isProbe: true })
  assert.equal(book.mayProbe('free'), true)
})

test('a reserve has the share that the main route leaves it, and none while that is in full use', () => {
  const { book, clock, fail, attempt } = open()
  const reserve = channel('reserve', { rank: 1 })
  const last = channel('last', { rank: 2, override: 'disabled' })
  const snapshot = snapshotOf(main, reserve, last)
  book.follow(undefined, snapshot)
  const shares = (): readonly number[] =>
    [...book.list(snapshot)]
      .filter(({ model }) => model === 'm')
      .map(({ share }) => Math.round(share * 1_000) / 1_000)
  assert.deepEqual(shares(), [1, 0, 0])
  fail(main)
  assert.deepEqual(shares(), [0, 1, 0])
  clock.advance(40_000)
  for (let pass = 0; pass < 3; pass++) {
    book.wake()
    attempt(main, 'ok')
    clock.advance(5_000)
  }
  clock.advance(55_000)
  assert.equal(book.grade(main, 'm'), 'ramp')
  assert.deepEqual(shares(), [0.55, 0.45, 0])
  clock.advance(60_000)
  assert.deepEqual(shares(), [1, 0, 0])
  // While the vendor has set a pause the reserve has all of it.
  attempt(main, 'throttle', 'a')
  assert.deepEqual(shares(), [0, 1, 0])
})

test('one model going off leaves the others on', () => {
  const { book, fail } = open()
  fail(main)
  assert.equal(book.grade(main, 'm'), 'off')
  assert.equal(book.grade(main, 'n'), 'on')
})

test("a refused credential is true of all the channel's models, and is reported once", () => {
  const { book, attempt, noted } = open()
  attempt(main, 'config', 'a')
  assert.equal(book.grade(main, 'm'), 'off')
  assert.equal(book.grade(main, 'n'), 'off')
  assert.deepEqual(noted, [
    'main/m changed off',
    'main/m alert',
    'main/m probe 1',
    'main/n changed off',
  ])
})

test('a refusal that its probe refutes leaves no model of the channel off', () => {
  const { book, attempt, noted } = open()
  attempt(main, 'config', 'a')
  assert.deepEqual([book.grade(main, 'm'), book.grade(main, 'n')], ['off', 'off'])
  attempt(main, 'ok')
  assert.deepEqual([book.grade(main, 'm'), book.grade(main, 'n')], ['on', 'on'])
  // The next one of its kind waits for its probe, whichever model it is for.
  const count = noted.length
  attempt(main, 'config', 'a', 'n')
  assert.deepEqual([book.grade(main, 'm'), book.grade(main, 'n')], ['on', 'on'])
  assert.ok(noted.slice(count).every((line) => line.endsWith('probe 1')))
})

test('while a credential is refused one model asks for all of the channel’s', () => {
  const opened = open()
  const { book, attempt, noted } = opened
  attempt(main, 'config', 'a')
  attempt(main, 'config')
  const count = noted.length
  passTime(opened, 1_800_000, () => attempt(main, 'config'))
  assert.deepEqual([book.grade(main, 'm'), book.grade(main, 'n')], ['off', 'off'])
  const later = noted.slice(count)
  assert.ok(
    later.every((line) => line === 'main/m probe 1'),
    later.join(),
  )
  assert.ok(later.length >= 12 && later.length <= 20, `${later.length} probes in half an hour`)
})

test('a credential that works again for one model puts the others on trial at once', () => {
  const opened = open()
  const { book, attempt } = opened
  attempt(main, 'config', 'a')
  attempt(main, 'config')
  assert.equal(book.state('main', 'n').mode, 'off')
  for (let seconds = 0; seconds < 200 && book.grade(main, 'm') === 'off'; seconds++)
    passTime(opened, 1_000, () => attempt(main, 'ok'))
  assert.equal(book.grade(main, 'm'), 'ramp')
  assert.equal(book.state('main', 'n').mode, 'trial')
})

test('a missing model is off for that model only', () => {
  const { book, attempt } = open()
  attempt(main, 'model_missing', 'a')
  assert.equal(book.grade(main, 'm'), 'off')
  assert.equal(book.grade(main, 'n'), 'on')
})

test('an outage and its end are reported once for each change, and need no traffic', () => {
  const opened = open()
  const { noted, fail, attempt } = opened
  fail(main)
  passTime(opened, 200_000, () => attempt(main, 'ok'))
  assert.deepEqual(noted, [
    'main/m probe 3',
    'main/m changed off',
    'main/m changed trial',
    'main/m probe 1',
    'main/m probe 1',
    'main/m probe 1',
    'main/m changed ramp',
    'main/m changed on',
  ])
})

test('a stream that began to answer before an outage says nothing about it by its end', () => {
  for (const hasAnswered of [true, false]) {
    const { book, attempt, clock } = open()
    const stream = book.begin(main, 'm', { traits: { isStream: true, inputTokens: 100 } })
    if (hasAnswered) book.answered(stream)
    clock.advance(1_000)
    for (const keyId of ['a', 'b', 'c', 'd']) attempt(main, 'hard', keyId)
    book.end(stream, { outcome: 'ok', caller: callerOf('z') })
    attempt(main, 'hard', 'e')
    // Without an answer before, its beginning came with its end: after the failures.
    assert.equal(book.grade(main, 'm') === 'off', hasAnswered)
  }
})

test('a model that fails outright makes the busy models of its channel worth probing', () => {
  const { noted, fail, attempt } = open()
  attempt(main, 'ok', 'a', 'n')
  fail(main)
  assert.equal(noted.at(-1), 'main/n probe 3')
})

test('a channel that nothing proves is checked within each interval, a proven one is not', () => {
  const opened = open()
  const { book, noted, attempt } = opened
  book.follow(undefined, snapshotOf(main))
  passTime(opened, 601_000, () => attempt(main, 'ok'))
  assert.deepEqual(noted, ['main/m probe 1'])
  for (let minute = 0; minute < 60; minute++) {
    attempt(main, 'ok', 'a')
    passTime(opened, 60_000, () => {})
  }
  assert.equal(noted.length, 1)
  passTime(opened, 601_000, () => {})
  assert.ok(noted.length >= 2)
})

test('checks that cost nothing go on beside traffic; a channel that must not be checked is not', () => {
  const free = open()
  const listing = channel('main', { check: 'models' })
  free.book.follow(undefined, snapshotOf(listing, channel('mute', { check: 'none' })))
  for (let minute = 0; minute < 60; minute++) {
    free.attempt(listing, 'ok', 'a')
    passTime(free, 60_000, () => {})
  }
  assert.ok(free.noted.length >= 6)
  assert.ok(free.noted.every((line) => line.startsWith('main/')))
})

test('slow traffic moves to a channel that probes show to be better', () => {
  const opened = open()
  const { book, clock, noted, attempt } = opened
  const reserve = channel('reserve', { rank: 1 })
  book.follow(undefined, snapshotOf(main, reserve))
  const stream = { traits: { isStream: true, inputTokens: 10 } }
  const serve = (firstEventMs: number): void => {
    const one = book.begin(main, 'm', stream)
    clock.advance(firstEventMs)
    book.answered(one)
    book.end(one, { outcome: 'ok', caller: callerOf('a') })
  }
  for (let index = 0; index < 320; index++) serve(800)
  for (let index = 0; index < 20; index++) serve(4_000)
  assert.ok(noted.includes('reserve/m probe 8'))
  for (let index = 0; index < 8; index++) {
    const probe = book.begin(reserve, 'm', { isProbe: true })
    clock.advance(500)
    book.answered(probe)
    book.end(probe, { outcome: 'ok', caller: undefined })
  }
  clock.advance(2_000)
  book.wake()
  assert.equal(book.grade(main, 'm'), 'slow')
  attempt(main, 'client', 'a')
})

test('a pinned baseline is what is usual, from the first request on and whatever is learned', () => {
  const pinned = new Map([['m', { p50Ms: 1_000, p95Ms: 2_000 }]])
  const { book, clock } = open()
  const channel = { ...main, baselines: pinned }
  book.follow(undefined, snapshotOf(channel))
  const traits = { isStream: true, inputTokens: 100_000 }
  const serve = (durationMs: number): void => {
    const one = book.begin(channel, 'm', { traits })
    clock.advance(durationMs)
    book.answered(one)
    book.end(one, { outcome: 'ok', caller: callerOf('a') })
  }
  for (let index = 0; index < 300; index++) serve(1_900)
  assert.equal(book.state('main', 'm').latency.suspectedSince, undefined)
  for (let index = 0; index < 40; index++) serve(2_100)
  assert.notEqual(book.state('main', 'm').latency.suspectedSince, undefined)
  const [line] = book.list(snapshotOf(channel))
  assert.deepEqual(line?.usualFirstEventMs?.p50, 1_000)
})

test('what was saved resumes: on stays on with what is usual, everything else is on trial', () => {
  const { book, clock, fail } = open()
  book.follow(undefined, snapshotOf(main))
  for (let index = 0; index < 100; index++) {
    const one = book.begin(main, 'n', { traits: { isStream: true, inputTokens: 10 } })
    clock.advance(700)
    book.answered(one)
    book.end(one, { outcome: 'ok', caller: callerOf('a') })
  }
  fail(main)
  const saved = JSON.parse(JSON.stringify([...book.save()])) as readonly SavedHealth[]
  const next = open()
  next.book.follow(undefined, snapshotOf(main))
  next.book.restore(saved)
  assert.equal(next.book.state('main', 'm').mode, 'trial')
  assert.equal(next.book.state('main', 'n').mode, 'on')
  const usualMs = [...next.book.list(snapshotOf(main))][1]?.usualFirstEventMs?.p50 ?? 0
  assert.ok(Math.abs(usualMs - 700) < 80)
  next.book.wake()
  assert.deepEqual(next.noted, ['main/m changed trial', 'main/m probe 1'])
})

test('a jump of the wall clock moves nothing', () => {
  const { book, clock, fail } = open()
  fail(main)
  clock.jumpWallTime(3_600_000)
  assert.equal(book.grade(main, 'm'), 'off')
  clock.jumpWallTime(-7_200_000)
  clock.advance(40_000)
  book.wake()
  assert.equal(book.state('main', 'm').mode, 'trial')
})

test('the list shows every channel and model with state, since when, why and the next wake-up', () => {
  const { book, clock, fail, attempt } = open()
  const startMs = clock.now()
  const reserve = channel('reserve', { rank: 1, override: 'disabled' })
  const snapshot = snapshotOf(reserve, main)
  book.follow(undefined, snapshot)
  clock.advance(5_000)
  fail(main)
  attempt(main, 'throttle', 'a', 'n')
  book.begin(main, 'n')
  const lines = [...book.list(snapshot)]
  assert.deepEqual(
    lines.map(({ channel, model, mode, isUsable, why }) => [channel, model, mode, isUsable, why]),
    [
      ['main', 'm', 'off', false, 'failures_in_a_row'],
      ['main', 'n', 'on', false, 'start'],
      ['reserve', 'm', 'disabled', false, 'operator'],
      ['reserve', 'n', 'disabled', false, 'operator'],
    ],
  )
  const [off, resting] = lines
  assert.equal(off?.sinceMs, startMs + 5_000)
  assert.ok((off?.wakeAtMs ?? 0) > startMs + 25_000)
  assert.equal(resting?.restUntilMs, startMs + 10_000)
  assert.equal(resting?.sinceMs, startMs)
  assert.equal(resting?.running, 1)
})

test('listing changes nothing: a hold that is over shows as trial and no probe is asked for', () => {
  const { book, clock, noted, fail } = open()
  const snapshot = snapshotOf(main)
  book.follow(undefined, snapshot)
  fail(main)
  clock.advance(40_000)
  noted.length = 0
  const [line] = book.list(snapshot)
  assert.equal(line?.mode, 'trial')
  assert.deepEqual(noted, [])
})

test('the past of a channel ends when it is switched on by hand, gets a new credential, or goes', () => {
  const cases: readonly [Channel, Channel | undefined][] = [
    [channel('main', { override: 'disabled' }), main],
    [main, channel('main', { credential: new Secret('other') })],
    [main, channel('main', { url: 'https://other.example' })],
    [main, undefined],
  ]
  for (const [before, after] of cases) {
    const { book, fail } = open()
    fail(before)
    book.follow(snapshotOf(before), after === undefined ? snapshotOf() : snapshotOf(after))
    assert.equal(book.grade(main, 'm'), 'on')
  }
})

test('a change of weight or of another channel leaves health alone', () => {
  const { book, fail } = open()
  fail(main)
  const next = channel('main', { weight: 5 })
  book.follow(snapshotOf(main), snapshotOf(next, channel('new')))
  assert.equal(book.grade(next, 'm'), 'off')
})

test('an operator who wants to know now ends a hold, whatever the reason, and probes tell', () => {
  for (const outcome of ['hard', 'config', 'model_missing'] as const) {
    const { book, noted, attempt, fail } = open()
    book.follow(undefined, snapshotOf(main))
    if (outcome === 'hard') fail(main)
    else attempt(main, outcome, 'a')
    assert.equal(book.grade(main, 'm'), 'off')
    noted.length = 0
    book.recheck({ channel: 'main', model: 'm' })
    assert.equal(book.find({ channel: 'main', model: 'm' })?.why, 'operator_check')
    book.wake()
    assert.deepEqual(noted, ['main/m changed trial', 'main/m probe 1'])
    // What is in use, or gone, has no hold to end.
    noted.length = 0
    book.recheck({ channel: 'gone', model: 'm' })
    assert.equal(book.find({ channel: 'gone', model: 'm' }), undefined)
    assert.deepEqual(noted, [])
  }
})

test('forgetting that a channel was off is reported like any other change, with the reason', () => {
  const { book, noted, fail } = open()
  book.follow(undefined, snapshotOf(main))
  fail(main)
  noted.length = 0
  const disabled = channel('main', { override: 'disabled' })
  book.follow(snapshotOf(main), snapshotOf(disabled))
  assert.deepEqual(noted, [])
  book.follow(snapshotOf(disabled), snapshotOf(main))
  assert.deepEqual(noted, ['main/m changed on'])
  assert.equal(book.grade(main, 'm'), 'on')
  // Nothing is said of what was on, nor of what is gone.
  const moved = channel('main', { url: 'https://elsewhere.example' })
  book.follow(snapshotOf(main), snapshotOf(moved))
  fail(moved)
  noted.length = 0
  book.follow(snapshotOf(moved), snapshotOf())
  assert.deepEqual(noted, [])
})

test('times of day are reported in whole milliseconds', () => {
  const { clock, book, attempt } = open()
  const main = channel('main')
  book.follow(undefined, snapshotOf(main))
  clock.advance(0.25)
  attempt(main, 'hard', 'a')
  attempt(main, 'ok', 'a')
  clock.advance(0.5)
  const [line] = book.list(snapshotOf(main))
  const times = [line?.sinceMs, line?.lastOkAtMs, line?.failures[0]?.lastAtMs]
  assert.ok(times.every(Number.isInteger), times.join())
})
