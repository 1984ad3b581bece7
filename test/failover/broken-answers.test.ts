/**
 * Answers that break rather than say no: connections closed and reset, redirects, wrong types,
 * bodies that are no answer, streams that end early, at every moment. Before the client has seen a
 * byte another channel serves and no client notices; after it the client gets an error. Never a mixture,
 * never a clean end on a cut, never two charges.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { FormatName } from '../../src/formats/format.ts'
import type { ServedRecord } from '../../sandbox/served-record.ts'
import type { WireAnswer } from '../support/http-client.ts'
import {
  assertBrokenOff,
  assertOwnError,
  assertWhole,
  hasTerminalEvent,
  namesOperator,
} from '../support/answers.ts'
import { vendorPrice } from '../support/money.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { firstShown, formats, places } from '../support/requests.ts'
import { failoverDefaults, type Scenario, scenario } from '../support/scenario.ts'
import { volume } from '../support/variants.ts'

/** Faults by the moment at which they strike; each is the sandbox's own words. */
const beforeTheHead: Readonly<Record<string, string>> = {
  'closes before a head': 'close=before_head',
  'resets before a head': 'reset=before_head',
  'redirects for good': 'redirect=http://127.0.0.1:9/elsewhere; status=301',
  'redirects with the method kept': 'redirect=/alpha-reserve/v1/messages; status=307',
  'answers with a page': 'not_format=html',
  'answers with nothing': 'not_format=empty',
  'answers with other JSON': 'not_format=json',
  'answers in the other format': 'not_format=other_format',
  'answers with what is no JSON': 'not_format=garbage',
  'answers under a type that is neither': 'content_type=text/plain',
  'answers in a coding that no one knows': 'header=content-encoding: compress',
  'answers without content': 'status=204; body=x',
}

const plainFaults: Readonly<Record<string, string>> = {
  ...beforeTheHead,
  'answers a plain request with a stream type': 'content_type=text/event-stream',
  'closes after the head': 'close=after_head',
  'resets after the head': 'reset=after_head',
  'closes in the middle of the body': 'cut=40',
  'resets in the middle of the body': 'cut=40; cut_as=reset',
  'closes one byte before the end': 'cut=-1',
  'sends half an answer with a length that agrees': 'truncated_json',
  'sends half an answer in chunks that end properly': 'cut=40; cut_as=end; framing=chunked',
  'sends half an answer that ends with the connection': 'cut=40; cut_as=end; framing=close',
}

const streamFaults: Readonly<Record<string, string>> = {
  ...beforeTheHead,
  'answers a stream with plain JSON': 'content_type=application/json',
  'closes after the head': 'close=after_head',
  'resets after the head': 'reset=after_head',
  'ends without an event': 'cut_event=0; cut_as=end',
  'ends without an event, by closing': 'cut_event=0; cut_as=end; framing=close',
  'ends after pings': 'pings=3; cut_event=3; cut_as=end',
  'closes after pings': 'pings=3; cut_event=3',
  'begins with more than a megabyte of pings': 'pings=200000',
  'breaks in the middle of the first event': 'cut=9; cut_as=end',
  'begins with an error': 'error_first=',
  'begins with pings and an error': 'pings=3; error_first=500',
  'begins with comments and an error': 'comments; error_first=503',
}

/** Begun streams: the client has seen events. */
const begunFaults = (shown: number): Readonly<Record<string, string>> => ({
  'closes behind what is shown first': `cut_event=${shown}`,
  'resets behind what is shown first': `cut_event=${shown}; cut_as=reset`,
  'ends behind what is shown first': `cut_event=${shown}; cut_as=end`,
  'closes in the middle': 'cut_event=4',
  'resets in the middle': 'cut_event=4; cut_as=reset',
  'ends in the middle': 'cut_event=4; cut_as=end',
  'ends in the middle by closing': 'cut_event=4; cut_as=end; framing=close',
  'breaks inside an event': 'output=20; cut=-700; cut_as=end',
  'leaves out the terminal event and ends by closing': 'terminal=missing; framing=close',
  'closes where its terminal event is due': 'terminal=missing; cut=-1',
  'tells an error behind what is shown first': `error_at=${shown}`,
  'tells an error in the middle': 'error_at=4',
  'tells that its credential is refused in the middle': 'error_at=4; event_error=401',
})

