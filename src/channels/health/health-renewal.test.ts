/** What an operator's change of a channel means for attempts under way, and for what it waits for. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { makeChannel, makeSnapshot } from '../../../test/support/snapshots.ts'
import { seededRandom } from '../../base/random.ts'
import { Secret } from '../../base/secret.ts'
import type { Channel, Snapshot } from '../channel.ts'
import { HealthBook } from './health-book.ts'
import type { Outcome } from './health-event.ts'
import type { OpenAttempt } from './health-place.ts'
import { selectChannel } from '../select.ts'

const stream = { traits: { isStream: true, inputTokens: 100 } }
const keys = ['a', 'b', 'c', 'd', 'e']

function channel(change: Partial<Channel> = {}): Channel {
  return makeChannel('main', change)
}

function snapshotOf(...channels: Channel[]): Snapshot {
  return makeSnapshot(channels)
}

function open(known: Channel) {
  const clock = new ManualClock()
  const effects: string[] = []
  const book = new HealthBook({
    checkIntervalMs: 600_000,
    failoverTokensMax: 100,
    clock,
    random: seededRandom(1),
    onEffect: ({ kind }) => effects.push(kind),
  })
  book.follow(undefined, snapshotOf(known))
  return { clock, effects, book }
}

function begin(book: HealthBook, to: Channel): readonly OpenAttempt[] {
  return keys.map(() => book.begin(to, 'm', stream))
}

function end(book: HealthBook, attempts: readonly OpenAttempt[], outcome: Outcome): void {
  for (const [index, attempt] of attempts.entries()) {
    const keyId = keys[index % keys.length] ?? ''
    book.end(attempt, { outcome, caller: { keyId, accountId: keyId } })
  }
}

/** What an operator may do so that the past is over: each as the catalogues before and after it. */
const renewals: Readonly<Record<string, readonly Channel[]>> = {
  'another address': [channel(), channel({ url: 'https://other.example' })],
  'another credential': [channel(), channel({ credential: new Secret('other') })],
  'off and on by hand': [channel(), channel({ override: 'disabled' }), channel()],
  'taken out and put back': [channel()],
}

/** Plays a renewal and gives the channel as it is then. */
function renew(book: HealthBook, [first = channel(), ...changes]: readonly Channel[]): Channel {
  let before = snapshotOf(first)
  const nexts = changes.length > 0 ? changes.map((one) => snapshotOf(one)) : [snapshotOf(), before]
  for (const next of nexts) {
    book.follow(before, next)
    before = next
  }
  return changes.at(-1) ?? first
}

for (const [what, steps] of Object.entries(renewals)) {
  test(`attempts begun before ${what} say nothing about the channel as it is now`, () => {
    for (const outcome of ['hard', 'config', 'model_missing', 'throttle'] as const) {
      const { book, effects } = open(channel())
      const before = begin(book, channel())
      const renewed = renew(book, steps)
      end(book, before, outcome)
      assert.equal(book.grade(renewed, 'm'), 'on', outcome)
      assert.deepEqual(effects, [], outcome)
      assert.deepEqual(book.find({ channel: 'main', model: 'm' })?.failures, [])
    }
  })

  test(`attempts begun before ${what} count toward the cap until they end, and once`, () => {
    const { book } = open(channel())
    const before = begin(book, channel())
    const renewed = renew(book, steps)
    assert.equal(book.running('main'), 5)
    const after = begin(book, renewed)
    assert.equal(book.running('main'), 10)
    end(book, before, 'ok')
    assert.equal(book.running('main'), 5)
    end(book, after, 'ok')
    assert.equal(book.running('main'), 0)
  })
}

test('a change of the credential in the middle of streams lets no more through than the cap', () => {
  const before = channel({ maxConcurrent: 3 })
  const after = channel({ maxConcurrent: 3, credential: new Secret('other') })
  const { book, clock } = open(before)
  const streams = [1, 2, 3].map(() => book.begin(before, 'm', stream))
  book.follow(snapshotOf(before), snapshotOf(after))
  const select = (): Channel | undefined =>
    selectChannel(snapshotOf(after), 'm', {
      facts: book,
      accountId: 'a',
      conversation: 'a',
      tried: [],
      now: clock.monotonic(),
    })
  assert.equal(select(), undefined)
  end(book, streams.slice(0, 1), 'ok')
  assert.equal(select(), after)
})

test('what an exchange still sends to the address it began with is not blamed on the new one', () => {
  const before = channel()
  const after = channel({ url: 'https://other.example' })
  const { book, effects } = open(before)
  book.follow(snapshotOf(before), snapshotOf(after))
  end(book, begin(book, before), 'hard')
  assert.equal(book.grade(after, 'm'), 'on')
  assert.deepEqual(effects, [])
  assert.equal(book.running('main'), 0)
  end(book, begin(book, after), 'hard')
  assert.equal(book.grade(after, 'm'), 'off')
})

test('old failures take no trust from the renewed channel, and old answers are no measure of it', () => {
  const before = channel()
  const after = channel({ url: 'https://other.example' })
  const { book, clock } = open(before)
  const failing = Array.from({ length: 20 }, () => begin(book, before)).flat()
  const slow = book.begin(before, 'm', stream)
  book.follow(snapshotOf(before), snapshotOf(after))
  end(book, failing, 'hard')
  assert.equal(book.mayFailOverInto('main', 'a'), true)
  clock.advance(30_000)
  book.answered(slow)
  end(book, [slow], 'broken')
  assert.equal(book.find({ channel: 'main', model: 'm' })?.firstEventMs, undefined)
})

test('a failure of before that is taken back takes none back that came since', () => {
  const before = channel()
  const after = channel({ url: 'https://other.example' })
  const { book } = open(before)
  const old = book.begin(before, 'm', stream)
  end(book, [old], 'hard')
  book.follow(snapshotOf(before), snapshotOf(after))
  end(book, [book.begin(after, 'm', stream)], 'hard')
  book.retract(old, 'a')
  assert.equal(book.state('main', 'm').evidence.stream.failures.length, 1)
})

test('a channel that is on trial and may be checked from now on comes back by its checks', () => {
  const unprobed = channel({ check: 'none' })
  const { book, clock, effects } = open(unprobed)
  end(book, begin(book, unprobed), 'hard')
  clock.advance(60_000)
  book.wake()
  assert.equal(book.state('main', 'm').mode, 'trial')
  const probed = channel({ check: 'request' })
  book.follow(snapshotOf(unprobed), snapshotOf(probed))
  effects.length = 0
  for (let passed = 0; passed < 20 && book.grade(probed, 'm') === 'off'; passed++) {
    assert.ok(book.nextWakeAt() <= clock.monotonic() + 10_000)
    clock.advance(1_000)
    book.wake()
    if (effects.pop() !== 'probe') continue
    const check = book.begin(probed, 'm', { isProbe: true, form: 'stream' })
    book.end(check, { outcome: 'ok', caller: undefined })
  }
  assert.equal(book.grade(probed, 'm'), 'ramp')
})
