/**
 * The end of a process that another one replaces, seen from clients that keep their connection. Goal: a
 * request never meets the end of its connection, however long its client was silent within the keep-alive
 * time, and the process still ends.
 */
import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, it } from 'node:test'
import { connectRaw, type RawConnection } from '../support/http-client.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { withScenario, type Scenario } from '../support/scenario.ts'

const health = 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n'
const hourMs = 3_600_000

async function openKept(gateway: Scenario): Promise<RawConnection> {
  const connection = await connectRaw(gateway.url)
  connection.write(health)
  const answer = await connection.next()
  assert.equal(answer?.status, 200)
  assert.equal(answer.headers['keep-alive'], 'timeout=75')
  return connection
}

/** Lets time pass, in steps that are shorter than any wait of the process. */
async function pass(clock: ManualClock, durationMs: number): Promise<void> {
  for (let passedMs = 0; passedMs < durationMs; passedMs += 50) {
    clock.advance(50)
    await turn()
  }
}

/** Lets time pass until the process has ended. */
async function ended(clock: ManualClock, retired: Promise<void>): Promise<void> {
  const over = new AbortController()
  void retired.then(() => over.abort())
  while (!over.signal.aborted) await pass(clock, 50)
  await retired
}

describe('a process that is replaced', () => {
  it('answers the next request of each kept connection, and ends the connection with it', async () => {
    const clock = new ManualClock()
    await withScenario({ clock }, async (gateway) => {
      const often = await openKept(gateway)
      const seldom = await openKept(gateway)
      const retired = gateway.app.retire(hourMs)
      for (const [connection, silentMs] of [
        [often, 5_000],
        [seldom, 65_000],
      ] as const) {
        await pass(clock, silentMs)
        connection.write(health)
        const last = await connection.next()
        assert.equal(last?.status, 200)
        assert.equal(last.headers['connection'], 'close')
        await connection.ended
        connection.close()
      }
      await ended(clock, retired)
    })
  })

  it('ends a silent connection after its keep-alive time, as always, and then itself', async () => {
    const clock = new ManualClock()
    await withScenario({ clock }, async (gateway) => {
      const silent = await openKept(gateway)
      const retired = gateway.app.retire(hourMs)
      await pass(clock, 76_000)
      await silent.ended
      silent.close()
      await ended(clock, retired)
    })
  })

  it('ends silent connections after drain_timeout at the latest', async () => {
    const clock = new ManualClock()
    await withScenario({ clock }, async (gateway) => {
      const silent = await openKept(gateway)
      const retired = gateway.app.retire(10_000)
      await pass(clock, 10_100)
      await silent.ended
      silent.close()
      await ended(clock, retired)
    })
  })
})
