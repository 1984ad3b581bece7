/** When a process is started again and when it is replaced; the test controls the clock and the processes. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { pino } from 'pino'
import { ManualClock } from '../../test/support/manual-clock.ts'
import type { Exit } from './gateway-child.ts'
import type { Order } from './messages.ts'
import { Slot, type SlotChild } from './slot.ts'

class ScriptedChild implements SlotChild {
  readonly pid = 1
  readonly startedAtMs: number
  isReady = false
  isRetiring = false
  wasKilled = false
  readonly orders: Order['kind'][] = []
  readonly #ready = Promise.withResolvers<'ready'>()
  readonly #ended = Promise.withResolvers<Exit>()
  readonly ready = this.#ready.promise
  readonly ended = this.#ended.promise

  constructor(startedAtMs: number) {
    this.startedAtMs = startedAtMs
  }

  send({ kind }: Order): void {
    this.orders.push(kind)
  }

  kill(): void {
    this.wasKilled = true
    this.end()
  }

  becomeReady(): void {
    this.isReady = true
    this.#ready.resolve('ready')
  }

  end(): void {
    this.#ended.resolve({ kind: 'ended', code: 1, reason: 'exit code 1' })
  }
}

function open() {
  const clock = new ManualClock()
  const started: ScriptedChild[] = []
  const lines: { readonly delayMs?: number }[] = []
  const log = pino({}, { write: (line) => void lines.push(JSON.parse(line) as object) })
  const slot = new Slot<ScriptedChild>({
    number: 1,
    name: 'here-1',
    clock,
    log,
    start() {
      const child = new ScriptedChild(clock.monotonic())
      started.push(child)
      return child
    },
    onEnded: () => undefined,
  })
  const latest = (): ScriptedChild => {
    const child = started.at(-1)
    assert.ok(child !== undefined)
    return child
  }
  return { clock, slot, started, latest, delays: () => lines.map(({ delayMs }) => delayMs) }
}

/** Lets all that is resolved run. */
async function turn(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve))
}

describe('a slot', () => {
  it('starts a process again after 1 s, doubled up to 30 s', async () => {
    const { clock, slot, started, latest, delays } = open()
    void slot.start()
    slot.keep()
    for (const delayMs of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      const count = started.length
      latest().end()
      await turn()
      clock.advance(delayMs - 1)
      assert.equal(started.length, count)
      clock.advance(1)
      assert.equal(started.length, count + 1)
    }
    assert.deepEqual(delays(), [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000])
  })

  it('starts with 1 s again after a process that served for a minute', async () => {
    const { clock, slot, latest, delays } = open()
    void slot.start()
    slot.keep()
    for (const [servedMs, delayMs] of [
      [0, 1_000],
      [59_000, 2_000],
      [60_000, 1_000],
      [0, 2_000],
    ] as const) {
      latest().becomeReady()
      clock.advance(servedMs)
      latest().end()
      await turn()
      assert.equal(delays().at(-1), delayMs)
      clock.advance(delayMs)
    }
  })

  it('lets the earlier process retire only when the new one is ready', async () => {
    const { slot, started } = open()
    void slot.start()
    slot.keep()
    const [earlier] = started
    const replaced = slot.replace()
    assert.deepEqual(earlier?.orders, [])
    started[1]?.becomeReady()
    await turn()
    assert.deepEqual(earlier.orders, ['retire'])
    assert.equal(slot.children.size, 2)
    earlier.end()
    assert.deepEqual(await replaced, { kind: 'replaced' })
    assert.equal(slot.children.size, 1)
  })

  it('keeps the earlier process where the new one ends or is not ready in two minutes', async () => {
    const { clock, slot, started } = open()
    void slot.start()
    slot.keep()
    const ending = slot.replace()
    started[1]?.end()
    assert.deepEqual(await ending, { kind: 'failed', reason: 'exit code 1' })
    const late = slot.replace()
    clock.advance(120_000)
    assert.deepEqual(await late, { kind: 'failed', reason: 'it was not ready in time' })
    assert.ok(started[2]?.wasKilled)
    assert.deepEqual([...slot.children], [started[0]])
    assert.deepEqual(started[0]?.orders, [])
  })

  it('starts one process where the earlier one dies during a replacement', async () => {
    const { clock, slot, started } = open()
    void slot.start()
    slot.keep()
    const failing = slot.replace()
    started[0]?.end()
    started[1]?.end()
    assert.equal((await failing).kind, 'failed')
    clock.advance(1_000)
    assert.equal(started.length, 3)
    const replacing = slot.replace()
    started[2]?.end()
    await turn()
    started[3]?.becomeReady()
    assert.deepEqual(await replacing, { kind: 'replaced' })
    clock.advance(60_000)
    assert.equal(started.length, 4)
  })

  it('starts the new process again where it dies while the earlier one finishes', async () => {
    const { clock, slot, started } = open()
    void slot.start()
    slot.keep()
    const replaced = slot.replace()
    started[1]?.becomeReady()
    await turn()
    started[1]?.end()
    await turn()
    clock.advance(1_000)
    assert.equal(started.length, 3)
    started[2]?.becomeReady()
    started[0]?.end()
    assert.deepEqual(await replaced, { kind: 'replaced' })
    assert.deepEqual([...slot.children], [started[2]])
  })

  it('keeps the earlier process where the new one ends as soon as it is ready', async () => {
    const { slot, started } = open()
    void slot.start()
    slot.keep()
    const replaced = slot.replace()
    started[1]?.becomeReady()
    started[1]?.end()
    assert.deepEqual(await replaced, { kind: 'failed', reason: 'exit code 1' })
    assert.deepEqual(started[0]?.orders, [])
    assert.deepEqual([...slot.children], [started[0]])
  })

  it('starts none after a stop', async () => {
    const { clock, slot, started, latest } = open()
    void slot.start()
    slot.keep()
    slot.stop()
    latest().end()
    await turn()
    clock.advance(60_000)
    assert.equal(started.length, 1)
  })
})
