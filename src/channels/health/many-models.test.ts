/**
 * A channel with forty models, as the book and the prober bring it back together: the vendor is a
 * script, time is moved by hand, and every check the vendor gets is counted.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { makeChannel, makeSnapshot } from '../../../test/support/snapshots.ts'
import { seededRandom } from '../../base/random.ts'
import { HealthBook } from './health-book.ts'
import { Prober } from '../probes/prober.ts'
import type { Upstream } from '../../http/client/upstream.ts'
import { fieldsOf } from '../../http/wire/fields.ts'

const second = 1_000
const minute = 60 * second
const answerMs = 400
const names = Array.from({ length: 40 }, (_, index) => `m${index}`)

const channel = makeChannel('main', {
  vendor: 'beta',
  models: new Map(names.map((name) => [name, undefined])),
})
const snapshot = makeSnapshot([channel])

const whole = JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: '.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
})

/** Answers every check with the status that holds when it comes in. */
function scripted(clock: ManualClock) {
  const asked: number[] = []
  const vendorSays = { status: 200 }
  const upstream: Upstream = {
    send(_target, _request, receiver) {
      const { status } = vendorSays
      asked.push(clock.monotonic())
      const timer = clock.after(answerMs, () => {
        receiver.onHead({
          status,
          fields: fieldsOf([]),
          isEndAnnounced: true,
          header: () => undefined,
        })
        const body = Buffer.from(status === 200 ? whole : '{}')
        receiver.onBytes(body, 0, body.length)
        receiver.onEnd()
      })
      return { resume() {}, abort: () => timer.cancel() }
    },
  }
  return { asked, vendorSays, upstream }
}

function open() {
  const clock = new ManualClock()
  const faults: unknown[] = []
  const { asked, vendorSays, upstream } = scripted(clock)
  const prober = new Prober({
    clock,
    upstream,
    snapshot: () => snapshot,
    health: () => book,
    onError: (error) => faults.push(error),
  })
  const book = new HealthBook({
    checkIntervalMs: 600_000,
    failoverTokensMax: 100,
    clock,
    random: seededRandom(Number(process.env['SEED'] ?? 1)),
    onEffect(effect, place) {
      if (effect.kind === 'probe') prober.probe(place, effect)
    },
  })
  book.follow(undefined, snapshot)
  async function pass(durationMs: number, isOver = () => false): Promise<number> {
    const startedAt = clock.monotonic()
    while (clock.monotonic() - startedAt < durationMs && !isOver()) {
      clock.advance(250)
      book.wake()
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    assert.deepEqual(faults, [])
    return clock.monotonic() - startedAt
  }
  const grades = (): readonly string[] => names.map((name) => book.grade(channel, name))
  return { clock, book, prober, asked, vendorSays, pass, grades }
}

/** Most within one span of this length. */
function mostWithin(times: readonly number[], spanMs: number): number {
  const counts = times.map((from) => times.filter((at) => at >= from && at < from + spanMs).length)
  return Math.max(0, ...counts)
}

function isBack(grade: string): boolean {
  return grade === 'ramp' || grade === 'on'
}

test('forty models behind a refused credential are back within five minutes of its mending', async () => {
  const { book, asked, vendorSays, pass, grades } = open()
  vendorSays.status = 401
  const refused = book.begin(channel, 'm0')
  book.end(refused, { outcome: 'config', caller: { keyId: 'k', accountId: 'k' } })
  await pass(10 * minute)
  assert.ok(grades().every((grade) => grade === 'off'))
  assert.ok(mostWithin(asked, minute) <= 2, 'one model asks for all')
  vendorSays.status = 200
  const returnedMs = await pass(20 * minute, () => grades().every(isBack))
  assert.ok(returnedMs <= 210 * second, `${returnedMs / second} s until all had a share`)
  const wholeMs = returnedMs + (await pass(3 * minute, () => grades().every((one) => one === 'on')))
  assert.ok(wholeMs <= 315 * second, `${wholeMs / second} s until all had all of it`)
  assert.ok(mostWithin(asked, second) <= 4, `${mostWithin(asked, second)} checks in a second`)
})

test('forty models that failed outright cost few checks while they do, and return together', async () => {
  const { book, asked, vendorSays, pass, grades } = open()
  vendorSays.status = 503
  for (const name of names)
    for (const id of ['a', 'b', 'c', 'd', 'e'])
      book.end(book.begin(channel, name), {
        outcome: 'hard',
        caller: { keyId: id, accountId: id },
      })
  await pass(2 * minute)
  asked.length = 0
  await pass(15 * minute)
  assert.ok(grades().every((grade) => grade === 'off'))
  assert.ok(mostWithin(asked, minute) <= 12, `${mostWithin(asked, minute)} checks in a minute`)
  // Each had its turn: no model's check takes the place of another's.
  assert.ok(asked.length >= 15 * 11, `${asked.length} checks in fifteen minutes`)
  vendorSays.status = 200
  const returnedMs = await pass(20 * minute, () => grades().every(isBack))
  assert.ok(returnedMs <= 180 * second, `${returnedMs / second} s until all had a share`)
  assert.ok(mostWithin(asked, second) <= 4, `${mostWithin(asked, second)} checks in a second`)
})

test('once all is well again a channel of forty models costs its regular checks and no more', async () => {
  const { asked, pass } = open()
  await pass(60 * minute)
  assert.ok(asked.length >= 6 && asked.length <= 8, `${asked.length} checks in an hour`)
})
