/**
 * A vendor that takes every request and says nothing: no limit of an attempt is over for minutes, and a
 * gateway that is young knows no usual time. Its own checks find out while the requests still wait.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { advanceUntil, ManualClock } from '../support/manual-clock.ts'
import { places, streamedFormats, alike } from '../support/requests.ts'
import { failoverDefaults, scenario } from '../support/scenario.ts'

const second = 1_000

for (const format of alike(streamedFormats))
  for (const isStream of [false, true])
    test(`a main route that says nothing any more loses its traffic within three minutes (${format}, ${isStream ? 'streams' : 'whole answers'})`, async () => {
      const clock = new ManualClock()
      const settings = { check_interval: '1440m' }
      const gateway = await scenario({ ...failoverDefaults, clock, channels: {}, settings })
      const { main, reserve, model } = places[format]
      try {
        gateway.sandbox.faults.set(main, 'hold=silence@before_head')
        const waiting = gateway.ask({ format, isStream, marker: 'waits' })
        await gateway.sandbox.faults.reached('silence')
        await advanceUntil(clock, 180 * second, async () => {
          await gateway.health()
          return gateway.grade(main, model) === 'off'
        })
        const answer = await gateway.ask({ format, isStream, marker: 'served' })
        assert.equal(answer.status, 200)
        assert.deepEqual(gateway.tried('served'), [reserve])
        gateway.sandbox.faults.release('silence')
        assert.equal((await waiting).status, 200)
      } finally {
        await gateway.close()
      }
    })

test('a vendor that thinks for minutes is probed now and then, and keeps its traffic', async () => {
  const clock = new ManualClock()
  const settings = { check_interval: '1440m' }
  const gateway = await scenario({ ...failoverDefaults, clock, channels: {}, settings })
  const { main, model } = places.chat
  try {
    const sandbox = 'hold=thought@before_head'
    const waiting = gateway.ask({ format: 'chat', isStream: false, sandbox })
    await gateway.sandbox.faults.reached('thought')
    await advanceUntil(clock, 501 * second, async () => {
      await gateway.health()
      assert.equal(gateway.grade(main, model), 'on')
      return clock.monotonic() >= 500 * second
    })
    const checks = gateway.sandbox.log.records.filter(
      (one) => one.channel === main && one.phase === 'closed',
    )
    assert.ok(checks.length >= 1 && checks.length <= 8, `${checks.length} checks`)
    gateway.sandbox.faults.release('thought')
    assert.equal((await waiting).status, 200)
  } finally {
    await gateway.close()
  }
})
