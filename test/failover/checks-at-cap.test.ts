/** A channel with a cap that is being checked: clients find the room they always have. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertWhole } from '../support/answers.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { formats, places } from '../support/requests.ts'
import { failoverDefaults, scenario } from '../support/scenario.ts'

for (const format of formats)
  test(`checks that fill a channel's cap leave its clients on it (${format})`, async () => {
    const { main, model } = places[format]
    const gateway = await scenario({
      ...failoverDefaults,
      clock: new ManualClock(),
      channels: { named: { [main]: { max_concurrent: 2 } } },
      settings: { check_interval: '1d' },
    })
    try {
      const { faults, log } = gateway.sandbox
      faults.set(main, ['hold=first@before_head', 'hold=second@before_head'])
      gateway.app.health.warn({ channel: main, model })
      await Promise.all([faults.reached('first'), faults.reached('second')])
      const markers = ['one', 'two']
      const asked = markers.map((marker) => gateway.ask({ format, isStream: true, marker }))
      for (const [index, answer] of (await Promise.all(asked)).entries()) {
        const marker = markers[index] ?? ''
        assert.deepEqual(gateway.tried(marker), [main])
        assertWhole(answer, await gateway.served(marker, main), marker)
      }
      // The third of the burst has waited for the first to end.
      const checks = () => log.forChannel(main).filter((one) => one.marker === undefined)
      assert.equal(checks().length, 2)
      faults.release('first')
      await log.waitFor(() => checks().length === 3)
      faults.release('second')
    } finally {
      await gateway.close()
    }
  })
