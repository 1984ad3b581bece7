/**
 * Vendors that break off, at every event and in every way. Goal: the client gets an error and
 * never a clean end; no account pays for what the vendor broke, unless the operator says that what
 * was delivered is charged.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hasEnd, hasTerminalEvent, isErrorEvent } from '../support/answers.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { chargesOf, holdBound, only, vendorPrice } from '../support/money.ts'
import {
  type Ask,
  bodyFormats,
  type BodyFormat,
  firstShown,
  formsOf,
  openAsk,
  places,
  sendAsk,
  streamedFormats,
  alike,
} from '../support/requests.ts'
import { type Scenario, withScenario } from '../support/scenario.ts'
import { eventCount } from '../support/http-client.ts'

const content = 'input=20; output=4; piece=the%20'
const maxTokens = 50

function askOf(format: BodyFormat, sandbox: string, marker: string): Ask {
  const directives = `${content}; ${sandbox}`
  return { format, isStream: true, sandbox: directives, marker, maxTokens, includeUsage: true }
}

/** Breaks after each event from the first to the last but one, or to the one before the finish reason. */
async function eachBreak(
  gateway: Scenario,
  format: BodyFormat,
  endsCleanly: boolean,
  check: (count: number) => Promise<void>,
): Promise<void> {
  const account = await gateway.createAccount()
  const whole = askOf(format, '', 'whole')
  const answer = await sendAsk(gateway.url, account.key, whole)
  assert.ok(hasEnd(answer, whole))
  const total = eventCount(answer.body.toString())
  const frames = answer.body.toString().split('\n\n')
  const finish = frames.findIndex((frame) => /"(?:finish|stop)_reason": ?"/.test(frame))
  // A response has no finish reason before its last event.
  assert.ok(total > 6 && (finish > 3 || format === 'responses'))
  // A body that ends cleanly behind its finish reason is complete.
  const until = endsCleanly && finish > 0 ? finish : total - 1
  for (let count = firstShown(format); count <= until; count++) await check(count)
}

/** The last thing told is an error, once, and the connection was cut behind it. */
function assertBrokenOff(answer: { body: Buffer; isComplete: boolean }, format: BodyFormat): void {
  const text = answer.body.toString()
  assert.equal(answer.isComplete, false, 'the end is not clean')
  assert.ok(!hasTerminalEvent(text, format))
  const frames = text.split('\n\n').filter((frame) => frame !== '')
  const errors = frames.filter((frame) => isErrorEvent(frame, format))
  assert.equal(errors.length, 1, text)
  assert.equal(frames.at(-1), errors[0])
}

for (const format of alike(streamedFormats))
  for (const [name, fault] of [
    ['closes the connection', (count: number) => `cut_event=${count}; cut_as=destroy`],
    ['resets it', (count: number) => `cut_event=${count}; cut_as=reset`],
    ['ends the body as if all were said', (count: number) => `cut_event=${count}; cut_as=end`],
    ['sends an error event', (count: number) => `error_at=${count}`],
  ] as const)
    describe(`a vendor that ${name} in a ${format} stream`, () => {
      test('costs the client nothing, after any event', async () => {
        await withScenario({}, async (gateway) => {
          let costBefore = 0n
          await eachBreak(gateway, format, name.startsWith('ends'), async (count) => {
            const account = await gateway.createAccount()
            const ask = askOf(format, fault(count), `cut-${count}`)
            const answer = await sendAsk(gateway.url, account.key, ask)
            assert.equal(answer.status, 200)
            assertBrokenOff(answer, format)
            const exchange = only(await gateway.ended(account, 1))
            assert.equal(exchange.ending, 'upstream_cut')
            assert.equal(exchange.amountPicos, 0n)
            assert.equal((await chargesOf(gateway.context.database, account.id)).size, 0)
            const [record] = gateway.sandbox.log.forMarker(`cut-${count}`)
            assert.ok(record !== undefined)
            const cost = exchange.operatorCostPicos
            assert.ok(cost > 0n && cost <= holdBound(record, maxTokens))
            if (record.isUsageSent) return
            assert.ok(cost >= costBefore, 'more of an answer never costs less')
            costBefore = cost
          })
        })
      })

      test('costs the client what was delivered where the setting says so', async () => {
        await withScenario({ settings: { upstream_cut: 'delivered' } }, async (gateway) => {
          await eachBreak(gateway, format, name.startsWith('ends'), async (count) => {
            const account = await gateway.createAccount()
            const marker = `cut-${count}`
            const ask = askOf(format, fault(count), marker)
            const answer = await sendAsk(gateway.url, account.key, ask)
            assertBrokenOff(answer, format)
            const exchange = only(await gateway.ended(account, 1))
            assert.equal(exchange.ending, 'upstream_cut')
            const [record] = gateway.sandbox.log.forMarker(marker)
            assert.ok(record !== undefined)
            const hasOutput = answer.body.toString().includes('"the "')
            assert.equal(exchange.amountPicos > 0n, hasOutput)
            assert.ok(exchange.amountPicos <= holdBound(record, maxTokens))
            if (record.isUsageSent) assert.equal(exchange.amountPicos, vendorPrice(record))
            else assert.deepEqual(exchange.marks, hasOutput ? ['estimated'] : [])
          })
        })
      })
    })

for (const format of alike(bodyFormats))
  test(`fails over to the reserve when the vendor breaks off before its first ${format} event`, async () => {
    await withScenario({}, async (gateway) => {
      for (const isStream of formsOf(format)) {
        const account = await gateway.createAccount()
        gateway.sandbox.faults.set(places[format].main, isStream ? 'cut_event=0' : 'cut=10')
        const ask: Ask = { ...askOf(format, '', `over-${isStream}`), isStream, includeUsage: false }
        assert.ok(hasEnd(await sendAsk(gateway.url, account.key, ask), ask))
        const exchange = only(await gateway.ended(account, 1))
        const [failed, served] = gateway.sandbox.log.forMarker(`over-${isStream}`)
        assert.ok(failed !== undefined && served !== undefined)
        assert.equal(exchange.attemptCount, 2)
        assert.equal(exchange.amountPicos, vendorPrice(served), 'charged once, for what was served')
        assert.ok(exchange.operatorCostPicos > 0n)
        assert.equal((await chargesOf(gateway.context.database, account.id)).size, 1)
      }
    })
  })

for (const format of alike(streamedFormats))
  test(`cuts off a vendor that falls silent in a ${format} stream, and charges nothing`, async () => {
    const clock = new ManualClock()
    await withScenario({ clock, settings: { idle_timeout: '2m' } }, async (gateway) => {
      const account = await gateway.createAccount()
      const client = openAsk(gateway.url, account.key, askOf(format, 'stall_event=4', 'silent'))
      await client.until((text) => eventCount(text) >= 4)
      clock.advance(121_000)
      const { text, isComplete } = await client.ended
      assertBrokenOff({ body: Buffer.from(text), isComplete }, format)
      const exchange = only(await gateway.ended(account, 1))
      assert.equal(exchange.ending, 'upstream_cut')
      assert.equal(exchange.amountPicos, 0n)
      const closed = await gateway.sandbox.log.waitFor(({ phase }) => phase === 'closed')
      assert.equal(closed.closedBy, 'client', 'the vendor is let go')
    })
  })
