/**
 * A main channel that fails one form of request (streamed or whole) and answers the other. It must go off
 * after at most five failed attempts of any accounts, and return only once that form works again: a
 * probe sends the form of request that failed.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { advanceUntil, ManualClock } from '../support/manual-clock.ts'
import { firstShown, places, streamedFormats, alike } from '../support/requests.ts'
import { failoverDefaults, scenario, type Scenario } from '../support/scenario.ts'

const second = 1_000
let markerCount = 0

interface FailingForm {
  readonly name: string
  readonly isStream: boolean
  /** What the main channel does with requests of that form, whose client sees events from this one on. */
  readonly fault: (shown: number) => string
  readonly accounts: number
}

const cutEarly = (shown: number): string => `cut_event=${shown + 1}`

const cases: readonly FailingForm[] = [
  { name: 'cuts every stream (one key)', isStream: true, fault: cutEarly, accounts: 1 },
  { name: 'cuts every stream (two accounts)', isStream: true, fault: cutEarly, accounts: 2 },
  {
    name: 'never begins a stream (one key)',
    isStream: true,
    fault: () => 'hold=hang@before_head',
    accounts: 1,
  },
  {
    name: 'hangs in the middle of every stream (one key)',
    isStream: true,
    // Early enough that the short answer to a probe hangs too.
    fault: (shown) => `stall_event=${Math.max(3, shown + 1)}`,
    accounts: 1,
  },
  {
    name: 'closes every stream before its terminal event (one key)',
    isStream: true,
    fault: () => 'terminal=missing; framing=close',
    accounts: 1,
  },
  {
    name: 'fails every whole answer (one key)',
    isStream: false,
    fault: () => 'error=502',
    accounts: 1,
  },
]

for (const format of alike(streamedFormats)) {
  const { main, reserve, model } = places[format]

  describe(`a main channel (${format}) that fails one form of request`, () => {
    for (const failing of cases)
      test(`${failing.name}: is off after five failures at most, and back once that form works`, async () => {
        const clock = new ManualClock()
        const settings = { check_interval: '1440m', idle_timeout: '30s' }
        const gateway = await scenario({ ...failoverDefaults, clock, channels: {}, settings })
        try {
          await playThrough(gateway, clock, failing)
        } finally {
          await gateway.close()
        }
      })

    test('hangs late in every stream, where the short answer to a probe passes: is off all the same', async () => {
      const clock = new ManualClock()
      const settings = { check_interval: '1440m', idle_timeout: '30s' }
      const gateway = await scenario({ ...failoverDefaults, clock, channels: {}, settings })
      try {
        const story = { gateway, clock, isHanging: true, keys: [gateway.account.key] }
        const fault = `stall_event=${firstShown(format) + 4}`
        // A probe clears the first failures, and no later ones.
        await failUntilOff(story, { isStream: true, fault, most: 7 })
      } finally {
        await gateway.close()
      }
    })

    async function playThrough(
      gateway: Scenario,
      clock: ManualClock,
      { isStream, fault: faultOf, accounts }: FailingForm,
    ): Promise<void> {
      const fault = faultOf(firstShown(format))
      const keys = [gateway.account.key]
      if (accounts > 1) keys.push((await gateway.createAccount({ balance_usd: '1000' })).key)
      const isHanging = fault.startsWith('hold=') || fault.startsWith('stall_event')
      const ask = (asksStream: boolean): Promise<string> =>
        request({ gateway, clock, isHanging, keys }, asksStream)
      // Every caller has had success in that form before.
      for (const asksStream of [isStream, isStream, !isStream])
        assert.deepEqual(gateway.tried(await ask(asksStream)), [main])

      await failUntilOff({ gateway, clock, isHanging, keys }, { isStream, fault, most: 5 })

      // Half an hour later the reserve has served every request, and no probe has brought it back.
      for (let asked = 0; asked < 30; asked++) {
        assert.deepEqual(gateway.tried(await ask(isStream)), [reserve])
        for (let passed = 0; passed < 4; passed++) {
          clock.advance(15 * second)
          await probesEnded(gateway, isHanging)
        }
      }
      gateway.sandbox.faults.clear()
      gateway.sandbox.faults.release('hang')
      // Probes that still hang run into their limit.
      clock.advance(31 * second)
      await advanceUntil(clock, 300 * second, async () => {
        await probesEnded(gateway, false)
        return gateway.grade(main, model) === 'on'
      })
      assert.deepEqual(gateway.tried(await ask(isStream)), [main])
    }

    /** Asks until the main channel is off, which takes so many failures at most. */
    async function failUntilOff(
      story: Story,
      { isStream, fault, most }: { isStream: boolean; fault: string; most: number },
    ): Promise<void> {
      const { gateway, clock, isHanging } = story
      gateway.sandbox.faults.set(main, (_index, subject) =>
        subject.isStream === isStream ? fault : undefined,
      )
      let failed = 0
      while (gateway.grade(main, model) !== 'off') {
        const marker = await request(story, isStream)
        if (gateway.tried(marker)[0] === main) failed++
        assert.ok(failed <= most, `${failed} requests met the failing channel`)
        // The other form is answered meanwhile, and proves nothing for this one.
        await request(story, !isStream)
        await probesEnded(gateway, isHanging)
        // Probes that hang end at their time limit.
        if (isHanging) clock.advance(5 * second)
      }
    }

    /** One request; where the channel hangs, time passes until the request has its answer. */
    async function request(
      { gateway, clock, isHanging, keys }: Story,
      isStream: boolean,
    ): Promise<string> {
      const marker = `form-${markerCount++}`
      const key = keys[markerCount % keys.length] ?? ''
      const progress = { isAnswered: !isHanging }
      const answer = gateway
        .ask({ format, isStream, marker, key })
        .finally(() => (progress.isAnswered = true))
      while (!progress.isAnswered) {
        await gateway.health()
        const [first] = gateway.sandbox.log.forMarker(marker)
        if (first?.channel === main && first.phase !== 'closed') clock.advance(second)
      }
      await answer
      return marker
    }

    /** Every probe has ended, but for those that hang. */
    async function probesEnded(gateway: Scenario, isHanging: boolean): Promise<void> {
      await gateway.health()
      if (isHanging) return
      while (gateway.app.health.probing(main) > 0) await gateway.health()
    }
  })
}

interface Story {
  readonly gateway: Scenario
  readonly clock: ManualClock
  readonly isHanging: boolean
  readonly keys: readonly string[]
}