let gateway: Scenario
let markerCount = 0
before(async () => {
  gateway = await scenario(failoverDefaults)
})
after(() => gateway.close())

interface Faulty {
  readonly format: FormatName
  readonly isStream: boolean
  /** What the main channel does. */
  readonly main: string
  /** What the reserve does; nothing wrong unless given. */
  readonly reserve?: string
  /** Whether both channels have a kept-alive connection that served before; not unless told. */
  readonly isReused?: boolean
}

/** Leaves both channels with one idle connection each, or with none. */
async function prepareConnections(format: FormatName, isReused: boolean): Promise<void> {
  const { main, reserve } = places[format]
  const fault = isReused ? 'error=502' : 'close=after_head'
  gateway.sandbox.faults.set(main, fault)
  gateway.sandbox.faults.set(reserve, fault)
  await gateway.ask({ format, isStream: false })
}

async function askFaulty(faulty: Faulty): Promise<{ marker: string; answer: WireAnswer }> {
  const { format, isStream, main, reserve } = faulty
  const marker = `broken-${markerCount++}`
  if (main.includes('before_head')) await prepareConnections(format, faulty.isReused ?? false)
  gateway.resetHealth()
  gateway.sandbox.faults.clear()
  gateway.sandbox.faults.set(places[format].main, main)
  if (reserve !== undefined) gateway.sandbox.faults.set(places[format].reserve, reserve)
  await gateway.attempts()
  const answer = await gateway.ask({ format, isStream, marker })
  return { marker, answer }
}

for (const format of formats) {
  const { main, reserve, model } = places[format]
  for (const isStream of [false, true]) {
    const asked = isStream ? `a ${format} stream` : `a plain ${format} request`
    const faults = isStream ? streamFaults : plainFaults

    describe(`a channel that fails ${asked} before a byte has gone out`, () => {
      for (const [name, fault] of Object.entries(faults))
        test(`${name}: the reserve serves`, async () => {
          const { marker, answer } = await askFaulty({ format, isStream, main: fault })
          assert.deepEqual(gateway.tried(marker), [main, reserve])
          assertWhole(answer, await gateway.served(marker, reserve), name)
          const word = name === 'begins with an error' || name.endsWith('comments and an error')
          const mainWord = word && isStream ? throttleOr(format, name) : 'hard'
          assert.deepEqual(await gateway.attempts(), {
            [`${main} ${mainWord}`]: 1,
            [`${reserve} ok`]: 1,
          })
          assert.equal(gateway.grade(reserve, model), 'on')
          const { ending, attemptCount, chargeCount, channel } = await gateway.recorded(answer)
          assert.deepEqual(
            { ending, attemptCount, chargeCount, channel },
            { ending: 'completed', attemptCount: 2, chargeCount: 1, channel: reserve },
          )
        })
    })

    for (const type of ['', isStream ? 'Text/Event-Stream' : 'Application/JSON'])
      test(`${asked} is served under the type "${type}", for its bytes are of the format`, async () => {
        const fault = `content_type=${type}`
        const { marker, answer } = await askFaulty({ format, isStream, main: fault })
        assert.deepEqual(gateway.tried(marker), [main])
        assertWhole(answer, await gateway.served(marker, main), type)
        assert.deepEqual(await gateway.attempts(), { [`${main} ok`]: 1 })
      })

    describe(`every channel fails ${asked} before a byte has gone out`, () => {
      for (const [name, fault] of Object.entries(faults))
        test(`${name}: one honest error, no charge`, async () => {
          const { marker, answer } = await askFaulty({
            format,
            isStream,
            main: fault,
            reserve: fault,
          })
          assert.deepEqual(gateway.tried(marker), [main, reserve])
          const isOverload =
            name === 'begins with an error' || name.endsWith('comments and an error')
          const status = isStream && isOverload ? overloadStatus(format, name) : 502
          assertOwnError(answer, format, status, name)
          const { ending, attemptCount, chargeCount } = await gateway.recorded(answer)
          assert.deepEqual(
            { ending, attemptCount, chargeCount },
            { ending: 'failed', attemptCount: 2, chargeCount: 0 },
          )
        })
    })
  }

  describe(`a ${format} stream with its finish reason and without its terminal event`, () => {
    for (const framing of ['chunked', 'length'])
      test(`is served whole where it ends as announced, framing ${framing}`, async () => {
        const fault = `terminal=missing; framing=${framing}`
        const { marker, answer } = await askFaulty({ format, isStream: true, main: fault })
        assert.deepEqual(gateway.tried(marker), [main])
        const record = await gateway.served(marker, main)
        assert.ok(answer.isComplete)
        assert.equal(answer.text, record.responseBody?.toString())
        assert.ok(!hasTerminalEvent(answer.text, format))
        assert.deepEqual(await gateway.attempts(), { [`${main} ok`]: 1 })
        const { ending, amountPicos, chargeCount } = await gateway.recorded(answer)
        assert.deepEqual(
          { ending, amountPicos, chargeCount },
          { ending: 'completed', amountPicos: vendorPrice(record), chargeCount: 1 },
        )
      })
  })

  describe(`a channel that breaks a ${format} stream the client has begun to read`, () => {
    for (const [name, fault] of Object.entries(begunFaults(firstShown(format))))
      test(`${name}: the client gets an error event, and no other channel is tried`, async () => {
        const { marker, answer } = await askFaulty({ format, isStream: true, main: fault })
        assert.deepEqual(gateway.tried(marker), [main])
        assertBrokenOff(answer, await gateway.served(marker, main), format, name)
        const word = name.includes('credential')
          ? 'config'
          : fault.includes('error_at')
            ? 'throttle'
            : 'broken'
        assert.deepEqual(await gateway.attempts(), { [`${main} ${word}`]: 1 })
        const { ending, attemptCount, chargeCount, channel } = await gateway.recorded(answer)
        assert.deepEqual(
          { ending, attemptCount, chargeCount, channel },
          { ending: 'upstream_cut', attemptCount: 1, chargeCount: 0, channel: main },
        )
      })
  })
}

