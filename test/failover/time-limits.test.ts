/**
 * Vendors that are silent: each limit strikes at its moment and not before, whatever has come by
 * then. Time stands still unless a test moves it; only connecting is measured by the system's own
 * timers, so those limits are set small.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createServer as createTlsServer } from 'node:https'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { FormatName } from '../../src/formats/format.ts'
import { makeCertificate } from '../support/certificate.ts'
import type { WireAnswer } from '../support/http-client.ts'
import { assertBrokenOff, assertOwnError, assertWhole } from '../support/answers.ts'

import { ManualClock } from '../support/manual-clock.ts'
import { type Ask, firstShown, places, streamedFormats, alike } from '../support/requests.ts'
import { failoverDefaults, type Scenario, scenario } from '../support/scenario.ts'

const second = 1_000
const minute = 60 * second
/** The watchdog looks ten times a second. */
const tickMs = 100

describe('a silent vendor', () => {
  const clock = new ManualClock()
  let gateway: Scenario
  let count = 0
  before(async () => {
    gateway = await scenario({
      ...failoverDefaults,
      clock,
      settings: {
        first_event_timeout: '2m',
        answer_timeout: '10m',
        idle_timeout: '90s',
        request_deadline: '15m',
      },
    })
  })
  after(() => gateway.close())

  /** Asks while the main channel falls silent as told; resolves when it has. */
  async function fallSilent(
    ask: Pick<Ask, 'format' | 'isStream'>,
    fault: string,
    isSilent: (marker: string) => Promise<unknown>,
  ): Promise<{ marker: string; answer: Promise<WireAnswer>; begun: Promise<void> }> {
    const marker = `silent-${count++}`
    const begun = Promise.withResolvers<void>()
    gateway.resetHealth()
    gateway.sandbox.faults.clear()
    gateway.sandbox.faults.set(places[ask.format].main, fault.replace('GATE', marker))
    await gateway.attempts()
    const answer = gateway.ask({
      ...ask,
      marker,
      onChunk() {
        begun.resolve()
        return undefined
      },
    })
    await isSilent(marker)
    return { marker, answer, begun: begun.promise }
  }

  const atGate = (marker: string): Promise<void> => gateway.sandbox.faults.reached(marker)

  /** The main channel's record shows that this many events have been handed over. */
  function afterEvents(events: number): (marker: string) => Promise<unknown> {
    return (marker) =>
      gateway.sandbox.log.waitFor(
        (record) => record.marker === marker && record.eventCount >= events,
      )
  }

  for (const format of alike(streamedFormats)) {
    const { main, reserve } = places[format]
    const silences: readonly [string, string, (marker: string) => Promise<unknown>, number][] = [
      ['before the head', 'hold=GATE@before_head', atGate, 30],
    ]
    for (const [moment, fault, isSilent, seconds] of silences)
      test(`${moment} of a ${format} stream loses it after ${seconds} s while nothing is known of the model`, async () => {
        const ask = { format, isStream: true }
        const { marker, answer } = await fallSilent(ask, fault, isSilent)
        clock.advance(seconds * second - tickMs)
        assert.deepEqual(gateway.tried(marker), [main])
        clock.advance(2 * tickMs)
        assertWhole(await answer, await gateway.served(marker, reserve), moment)
        assert.deepEqual(gateway.tried(marker), [main, reserve])
        assert.deepEqual(await gateway.attempts(), { [`${main} hard`]: 1, [`${reserve} ok`]: 1 })
      })

    for (const [moment, fault, isSilent] of [
      ['before the head', 'hold=GATE@before_head', atGate],
      ['in the middle', 'hold=GATE@mid', atGate],
    ] as const)
      test(`${moment} of a plain ${format} answer loses it at the answer limit`, async () => {
        const ask = { format, isStream: false }
        const { marker, answer } = await fallSilent(ask, fault, isSilent)
        clock.advance(10 * minute - tickMs)
        assert.deepEqual(gateway.tried(marker), [main])
        clock.advance(2 * tickMs)
        assertWhole(await answer, await gateway.served(marker, reserve), moment)
        assert.deepEqual(await gateway.attempts(), { [`${main} hard`]: 1, [`${reserve} ok`]: 1 })
      })

    test(`in the middle of a ${format} stream ends it at the idle limit, with an error event`, async () => {
      const ask = { format, isStream: true }
      const events = firstShown(format) + 3
      const fault = `stall_event=${events}`
      const { marker, answer, begun } = await fallSilent(ask, fault, afterEvents(events))
      await begun
      clock.advance(90 * second + 2 * tickMs)
      assertBrokenOff(await answer, await gateway.served(marker, main), format, 'idle')
      assert.deepEqual(await gateway.attempts(), { [`${main} broken`]: 1 })
      const { ending, chargeCount } = await gateway.recorded(await answer)
      assert.deepEqual([ending, chargeCount], ['upstream_cut', 0])
    })

    test(`events keep a begun ${format} stream alive, and the deadline ends even that`, async () => {
      // Each event waits for a gate of the vendor's own clock: the stream never falls silent.
      const marker = `pinging-${count++}`
      gateway.resetHealth()
      gateway.sandbox.faults.clear()
      gateway.sandbox.faults.set(main, 'output=400; event_delay_ms=1')
      let chunks = 0
      const answer = await gateway.ask({
        format,
        isStream: true,
        marker,
        onChunk() {
          // Every chunk comes within the idle limit; the sixteenth minute is past the deadline.
          if (chunks++ < 32) clock.advance(30 * second)
          return undefined
        },
      })
      assert.ok(chunks > 20, `${chunks} chunks`)
      assertBrokenOff(answer, await gateway.served(marker, main), format, 'deadline')
      assert.match(answer.body.toString(), /longer than one request may take/)
      // The vendor kept its limits: it was the gateway that ended the answer, and what had come of
      // it by then is charged, or a slow reader would have it for nothing.
      assert.deepEqual(await gateway.attempts(), { [`${main} nobody`]: 1 })
      const { ending, chargeCount } = await gateway.recorded(answer)
      assert.deepEqual([ending, chargeCount], ['gateway_cut', 1])
    })
  }

  test('every channel silent: the deadline ends the exchange with a 504', async () => {
    const format: FormatName = 'messages'
    const marker = `deadline-${count++}`
    gateway.resetHealth()
    gateway.sandbox.faults.set('alpha-main', `hold=${marker}-main@before_head`)
    gateway.sandbox.faults.set('alpha-reserve', `hold=${marker}-reserve@before_head`)
    await gateway.attempts()
    const answer = gateway.ask({ format, isStream: false, marker })
    await gateway.sandbox.faults.reached(`${marker}-main`)
    clock.advance(10 * minute + tickMs)
    await gateway.sandbox.faults.reached(`${marker}-reserve`)
    // The reserve has a limit of its own, but the exchange's deadline comes sooner.
    clock.advance(5 * minute - tickMs)
    clock.advance(2 * tickMs)
    const error = assertOwnError(await answer, format, 504, 'deadline')
    assert.equal(error.type, 'timeout_error')
    assert.equal((await gateway.recorded(await answer)).attemptCount, 2)
    // The main channel had used up its own limit, the reserve had not.
    assert.deepEqual(await gateway.attempts(), { 'alpha-main hard': 1, 'alpha-reserve nobody': 1 })
  })
})

