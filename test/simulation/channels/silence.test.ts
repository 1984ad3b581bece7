/**
 * Thinkers of 5 s to 5 min beside channels that hang, models that change, and restarts. Goals: no client
 * waits longer than the limits say while another channel is usable; a thinker switches nothing off; what is
 * paid twice without a hang stays within its bound. `SEED=…` repeats one run.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  SilenceWorld,
  type Conduct,
  type SilencePlan,
  type SilenceRecord,
} from './silence-world.ts'

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
/** The gateway looks each second; the world's attempts four times. */
const lookMs = 2 * second
/** While nothing is learned, requests wait for what the first one shows. */
const provingMs = 30 * second

const seeds = process.env['SEED'] === undefined ? [1, 2, 3, 4, 5] : [Number(process.env['SEED'])]
const hang = { from: hour, to: hour + 20 * minute }
const hanging = (at: number): Conduct => ({ hangs: at >= hang.from && at < hang.to })

const thinkers: SilencePlan = {
  seed: 1,
  durationMs: 3 * hour,
  requestsPerSecond: 0.1,
  thinkMs: [5 * second, 300 * second],
  isHeadLate: false,
}

type Run = (plan: SilencePlan) => SilenceRecord

const run: Run = (plan) => new SilenceWorld(plan).run()

/** Moved although the channel worked: the vendor may have billed it. */
function paidTwice({ cuts }: SilenceRecord): SilenceRecord['cuts'] {
  return cuts.filter(({ hangs, isMoved }) => isMoved && !hangs)
}

function assertServed(record: SilenceRecord): void {
  assert.equal(record.failed, 0)
  assert.equal(record.served, record.exchanges)
}

function assertPaidOnce(record: SilenceRecord): void {
  const twice = paidTwice(record)
  for (const channel of ['main', 'reserve']) {
    const own = twice.filter((cut) => cut.channel === channel)
    assert.ok(own.filter(({ answers }) => answers < 50).length <= 1, JSON.stringify(own))
    assert.deepEqual(
      own.filter(({ answers }) => answers >= 50),
      [],
    )
  }
}

const kinds: Readonly<Record<string, Partial<SilencePlan>>> = {
  'that ask for reasoning, with a head at once': { asksReasoning: true },
  'that ask for reasoning, with a head that comes with the output': {
    asksReasoning: true,
    isHeadLate: true,
  },
  'of a model that thinks, with a head at once': { model: { thinks: true } },
  'of a model that thinks, with a late head': { model: { thinks: true }, isHeadLate: true },
  'without any announcement, with a head at once': {},
  'without any announcement, with a late head': { isHeadLate: true },
  'of 1 to 8 s': { thinkMs: [second, 8 * second], requestsPerSecond: 1, durationMs: 2 * hour },
}

for (const [kind, change] of Object.entries(kinds))
  describe(`requests ${kind}`, () => {
    const plan = { ...thinkers, ...change }

    test('are served where they are, are paid once, and switch nothing off', () => {
      for (const seed of seeds) {
        const record = run({ ...plan, seed })
        assertServed(record)
        assertPaidOnce(record)
        assert.deepEqual(record.offs, [])
        assert.ok(record.worstBeyondMs <= provingMs + lookMs, String(record.worstBeyondMs))
      }
    })

    test('move from a channel that hangs as the limits say', () => {
      for (const seed of seeds) {
        const record = run({ ...plan, seed, main: hanging })
        assertServed(record)
        assertPaidOnce(record)
        assert.ok(record.worstBeyondMs <= provingMs + lookMs, String(record.worstBeyondMs))
        const isHanging = (at: number): boolean => at >= hang.from && at < hang.to + 11 * minute
        assert.ok(record.offs.every(({ at, channel }) => channel === 'main' && isHanging(at)))
        assert.ok(record.offs.length > 0)
        // Behind the hang the main channel serves again.
        assert.ok((record.answers.get('main') ?? 0) > 0.5 * record.served)
      }
    })

    test('are known again after each restart', () => {
      for (const seed of seeds) {
        const record = run({ ...plan, seed, restartEveryMs: 25 * minute })
        assertPaidOnce(record)
        assert.equal(record.failed, 0)
        assert.deepEqual(record.offs, [])
      }
    })
  })

describe('a model that becomes three times slower', () => {
  const slower = (at: number): Conduct => ({ factor: at >= hour ? 3 : 1 })

  // It is a new model to the limits that the old one taught: see ADR 37.
  for (const [place, reserve] of [
    ['on its main channel', undefined],
    ['on both channels', slower],
  ] as const)
    test(`${place} is served on, and for 20 minutes requests under way may be paid twice`, () => {
      for (const seed of seeds) {
        const record = run({
          ...thinkers,
          asksReasoning: true,
          thinkMs: [5 * second, 100 * second],
          seed,
          main: slower,
          ...(reserve !== undefined && { reserve }),
        })
        assertServed(record)
        const twice = paidTwice(record)
        assert.ok(twice.length <= 6, JSON.stringify(twice))
        const isNew = (at: number): boolean => at >= hour && at < hour + 20 * minute
        assert.ok(twice.every(({ answers, at }) => answers < 50 || isNew(at)))
      }
    })
})

test('the first channel that hangs, before anything is learned, loses its requests to the reserve', () => {
  for (const seed of seeds) {
    const plan = { ...thinkers, seed, durationMs: hour, isHeadLate: true, requestsPerSecond: 0.5 }
    const record = run({ ...plan, thinkMs: [second, 5 * second], main: () => ({ hangs: true }) })
    assertServed(record)
    assert.deepEqual(paidTwice(record), [])
    assert.ok(record.worstBeyondMs <= provingMs + lookMs, String(record.worstBeyondMs))
    assert.ok(record.cuts.every(({ waitedMs }) => waitedMs <= 30 * second + provingMs + lookMs))
  }
})