/** An overload told as the first event rests the channel. */
function throttleOr(format: FormatName, name: string): string {
  if (name === 'begins with an error') return 'throttle'
  // A plain 503 is an overload in the chat vendor's words only.
  return format === 'chat' ? 'throttle' : 'hard'
}

function overloadStatus(format: FormatName, name: string): number {
  return throttleOr(format, name) === 'throttle' ? 503 : 502
}

describe('a kept-alive connection that dies under the request', () => {
  for (const format of formats)
    for (const isStream of [false, true])
      for (const how of ['close', 'reset']) {
        const { main, reserve, model } = places[format]
        const ask = { format, isStream, main: `${how}=before_head`, isReused: true }
        const asked = isStream ? `a ${format} stream` : `a plain ${format} request`
        const name = `${asked}, connection ${how === 'close' ? 'closed' : 'reset'}`
        test(`${name}: repeats on the same channel, and counts no failure`, async () => {
          const marker = `stale-${markerCount++}`
          await prepareConnections(format, true)
          gateway.resetHealth()
          gateway.sandbox.faults.clear()
          gateway.sandbox.faults.set(main, [ask.main])
          await gateway.attempts()
          const answer = await gateway.ask({ format, isStream, marker })
          const [first, second] = gateway.sandbox.log.forMarker(marker)
          assert.ok(first !== undefined && second !== undefined)
          assert.deepEqual(gateway.tried(marker), [main, main])
          await gateway.sandbox.log.waitFor((one) => one === second && one.phase === 'closed')
          assertWhole(answer, second, name)
          assert.deepEqual(await gateway.attempts(), { [`${main} nobody`]: 1, [`${main} ok`]: 1 })
          assert.equal(gateway.grade(main, model), 'on')
          assert.equal((await gateway.recorded(answer)).chargeCount, 1)
        })

        test(`${name}, and the next one too: the reserve serves`, async () => {
          const { marker, answer } = await askFaulty(ask)
          assert.deepEqual(gateway.tried(marker), [main, main, reserve])
          assertWhole(answer, await gateway.served(marker, reserve), name)
          assert.deepEqual(await gateway.attempts(), {
            [`${main} hard`]: 1,
            [`${main} nobody`]: 1,
            [`${reserve} ok`]: 1,
          })
        })

        test(`${name} on both channels: repeated on each, within the attempts there are`, async () => {
          const marker = `stale-${markerCount++}`
          await prepareConnections(format, true)
          gateway.resetHealth()
          gateway.sandbox.faults.clear()
          gateway.sandbox.faults.set(main, ask.main)
          gateway.sandbox.faults.set(reserve, [ask.main])
          await gateway.attempts()
          const answer = await gateway.ask({ format, isStream, marker })
          assert.deepEqual(gateway.tried(marker), [main, main, reserve, reserve])
          const records = gateway.sandbox.log.forMarker(marker)
          const last = records.at(-1)
          assert.ok(last !== undefined)
          await gateway.sandbox.log.waitFor((one) => one === last && one.phase === 'closed')
          assertWhole(answer, last, name)
          assert.deepEqual(await gateway.attempts(), {
            [`${main} hard`]: 1,
            [`${main} nobody`]: 1,
            [`${reserve} nobody`]: 1,
            [`${reserve} ok`]: 1,
          })
          assert.equal((await gateway.recorded(answer)).chargeCount, 1)
        })
      }
})

