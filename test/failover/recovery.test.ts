/**
 * How channels go out of use and come back: a dead main route, a vendor that asks to wait, a hand's
 * "off", a cap that is reached, everything off at once. Time stands still unless a test moves it;
 * what happens in between is looked at from outside: who was asked, what `/health` says.
 */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import type { FormatName } from '../../src/formats/format.ts'
import { assertOwnError, assertWhole } from '../support/answers.ts'
import type { CatalogueChange } from '../support/catalogues.ts'
import { advanceUntil, ManualClock } from '../support/manual-clock.ts'
import { formats, places } from '../support/requests.ts'
import { failoverDefaults, type Scenario, scenario } from '../support/scenario.ts'
import { switchChannel } from '../support/operations.ts'

const second = 1_000

const models: Readonly<Record<FormatName, readonly string[]>> = {
  messages: ['large-1', 'small-1'],
  chat: ['chat-1', 'chat-mini-1'],
}
let markerCount = 0

function newMarker(): string {
  return `recovery-${markerCount++}`
}

for (const format of formats) {
  const { main, reserve, model } = places[format]

  describe(`a dead main route (${format})`, () => {
    let clock: ManualClock
    let gateway: Scenario
    beforeEach(async () => {
      clock = new ManualClock()
      gateway = await scenario({ ...failoverDefaults, clock, channels: {} })
    })
    afterEach(() => gateway.close())

    /** One request a second of the clock; every one of them must be served whole. */
    async function serveFor(seconds: number): Promise<readonly (readonly string[])[]> {
      const tried: (readonly string[])[] = []
      for (let index = 0; index < seconds; index++) {
        const marker = newMarker()
        const answer = await gateway.ask({ format, isStream: index % 2 === 0, marker })
        const channels = gateway.tried(marker)
        assertWhole(answer, await gateway.served(marker, channels.at(-1) ?? ''), `request ${index}`)
        tried.push(channels)
        clock.advance(second)
      }
      return tried
    }

    test('is off after at most five failed attempts, is tried seldom, and comes back by itself', async () => {
      assert.deepEqual(await gateway.health(), { code: 200, status: 'ok' })
      gateway.sandbox.faults.set(main, 'reset=before_head')
      const dying = await serveFor(6)
      const failed = dying.filter((channels) => channels[0] === main).length
      assert.ok(failed >= 1 && failed <= 5, `${failed} requests met the dead channel`)
      assert.equal(gateway.grade(main, model), 'off')
      assert.deepEqual(await gateway.health(), { code: 200, status: 'degraded' })

      gateway.sandbox.log.clear()
      const dead = await serveFor(100)
      const attempts = dead.flat().length
      assert.ok(attempts <= 120, `${attempts} attempts for 100 requests`)
      const probes = gateway.sandbox.log
        .forChannel(main)
        .filter((record) => record.marker === undefined).length
      assert.ok(probes <= 10, `${probes} probes in 100 seconds`)

      gateway.sandbox.faults.clear()
      await advanceUntil(clock, 300 * second, async () => {
        await serveFor(1)
        return gateway.grade(main, model) === 'on'
      })
      assert.deepEqual(await serveFor(2), [[main], [main]])
      assert.deepEqual(await gateway.health(), { code: 200, status: 'ok' })
    })

    test('comes back without any request, by the gateway’s own', async () => {
      gateway.sandbox.faults.set(main, 'close=before_head')
      await serveFor(6)
      assert.equal(gateway.grade(main, model), 'off')
      gateway.sandbox.faults.clear()
      gateway.sandbox.log.clear()
      await advanceUntil(clock, 300 * second, async () => {
        await gateway.health()
        return gateway.grade(main, model) === 'on'
      })
      const probes = gateway.sandbox.log.forChannel(main)
      assert.ok(probes.length >= 1 && probes.every((probe) => probe.marker === undefined))
      assert.deepEqual(gateway.sandbox.log.forChannel(reserve), [])
      assert.deepEqual(await serveFor(2), [[main], [main]])
    })

    test('stays off while its recovery is only apparent: a page with status 200', async () => {
      gateway.sandbox.faults.set(main, 'not_format=json')
      await serveFor(6)
      assert.equal(gateway.grade(main, model), 'off')
      gateway.sandbox.log.clear()
      const later = await serveFor(90)
      const met = later.filter((channels) => channels.includes(main)).length
      assert.ok(met <= 4, `${met} of 90 requests met a channel that answers nonsense`)
      assert.notEqual(gateway.grade(main, model), 'on')
    })

    test('goes down in the reserve too: everything is tried, nothing hangs, all of it returns', async () => {
      gateway.sandbox.faults.set('*', 'error=503; type=x; code=x')
      for (let index = 0; index < 8; index++) {
        const marker = newMarker()
        const answer = await gateway.ask({ format, isStream: false, marker })
        assert.equal(answer.status, 503)
        assert.deepEqual([...gateway.tried(marker)].sort(), [main, reserve])
        clock.advance(second)
      }
      assert.deepEqual([gateway.grade(main, model), gateway.grade(reserve, model)], ['off', 'off'])
      // The other vendor still serves.
      assert.deepEqual(await gateway.health(), { code: 200, status: 'degraded' })
      gateway.sandbox.faults.clear()
      // Off, and yet the least bad is better than a refusal.
      const marker = newMarker()
      const answer = await gateway.ask({ format, isStream: false, marker })
      assert.equal(gateway.tried(marker).length, 1)
      assertWhole(answer, await gateway.served(marker, gateway.tried(marker)[0] ?? ''), 'panic')
      await advanceUntil(clock, 300 * second, async () => (await gateway.health()).status === 'ok')
    })
  })

  describe(`a vendor that asks to wait (${format})`, () => {
    const clock = new ManualClock()
    let gateway: Scenario
    before(async () => {
      gateway = await scenario({ ...failoverDefaults, clock })
    })
    after(() => gateway.close())

    async function firstTried(): Promise<string | undefined> {
      const marker = newMarker()
      const answer = await gateway.ask({ format, isStream: false, marker })
      assert.equal(answer.status, 200)
      return gateway.tried(marker)[0]
    }

    for (const [said, restMs] of [
      ['retry_after=30', 30 * second],
      ['retry_after=0', second],
      ['retry_after=none', 5 * second],
      ['retry_after=86400', 300 * second],
      ['retry_after=soon', 5 * second],
      ['retry_after=none; header=retry-after-ms:2500', 2.5 * second],
    ] as const)
      test(`with ${said} rests for that long, which is no fault`, async () => {
        gateway.resetHealth()
        gateway.sandbox.faults.clear()
        gateway.sandbox.faults.set(main, [`error=429; ${said}`])
        assert.equal(await firstTried(), main)
        assert.equal(gateway.grade(main, model), 'resting')
        assert.deepEqual(await gateway.health(), { code: 200, status: 'degraded' })
        clock.advance(restMs - 1)
        assert.equal(await firstTried(), reserve)
        clock.advance(1)
        assert.equal(gateway.grade(main, model), 'on')
        assert.equal(await firstTried(), main)
        assert.deepEqual(await gateway.health(), { code: 200, status: 'ok' })
      })

    test('a hundred times stays on: waiting is not failing', async () => {
      gateway.resetHealth()
      gateway.sandbox.faults.set(main, 'error=429; retry_after=1')
      for (let index = 0; index < 100; index++) {
        assert.equal(await firstTried(), main)
        clock.advance(second)
      }
      assert.equal(gateway.grade(main, model), 'on')
    })

    test('everywhere: the one whose wait is over soonest is tried, and its answer passes', async () => {
      gateway.resetHealth()
      gateway.sandbox.faults.set(main, 'error=429; retry_after=50')
      gateway.sandbox.faults.set(reserve, 'error=429; retry_after=20')
      const ask = async (): Promise<readonly string[]> => {
        const marker = newMarker()
        const answer = await gateway.ask({ format, isStream: true, marker })
        assert.notEqual(answer.status, 200)
        return gateway.tried(marker)
      }
      assert.deepEqual(await ask(), [main, reserve])
      assert.deepEqual(await ask(), [reserve, main])
    })
  })

  for (const fault of ['error=502', 'error=500'])
    test(`dead ${format} channels (${fault}) are not tried again and again for one request`, async () => {
      const clock = new ManualClock()
      const gateway = await scenario({
        ...failoverDefaults,
        clock,
        settings: { failover_tokens: '10' },
      })
      try {
        gateway.sandbox.faults.set('*', fault)
        const asked: string[] = []
        for (let index = 0; index < 20; index++) {
          const marker = newMarker()
          const answer = await gateway.ask({ format, isStream: index % 2 === 0, marker })
          assert.equal(answer.status, Number(fault.slice(-3)))
          asked.push(...gateway.tried(marker))
        }
        const atReserve = asked.filter((channel) => channel === reserve).length
        const atMain = asked.length - atReserve
        // The first attempt of each is always made; moving on and repeating soon are not.
        assert.ok(asked.length <= 20 + 10, `${asked.length} attempts for 20 requests`)
        assert.ok(atMain >= 1 && atReserve >= 1)
        clock.advance(60 * second)
        const marker = newMarker()
        await gateway.ask({ format, isStream: false, marker })
        assert.ok(gateway.tried(marker).includes(reserve), 'a little later one finds out')
      } finally {
        await gateway.close()
      }
    })
}

