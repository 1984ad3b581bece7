/**
 * A main route that still answers, but slowly: its traffic moves to the reserve where that is faster,
 * a few requests go on showing how it does, and it comes back by itself. Time stands still unless a
 * test moves it; the test says how long an answer takes, whatever the machine is busy with.
 */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { assertWhole } from '../support/answers.ts'
import { advanceUntil, ManualClock } from '../support/manual-clock.ts'
import { formats, places } from '../support/requests.ts'
import { failoverDefaults, type Scenario, scenario } from '../support/scenario.ts'

const second = 1_000
/** Far above what the test's own steps of time could add to an answer. */
const usual = { p50: '6s', p95: '9s' }
/** More than three times the median, less than a check may take. */
const slowMs = 25 * second

for (const format of [...formats, 'responses'] as const) {
  const { main, reserve, model } = places[format]

  describe(`a slow main route (${format})`, () => {
    let clock: ManualClock
    let gateway: Scenario
    let markerCount = 0
    beforeEach(async () => {
      gate = ''
      clock = new ManualClock()
      const pinned = { baselines: { [model]: usual } }
      gateway = await scenario({
        ...failoverDefaults,
        clock,
        channels: { named: { [main]: pinned, [reserve]: pinned } },
        // The regular checks would be samples of their own.
        settings: { check_interval: '1440m' },
      })
    })
    afterEach(() => gateway.close())

    let gate = ''

    /** From now on these channels keep their answers back, until time has passed. */
    function holdNext(held: readonly string[]): void {
      gate = `slow-${markerCount++}`
      for (const channel of held) gateway.sandbox.faults.set(channel, `hold=${gate}@before_head`)
    }

    /** One stream; where a held channel serves it, it takes that long, and so does every check there. */
    async function askSlowly(durationMs: number, held: readonly string[]): Promise<string> {
      if (gate === '') holdNext(held)
      const marker = `request-${gate}`
      const current = gate
      const answer = gateway.ask({ format, isStream: true, marker })
      await gateway.sandbox.log.waitFor((record) => record.marker === marker)
      const [channel = ''] = gateway.tried(marker)
      if (held.includes(channel)) {
        await gateway.sandbox.faults.reached(current)
        await allReached(channel)
        clock.advance(durationMs)
      }
      // What comes once these go on waits for the next one.
      holdNext(held)
      gateway.sandbox.faults.release(current)
      assertWhole(await answer, await gateway.served(marker, channel), marker)
      assert.deepEqual(gateway.tried(marker), [channel])
      return channel
    }

    /** What the gateway has sent to the channel, its own checks included, has come there. */
    async function allReached(channel: string): Promise<void> {
      const { log } = gateway.sandbox
      const { health } = gateway.app
      const open = (): number =>
        log.forChannel(channel).filter(({ phase }) => phase !== 'closed').length
      const sent = (): number => health.running(channel) + health.probing(channel)
      await log.waitFor(() => open() >= sent())
    }

    function isSlow(): boolean {
      return gateway.grade(main, model) === 'slow'
    }

    /** Every check that was sent to the channel has come to its end. */
    async function checksEnded(channel: string): Promise<void> {
      // Each question gives the gateway's event loop a turn.
      while (gateway.app.health.probing(channel) > 0) await gateway.health()
    }

    test('loses its traffic within twenty slow answers, still gets probes, and comes back', async () => {
      let slow = 0
      // The reserve has served no request of late: it is asked how fast it is, and answers at once.
      while ((await askSlowly(slowMs, [main])) === main) {
        slow++
        assert.ok(slow <= 20, `${slow} slow answers`)
        await checksEnded(reserve)
        if (slow === 20) await advanceUntil(clock, 60 * second, () => isSlow())
      }
      assert.ok(slow >= 3, `moved after ${slow} slow answers`)
      assert.ok(isSlow())

      const served: string[] = []
      for (let index = 0; index < 40; index++) served.push(await askSlowly(slowMs, [main]))
      const canaries = served.filter((channel) => channel === main).length
      assert.ok(canaries <= 12, `${canaries} of 40 requests went to the slow channel`)
      assert.ok(isSlow())

      gateway.sandbox.faults.clear()
      gateway.sandbox.faults.release(gate)
      await advanceUntil(clock, 900 * second, async () => {
        await gateway.health()
        return gateway.grade(main, model) === 'on'
      })
      assert.equal(await askSlowly(0, []), main)
    })

    test('keeps its traffic while nothing better is known: the reserve does not answer', async () => {
      gateway.sandbox.faults.set(reserve, 'hold=never@before_head')
      for (let index = 0; index < 25; index++) {
        assert.equal(await askSlowly(slowMs, [main]), main, `request ${index}`)
        assert.ok(!isSlow())
      }
    })
  })
}
