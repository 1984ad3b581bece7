/**
 * Who is at fault: whatever a client sends, however often, takes no channel away from anybody; one
 * account's requests that break every channel break it for that account only. The gateway's own
 * checks, on here as in a real set-up, decide between a request and a channel.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { assertWhole } from '../support/answers.ts'
import { advanceUntil, ManualClock } from '../support/manual-clock.ts'
import { type Ask, formats, places } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { failoverDefaults, scenario, type Scenario } from '../support/scenario.ts'
import { createClientKey } from '../support/operations.ts'
import { variants, volume } from '../support/variants.ts'

const second = 1_000
let markerCount = 0

for (const format of formats) {
  const { main, reserve, model } = places[format]

  describe(`a client that sends bad requests all day (${format})`, () => {
    const clock = new ManualClock()
    let gateway: Scenario
    before(async () => {
      // The regular checks are no answer to what a client sends; here they would blur the picture.
      const settings = { check_interval: '1440m' }
      gateway = await scenario({ ...failoverDefaults, clock, channels: {}, settings })
    })
    after(() => gateway.close())
    beforeEach(() => {
      gateway.resetHealth()
      gateway.sandbox.faults.clear()
      gateway.sandbox.log.clear()
    })

    const context = format === 'messages' ? '400_context' : '400_context_length_exceeded'
    for (const fault of ['error=400', `error=${context}`, 'error=413', 'error=422', 'error=409'])
      test(`with ${fault}: one channel sees them, and its state does not move at all`, async () => {
        const untouched = gateway.app.health.state(main, model)
        const bodies = new Set<string>()
        for (let index = 0; index < volume({ few: 30, all: 100 }); index++) {
          const marker = `bad-${markerCount++}`
          const ask = { format, isStream: index % 2 === 0, marker, sandbox: fault }
          const answer = await gateway.ask(ask)
          assert.ok(answer.status >= 400 && answer.status < 500)
          // A conflict may pass by itself; it is tried once more, there.
          const tries = fault === 'error=409' ? [main, main] : [main]
          assert.deepEqual(gateway.tried(marker), tries)
          const record = gateway.sandbox.log.forMarker(marker).at(-1)
          assert.equal(answer.body.toString(), record?.responseBody?.toString())
          bodies.add(answer.body.toString().replace(/req_\w+/, ''))
          clock.advance(second)
        }
        assert.equal(bodies.size, 1)
        assert.equal(gateway.app.health.state(main, model), untouched)
        assert.deepEqual(await gateway.health(), { code: 200, status: 'ok' })
        const probes = gateway.sandbox.log.records.filter((one) => one.marker === undefined)
        assert.deepEqual(probes, [])
      })

    test('that fail in the middle of their answers: an error event each time, and no channel is blamed', async () => {
      await gateway.attempts()
      const untouched = gateway.app.health.state(main, model)
      for (let index = 0; index < 50; index++) {
        const marker = `bad-${markerCount++}`
        const sandbox = 'error_at=3; event_error=400'
        const answer = await gateway.ask({ format, isStream: true, marker, sandbox })
        assert.equal(answer.isComplete, false)
        assert.deepEqual(gateway.tried(marker), [main])
        clock.advance(second)
      }
      assert.deepEqual(await gateway.attempts(), { [`${main} client`]: 50 })
      const { mode, since, evidence } = gateway.app.health.state(main, model)
      assert.deepEqual([mode, since], [untouched.mode, untouched.since])
      assert.deepEqual(evidence, untouched.evidence)
      assert.deepEqual(await gateway.health(), { code: 200, status: 'ok' })
      const probes = gateway.sandbox.log.records.filter((one) => one.marker === undefined)
      assert.deepEqual(probes, [])
    })

    test('or leaves before the answer comes', async () => {
      const untouched = gateway.app.health.state(main, model)
      for (let index = 0; index < 30; index++) {
        const marker = `leaving-${markerCount++}`
        const ask: Ask = {
          format,
          isStream: true,
          marker,
          sandbox: 'output=5; stall_event=4',
          onChunk: () => 'leave',
        }
        const answer = await gateway.ask(ask)
        assert.equal(answer.isComplete, false)
      }
      await advanceUntil(clock, 600 * second, async () => {
        await gateway.health()
        return gateway.sandbox.log.records.every((one) => one.phase === 'closed')
      })
      const { mode, evidence } = gateway.app.health.state(main, model)
      assert.deepEqual([mode, evidence], [untouched.mode, untouched.evidence])
      const attempts = await gateway.attempts()
      assert.ok(
        Object.keys(attempts).every((name) => name.startsWith(main)),
        JSON.stringify(attempts),
      )
      assert.equal(attempts[`${main} broken`], undefined)
      assert.equal(attempts[`${main} hard`], undefined)
    })
  })

  describe(`one account’s poisoned requests (${format})`, () => {
    const clock = new ManualClock()
    let gateway: Scenario
    let poisoned: TestAccount
    const keys: string[] = []
    before(async () => {
      gateway = await scenario({ ...failoverDefaults, clock, channels: {} })
      poisoned = await gateway.createAccount({ balance_usd: '1000' })
      for (let index = 0; index < 6; index++) {
        const { secret } = await createClientKey(gateway.context, {
          account: poisoned.name,
          name: `key ${index}`,
        })
        keys.push(secret)
      }
    })
    after(() => gateway.close())
    beforeEach(() => {
      gateway.resetHealth()
      gateway.sandbox.faults.clear()
    })

    async function assertOthersServed(): Promise<void> {
      const marker = `healthy-${markerCount++}`
      const answer = await gateway.ask({ format, isStream: true, marker })
      assert.deepEqual(gateway.tried(marker), [main])
      assertWhole(answer, await gateway.served(marker, main), 'another account')
    }

    /** Lets the checks that were asked for come to their end. */
    async function settle(): Promise<void> {
      const { log } = gateway.sandbox
      const open = log.records.filter((one) => one.marker === undefined && one.phase !== 'closed')
      for (const record of open)
        await log.waitFor((one) => one === record && one.phase === 'closed')
    }

    async function probesEnded(): Promise<void> {
      const { health } = gateway.app
      do await gateway.health()
      while (health.probing(main) + health.probing(reserve) > 0)
    }

    const poisons = [
      ['a 500 every time', 'error=500'],
      ['a 502 every time', 'error=502'],
      ['a connection reset every time', 'reset=before_head'],
      ['an answer that is none', 'not_format=json'],
      ['an answer that breaks off', 'cut_event=2'],
    ] as const
    const needed = format === 'messages' ? ['error=500', 'cut_event=2'] : ['reset=before_head']
    for (const [name, poison] of variants(poisons, ([, fault]) => needed.includes(fault))) {
      test(`${name}, among others’ good ones`, async () => {
        for (let index = 0; index < 40; index++) {
          await gateway.ask({ format, isStream: true, key: poisoned.key, sandbox: poison })
          await settle()
          await assertOthersServed()
          clock.advance(second)
        }
        assert.equal(gateway.grade(main, model), 'on')
        assert.equal(gateway.grade(reserve, model), 'on')
      })

      test(`${name}, many in a row between the good ones`, async () => {
        await assertOthersServed()
        for (let burst = 0; burst < 4; burst++) {
          for (let index = 0; index < 12; index++)
            await gateway.ask({ format, isStream: true, key: poisoned.key, sandbox: poison })
          await settle()
          await assertOthersServed()
          clock.advance(20 * second)
        }
        assert.equal(gateway.grade(main, model), 'on')
      })

      test(`${name}, and others still fail over`, async () => {
        for (let index = 0; index < 80; index++) {
          await gateway.ask({ format, isStream: true, key: poisoned.key, sandbox: poison })
          await settle()
          await assertOthersServed()
          clock.advance(second)
        }
        gateway.sandbox.faults.set(main, ['error=502', ''])
        const marker = `failed-over-${markerCount++}`
        const answer = await gateway.ask({ format, isStream: true, marker })
        assert.deepEqual(gateway.tried(marker), [main, reserve])
        assertWhole(answer, await gateway.served(marker, reserve), 'another account')
      })

      if (poison !== 'cut_event=2')
        test(`${name}, without requests of others in between: both channels stay on`, async () => {
          for (let index = 0; index < 30; index++) {
            const ask = { format, isStream: index % 2 === 0, sandbox: poison }
            await gateway.ask({ ...ask, key: poisoned.key })
            await probesEnded()
            clock.advance(second)
          }
          assert.equal(gateway.grade(main, model), 'on')
          assert.equal(gateway.grade(reserve, model), 'on')
          await assertOthersServed()
          // What the account did there takes no failover from others.
          gateway.sandbox.faults.set(main, 'error=502')
          const marker = `failed-over-${markerCount++}`
          const answer = await gateway.ask({ format, isStream: true, marker })
          assert.deepEqual(gateway.tried(marker), [main, reserve])
          assertWhole(answer, await gateway.served(marker, reserve), 'another account')
        })

      test(`${name}, under six keys of the one account`, async () => {
        await assertOthersServed()
        for (let burst = 0; burst < 4; burst++) {
          for (const key of [...keys, ...keys])
            await gateway.ask({ format, isStream: true, key, sandbox: poison })
          await settle()
          await assertOthersServed()
          clock.advance(20 * second)
        }
        assert.equal(gateway.grade(main, model), 'on')
      })
    }
  })
}