test('both vendors without a usable channel are down', async () => {
  const gateway = await scenario({ ...failoverDefaults, clock: new ManualClock() })
  try {
    gateway.sandbox.faults.set('*', 'error=401')
    for (const format of formats) {
      assertOwnError(await gateway.ask({ format, isStream: false }), format, 502, 'refused')
      for (const model of models[format])
        assert.deepEqual(
          [places[format].main, places[format].reserve].map((name) => gateway.grade(name, model)),
          ['off', 'off'],
        )
    }
    assert.deepEqual(await gateway.health(), { code: 503, status: 'down' })
  } finally {
    await gateway.close()
  }
})

describe('the choice of channels', () => {
  const format: FormatName = 'messages'

  async function withGateway(
    options: Parameters<typeof scenario>[0],
    work: (gateway: Scenario) => Promise<void>,
  ): Promise<void> {
    const gateway = await scenario({ ...failoverDefaults, clock: new ManualClock(), ...options })
    try {
      await work(gateway)
    } finally {
      await gateway.close()
    }
  }

  async function tried(gateway: Scenario, isStream = false): Promise<readonly string[]> {
    const marker = newMarker()
    await gateway.ask({ format, isStream, marker })
    return gateway.tried(marker)
  }

  const threeRanks: CatalogueChange = {
    every: { check: 'none' },
    named: { 'alpha-third': { rank: 2 }, 'alpha-fourth': { rank: 3 } },
  }

  test('goes through the ranks in order, each channel once, up to the number of attempts', () =>
    withGateway({ channels: threeRanks }, async (gateway) => {
      gateway.sandbox.faults.set('*', 'error=502')
      assert.deepEqual(await tried(gateway), ['alpha-main', 'alpha-reserve', 'alpha-third'])
      gateway.sandbox.faults.set('alpha-third', '')
      gateway.resetHealth()
      assert.deepEqual(await tried(gateway, true), ['alpha-main', 'alpha-reserve', 'alpha-third'])
    }))

  test('max_attempts is kept: one means one', () =>
    withGateway({ channels: threeRanks, settings: { max_attempts: '1' } }, async (gateway) => {
      gateway.sandbox.faults.set('alpha-main', 'error=502')
      assert.deepEqual(await tried(gateway), ['alpha-main'])
    }))

  test('max_attempts is kept: with four, a fourth rank serves', () =>
    withGateway({ channels: threeRanks, settings: { max_attempts: '4' } }, async (gateway) => {
      for (const channel of ['alpha-main', 'alpha-reserve', 'alpha-third'])
        gateway.sandbox.faults.set(channel, 'error=502')
      const all = ['alpha-main', 'alpha-reserve', 'alpha-third', 'alpha-fourth']
      assert.deepEqual(await tried(gateway), all)
    }))

  test('a channel that the operator disabled is never tried, even when no other is left', () =>
    withGateway({}, async (gateway) => {
      await switchChannel(gateway.context, { channel: 'alpha-main', override: 'disabled' })
      await gateway.app.refresh()
      assert.deepEqual(await tried(gateway), ['alpha-reserve'])
      assert.deepEqual(await gateway.health(), { code: 200, status: 'degraded' })
      gateway.sandbox.faults.set('alpha-reserve', 'error=502')
      assert.deepEqual(await tried(gateway), ['alpha-reserve'])
      await switchChannel(gateway.context, { channel: 'alpha-reserve', override: 'disabled' })
      await gateway.app.refresh()
      const marker = newMarker()
      const answer = await gateway.ask({ format, isStream: false, marker })
      const error = assertOwnError(answer, format, 503, 'all disabled')
      assert.equal(error.type, 'overloaded_error')
      // Waiting does not help until the operator enables one.
      assert.equal(answer.headers['retry-after'], undefined)
      assert.deepEqual(gateway.tried(marker), [])
      assert.equal((await gateway.recorded(answer)).attemptCount, 0)

      gateway.sandbox.faults.clear()
      await switchChannel(gateway.context, { channel: 'alpha-main', override: 'enabled' })
      await gateway.app.refresh()
      assert.deepEqual(await tried(gateway), ['alpha-main'])
    }))

  test('a hand’s "off" outlasts checks and time, and its "on" forgets why health had it off', () => {
    const clock = new ManualClock()
    return withGateway({ clock, channels: {} }, async (gateway) => {
      gateway.sandbox.faults.set('alpha-main', 'error=401')
      assert.deepEqual(await tried(gateway), ['alpha-main', 'alpha-reserve'])
      await switchChannel(gateway.context, { channel: 'alpha-main', override: 'disabled' })
      await gateway.app.refresh()
      gateway.sandbox.faults.clear()
      gateway.sandbox.log.clear()
      for (let minute = 0; minute < 30; minute++) {
        clock.advance(60 * second)
        assert.deepEqual(await tried(gateway), ['alpha-reserve'])
      }
      assert.deepEqual(gateway.sandbox.log.forChannel('alpha-main'), [])
      await switchChannel(gateway.context, { channel: 'alpha-main', override: 'enabled' })
      await gateway.app.refresh()
      assert.deepEqual(await tried(gateway), ['alpha-main'])
    })
  })

  test('overflows to the next rank at a channel’s cap, and back when there is room', () => {
    const capped: CatalogueChange = {
      every: { check: 'none' },
      named: {
        'alpha-main': { max_concurrent: 2 },
        'alpha-reserve': { max_concurrent: 1 },
      },
    }
    return withGateway({ channels: capped }, async (gateway) => {
      const { faults } = gateway.sandbox
      faults.set('*', 'hold=cap@before_head')
      const held: Promise<unknown>[] = []
      for (const channel of ['alpha-main', 'alpha-main', 'alpha-reserve']) {
        const marker = newMarker()
        held.push(gateway.ask({ format, isStream: held.length === 1, marker }))
        await gateway.sandbox.log.waitFor((record) => record.marker === marker)
        assert.deepEqual(gateway.tried(marker), [channel])
      }
      const answer = await gateway.ask({ format, isStream: false, marker: 'none-left' })
      assertOwnError(answer, format, 503, 'every cap is reached')
      assert.ok(Number(answer.headers['retry-after']) >= 1)
      assert.deepEqual(gateway.tried('none-left'), [])
      faults.clear()
      faults.release('cap')
      await Promise.all(held)
      assert.deepEqual(await tried(gateway), ['alpha-main'])
    })
  })
})