for (const format of formats)
  test(`a kept-alive ${format} connection that dies over long work is the channel's failure, and not repeated there`, async () => {
    const clock = new ManualClock()
    const waiting = await scenario({ ...failoverDefaults, clock })
    try {
      const { main, reserve } = places[format]
      await waiting.ask({ format, isStream: false })
      await waiting.attempts()
      waiting.sandbox.faults.set(main, 'hold=work@before_head; reset=before_head')
      const marker = `worked-${markerCount++}`
      const asked = waiting.ask({ format, isStream: false, marker })
      await waiting.sandbox.faults.reached('work')
      clock.advance(8_000)
      waiting.sandbox.faults.release('work')
      const answer = await asked
      assert.deepEqual(waiting.tried(marker), [main, reserve])
      assertWhole(answer, await waiting.served(marker, reserve), 'the reserve')
      assert.deepEqual(await waiting.attempts(), { [`${main} hard`]: 1, [`${reserve} ok`]: 1 })
    } finally {
      await waiting.close()
    }
  })

describe('an answer cut at any byte', () => {
  const short = 'output=3; piece=the%20'
  for (const format of formats)
    for (const [how, cutAs] of [
      ['closed', 'destroy'],
      ['ended', 'end'],
    ] as const) {
      test(`a ${format} stream ${how} there is whole, or ends with an error event, or comes from another channel`, async () => {
        const whole = await wholeLength(format, true)
        const seen = new Set<string>()
        for (const cut of somePlaces(whole)) {
          const fault = `${short}; cut=${cut}; cut_as=${cutAs}`
          seen.add(await assertHonest({ format, isStream: true, main: fault }, cut))
        }
        assert.deepEqual([...seen].sort(), ['broken off', 'from the reserve', 'whole'])
      })

      test(`a plain ${format} answer ${how} there is another channel's`, async () => {
        const whole = await wholeLength(format, false)
        for (const cut of somePlaces(whole - 1)) {
          const fault = `${short}; cut=${cut}; cut_as=${cutAs}; framing=chunked`
          const outcome = await assertHonest({ format, isStream: false, main: fault }, cut)
          assert.equal(outcome, 'from the reserve', `cut at ${cut}`)
        }
      })
    }

  async function wholeLength(format: FormatName, isStream: boolean): Promise<number> {
    const { marker } = await askFaulty({ format, isStream, main: short })
    const { responseBytes } = await gateway.served(marker, places[format].main)
    assert.ok(responseBytes > 100)
    return responseBytes
  }

  /** Spread over all of it, and every byte near its end. */
  function somePlaces(total: number): number[] {
    const count = volume({ few: 8, all: 24 })
    const spread = Array.from({ length: count }, (_, index) => Math.floor((total * index) / count))
    const end = Array.from({ length: volume({ few: 4, all: 12 }) }, (_, index) => total - index)
    return [...new Set([...spread, ...end])].filter((place) => place >= 0)
  }

  async function assertHonest(faulty: Faulty, cut: number): Promise<string> {
    const { marker, answer } = await askFaulty(faulty)
    const { format } = faulty
    const { main, reserve } = places[format]
    const what = `cut at ${cut}`
    const { chargeCount } = await gateway.recorded(answer)
    const tried = gateway.tried(marker)
    if (tried.length === 2) {
      assertWhole(answer, await gateway.served(marker, reserve), what)
      assert.equal(chargeCount, 1, what)
      return 'from the reserve'
    }
    assert.deepEqual(tried, [main], what)
    const record = await gateway.served(marker, main)
    if (!answer.isComplete) {
      assertBrokenOff(answer, record, format, what)
      assert.equal(chargeCount, 0, what)
      return 'broken off'
    }
    assertWholeStream(answer, record, what)
    assert.equal(chargeCount, 1, what)
    return 'whole'
  }

  /** Cut, but behind its finish reason or its terminal event: nothing of the answer is missing. */
  function assertWholeStream(answer: WireAnswer, record: ServedRecord, what: string): void {
    const text = answer.body.toString()
    assert.equal(text, record.responseBody?.toString(), what)
    assert.match(
      text,
      record.format === 'chat' ? /_reason":"[^}]+\}.*\n\n/ : /_reason":"[^]*\n\n/,
      what,
    )
  }
})