describe('a request deadline shorter than every limit of a channel', () => {
  for (const format of alike(streamedFormats))
    for (const isStream of [false, true]) {
      const asked = isStream ? 'stream' : 'plain request'
      test(`counts no failure for a ${format} ${asked}, however often it strikes`, async () => {
        const clock = new ManualClock()
        const gateway = await scenario({
          ...failoverDefaults,
          clock,
          settings: { request_deadline: '30s' },
        })
        try {
          const { main, model } = places[format]
          const untouched = gateway.app.health.state(main, model)
          for (let index = 0; index < 6; index++) {
            const gate = `late-${index}`
            gateway.sandbox.faults.set(main, `hold=${gate}@after_head`)
            const answer = gateway.ask({ format, isStream, marker: gate })
            await gateway.sandbox.faults.reached(gate)
            clock.advance(30 * second + tickMs)
            assertOwnError(await answer, format, 504, gate)
            assert.deepEqual(gateway.tried(gate), [main])
            assert.equal((await gateway.recorded(await answer)).chargeCount, 0)
          }
          assert.deepEqual(await gateway.attempts(), { [`${main} nobody`]: 6 })
          assert.equal(gateway.app.health.state(main, model), untouched)
        } finally {
          await gateway.close()
        }
      })
    }
})

describe('a vendor that cannot be reached', () => {
  interface Unreachable {
    readonly url: string
    close(): Promise<void>
  }

  async function listen(server: Server, scheme: string): Promise<Unreachable> {
    const sockets = new Set<Socket>()
    server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.on('error', () => undefined)
    })
    await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve))
    const { port } = server.address() as AddressInfo
    return {
      url: `${scheme}://127.0.0.1:${port}`,
      close: () =>
        new Promise((resolve) => {
          server.close(() => resolve())
          for (const socket of sockets) socket.destroy()
        }),
    }
  }

  async function withMainAt(
    unreachable: Unreachable,
    work: (gateway: Scenario) => Promise<void>,
  ): Promise<void> {
    const gateway = await scenario({
      ...failoverDefaults,
      settings: { connect_timeout: '1s' },
      channels: {
        every: { check: 'none' },
        named: { 'alpha-main': { url: unreachable.url } },
      },
    })
    try {
      await work(gateway)
    } finally {
      await gateway.close()
      await unreachable.close()
    }
  }

  async function assertReserveServes(gateway: Scenario, word: string): Promise<void> {
    for (const isStream of [false, true]) {
      gateway.resetHealth()
      await gateway.attempts()
      const marker = `unreachable-${isStream}`
      const answer = await gateway.ask({ format: 'messages', isStream, marker })
      assertWhole(answer, await gateway.served(marker, 'alpha-reserve'), word)
      assert.deepEqual(await gateway.attempts(), {
        [`alpha-main ${word}`]: 1,
        'alpha-reserve ok': 1,
      })
      assert.equal((await gateway.recorded(answer)).attemptCount, 2)
    }
  }

  test('by the connect limit, because the handshake gets no answer', async () => {
    const silent = createServer()
    await withMainAt(await listen(silent, 'https'), (gateway) =>
      assertReserveServes(gateway, 'hard'),
    )
  })

  test('because the connection is refused', async () => {
    const closed = await listen(createServer(), 'http')
    await closed.close()
    await withMainAt({ url: closed.url, close: () => Promise.resolve() }, (gateway) =>
      assertReserveServes(gateway, 'hard'),
    )
  })

  test('because every connection is reset at once', async () => {
    const resetting = createServer((socket) => socket.resetAndDestroy())
    await withMainAt(await listen(resetting, 'http'), (gateway) =>
      assertReserveServes(gateway, 'hard'),
    )
  })

  test('because what answers does not speak HTTP', async () => {
    const babbling = createServer((socket) => socket.end('220 mail.example ESMTP\r\n'))
    await withMainAt(await listen(babbling, 'http'), (gateway) =>
      assertReserveServes(gateway, 'hard'),
    )
  })

  test('because its certificate cannot be trusted: that waits for the operator', async () => {
    const untrusted = createTlsServer(makeCertificate('localhost'))
    await withMainAt(await listen(untrusted, 'https'), async (gateway) => {
      await assertReserveServes(gateway, 'certificate_refused')
      assert.equal(gateway.grade('alpha-main', 'large-1'), 'off')
      assert.equal(gateway.grade('alpha-main', 'small-1'), 'off')
    })
  })

  test('and neither can any other: a 502 that names no address', async () => {
    const closed = await listen(createServer(), 'http')
    await closed.close()
    const gateway = await scenario({
      ...failoverDefaults,
      channels: { every: { check: 'none', url: closed.url } },
    })
    try {
      for (const format of alike(streamedFormats)) {
        const answer = await gateway.ask({ format, isStream: true })
        assertOwnError(answer, format, 502, 'no server')
        assert.equal((await gateway.recorded(answer)).chargeCount, 0)
      }
    } finally {
      await gateway.close()
    }
  })
})