describe('an error as the first event', () => {
  interface FirstError {
    readonly format: FormatName
    readonly error: string
    readonly word: string
    /** What the client gets where every channel begins so. */
    readonly status: number
  }
  const firstErrors: readonly FirstError[] = [
    { format: 'messages', error: '401', word: 'config', status: 502 },
    { format: 'messages', error: '402', word: 'no_credit', status: 502 },
    { format: 'messages', error: '403', word: 'config', status: 502 },
    { format: 'messages', error: '400_credit', word: 'no_credit', status: 502 },
    { format: 'messages', error: '404', word: 'model_missing', status: 404 },
    { format: 'messages', error: '429', word: 'throttle', status: 429 },
    {
      format: 'messages',
      error: '429_enforced_spend_limit_reached',
      word: 'no_credit',
      status: 502,
    },
    { format: 'messages', error: '500', word: 'hard', status: 502 },
    { format: 'messages', error: '504', word: 'hard', status: 502 },
    { format: 'messages', error: '529', word: 'throttle', status: 503 },
    { format: 'chat', error: '401', word: 'config', status: 502 },
    { format: 'chat', error: '404', word: 'model_missing', status: 404 },
    { format: 'chat', error: '429', word: 'throttle', status: 429 },
    { format: 'chat', error: '429_insufficient_quota', word: 'no_credit', status: 502 },
    { format: 'chat', error: '500', word: 'hard', status: 502 },
    { format: 'chat', error: '503', word: 'throttle', status: 503 },
  ]
  for (const { format, error, word, status } of firstErrors)
    for (const pings of [0, 2]) {
      const { main, reserve } = places[format]
      const fault = `error_first=${error}; pings=${pings}`
      test(`${format} ${error} behind ${pings} pings moves to the reserve`, async () => {
        const { marker, answer } = await askFaulty({ format, isStream: true, main: fault })
        assertWhole(answer, await gateway.served(marker, reserve), fault)
        assert.deepEqual(await gateway.attempts(), { [`${main} ${word}`]: 1, [`${reserve} ok`]: 1 })
      })
      test(`${format} ${error} behind ${pings} pings on every channel is answered with a status`, async () => {
        const { marker, answer } = await askFaulty({
          format,
          isStream: true,
          main: fault,
          reserve: fault,
        })
        assert.deepEqual(gateway.tried(marker), [main, reserve])
        assertOwnError(answer, format, status, fault)
      })
    }

  for (const format of formats)
    test(`a ${format} error caused by the request is returned after one attempt`, async () => {
      const fault = 'error_first=400; pings=1'
      const { marker, answer } = await askFaulty({ format, isStream: true, main: fault })
      const { main, model } = places[format]
      assert.deepEqual(gateway.tried(marker), [main])
      assert.equal(answer.status, 400)
      assert.ok(answer.isComplete)
      assert.match(answer.body.toString(), /imulated (fault|invalid value)/)
      assert.ok(!namesOperator(answer.body.toString()))
      assert.deepEqual(await gateway.attempts(), { [`${main} client`]: 1 })
      assert.equal(gateway.grade(main, model), 'on')
    })
})
