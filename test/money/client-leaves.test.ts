/**
 * Clients that leave before they have everything, at every event and in between. Goal: what was
 * delivered is never free, nothing is charged beyond what the contract allows, and the vendor is
 * read on for exactly the grace time. Both clocks stand still unless a test moves them: the
 * vendor's paces the events, the gateway's measures the grace.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ServedRecord } from '../../sandbox/served-record.ts'
import { hasEnd, hasTerminalEvent } from '../support/answers.ts'
import { ManualClock } from '../support/manual-clock.ts'
import {
  chargesOf,
  holdBound,
  only,
  type RecordedExchange,
  vendorPrice,
  whileChargesWait,
} from '../support/money.ts'
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
  onThisEngine,
} from '../support/requests.ts'
import { type Scenario, withScenario } from '../support/scenario.ts'
import { eventCount } from '../support/http-client.ts'

/** A word that every vocabulary has as one token, so that an estimate is close to the truth. */
const content = 'input=20; output=6; piece=the%20'
const maxTokens = 50
const graceMs = 5_000

/** A client that asks for the usage chunk sees every event, which these tests count by. */
function askOf(format: BodyFormat, sandbox: string, marker: string): Ask {
  return {
    format,
    isStream: true,
    sandbox: `${content}; ${sandbox}`,
    marker,
    maxTokens,
    includeUsage: true,
  }
}

interface Paced {
  readonly gateway: Scenario
  readonly gatewayClock: ManualClock
  /** Has the vendor send events of this exchange until so many are out, or all of them. */
  playTo(marker: string, count: number): Promise<void>
}

/** A gateway and a vendor on clocks of their own, for one piece of work that leaves clean books. */
function withPaced(grace: '0s' | '5s', work: (paced: Paced) => Promise<void>): Promise<void> {
  const gatewayClock = new ManualClock()
  const vendorClock = new ManualClock()
  const options = {
    clock: gatewayClock,
    sandbox: { clock: vendorClock },
    settings: { client_left_grace: grace },
  }
  return withScenario(options, (gateway) => {
    const playTo = async (marker: string, count: number): Promise<void> => {
      for (;;) {
        const [record] = gateway.sandbox.log.forMarker(marker)
        if (record !== undefined && (record.eventCount >= count || record.phase === 'closed'))
          return
        if (vendorClock.pendingCount > 0) vendorClock.advance(1)
        await new Promise<void>((resolve) => setImmediate(resolve))
      }
    }
    return work({ gateway, gatewayClock, playTo })
  })
}

/** How many events the answer has, the terminal one included. */
async function countEvents(gateway: Scenario, format: BodyFormat): Promise<number> {
  const account = await gateway.createAccount()
  const ask = askOf(format, '', `whole-${format}`)
  const answer = await sendAsk(gateway.url, account.key, ask)
  assert.ok(hasEnd(answer, ask))
  return eventCount(answer.body.toString())
}

function closed(gateway: Scenario, marker: string): Promise<ServedRecord> {
  return gateway.sandbox.log.waitFor(
    (record) => record.marker === marker && record.phase === 'closed',
  )
}

function assertEstimated(exchange: RecordedExchange, record: ServedRecord): void {
  assert.equal(exchange.ending, 'client_left')
  assert.ok(exchange.amountPicos > 0n, 'what was delivered is not free')
  assert.ok(exchange.amountPicos <= holdBound(record, maxTokens))
}

function assertFree(exchange: RecordedExchange): void {
  assert.equal(exchange.ending, 'client_left')
  assert.equal(exchange.amountPicos, 0n)
}

for (const format of onThisEngine(streamedFormats))
  describe(`a client of a ${format} stream that leaves`, () => {
    test('after any event is charged for what it got, where the gateway does not read on', async () => {
      await withPaced('0s', async ({ gateway, ...paced }) => {
        const total = await countEvents(gateway, format)
        let before = 0n
        for (let count = firstShown(format); count < total; count++) {
          const marker = `left-${format}-${count}`
          const account = await gateway.createAccount()
          const ask = askOf(format, `stall_event=${count}`, marker)
          const client = openAsk(gateway.url, account.key, ask)
          await paced.playTo(marker, count)
          await client.until((text) => eventCount(text) >= count)
          client.leave()
          const exchange = only(await gateway.ended(account, 1))
          const record = await closed(gateway, marker)
          assert.equal(record.closedBy, 'client', 'the vendor is not read on')
          assertEstimated(exchange, record)
          if (record.isUsageSent) {
            assert.equal(exchange.amountPicos, vendorPrice(record))
            assert.deepEqual(exchange.marks, [])
            continue
          }
          assert.deepEqual(exchange.marks, ['estimated'])
          assert.ok(exchange.amountPicos >= before, 'more of an answer never costs less')
          before = exchange.amountPicos
        }
      })
    })

    test("after any event is charged by the vendor's count where it comes within the grace period", async () => {
      await withPaced('5s', async ({ gateway, ...paced }) => {
        const total = await countEvents(gateway, format)
        let leaves = 0
        for (let count = firstShown(format); count < total; count++) {
          const marker = `counted-${format}-${count}`
          const account = await gateway.createAccount()
          const ask = askOf(format, 'event_delay_ms=1', marker)
          const client = openAsk(gateway.url, account.key, ask)
          await paced.playTo(marker, count)
          await client.until((text) => eventCount(text) >= count)
          client.leave()
          await gateway.passed('client_left', ++leaves)
          await paced.playTo(marker, total)
          const exchange = only(await gateway.ended(account, 1))
          const record = await closed(gateway, marker)
          assert.equal(exchange.ending, 'client_left')
          assert.equal(exchange.amountPicos, vendorPrice(record))
          assert.deepEqual(exchange.marks, [])
        }
      })
    })

    test('has its vendor read on for the grace period and not longer', async () => {
      await withPaced('5s', async ({ gateway, gatewayClock }) => {
        const account = await gateway.createAccount()
        const ask = askOf(format, 'stall_event=5', 'silent')
        const client = openAsk(gateway.url, account.key, ask)
        await client.until((text) => eventCount(text) >= 5)
        client.leave()
        await gateway.passed('client_left')
        gatewayClock.advance(graceMs - 1)
        assert.equal((await chargesOf(gateway.context.database, account.id)).size, 0)
        assert.equal(gateway.sandbox.log.forMarker('silent')[0]?.phase, 'received')
        gatewayClock.advance(200)
        const exchange = only(await gateway.ended(account, 1))
        assertEstimated(exchange, await closed(gateway, 'silent'))
        assert.deepEqual(exchange.marks, ['estimated'])
      })
    })

    test('is charged for what it got, and not for what the gateway read afterwards', async () => {
      const amounts: bigint[] = []
      for (const lastEvent of [5, 20])
        await withPaced('5s', async ({ gateway, gatewayClock, ...paced }) => {
          const account = await gateway.createAccount()
          const sandbox = `output=30; event_delay_ms=1; stall_event=${lastEvent}`
          const client = openAsk(gateway.url, account.key, askOf(format, sandbox, 'long'))
          await paced.playTo('long', 5)
          await client.until((text) => eventCount(text) >= 5)
          client.leave()
          await gateway.passed('client_left')
          await paced.playTo('long', lastEvent)
          gatewayClock.advance(graceMs + 200)
          const exchange = only(await gateway.ended(account, 1))
          assertEstimated(exchange, await closed(gateway, 'long'))
          amounts.push(exchange.amountPicos)
        })
      assert.equal(amounts[0], amounts[1])
    })

    test('is charged even if the vendor breaks off afterwards', async () => {
      for (const fault of ['cut_event=5', 'error_at=5', 'cut_event=5; cut_as=end']) {
        await withPaced('5s', async ({ gateway, ...paced }) => {
          const account = await gateway.createAccount()
          const ask = askOf(format, `event_delay_ms=1; ${fault}`, 'broken')
          const client = openAsk(gateway.url, account.key, ask)
          await paced.playTo('broken', 4)
          await client.until((text) => eventCount(text) >= 4)
          client.leave()
          await gateway.passed('client_left')
          await paced.playTo('broken', Infinity)
          const exchange = only(await gateway.ended(account, 1))
          assertEstimated(exchange, await closed(gateway, 'broken'))
          assert.deepEqual(exchange.marks, ['estimated'])
        })
      }
    })

    test('before the first event pays nothing where none comes within the grace period', async () => {
      for (const grace of ['0s', '5s'] as const) {
        await withPaced(grace, async ({ gateway, gatewayClock }) => {
          const account = await gateway.createAccount()
          const client = openAsk(gateway.url, account.key, askOf(format, 'hold=g@after_head', 'm'))
          await gateway.sandbox.faults.reached('g')
          client.leave()
          await gateway.passed('client_left')
          if (grace === '5s') gatewayClock.advance(graceMs + 200)
          const exchange = only(await gateway.ended(account, 1))
          assertFree(exchange)
          assert.ok(exchange.operatorCostPicos > 0n, 'what it may cost the operator is recorded')
          assert.equal((await closed(gateway, 'm')).closedBy, 'client')
          assert.equal((await chargesOf(gateway.context.database)).size, 0)
        })
      }
    })

    test('before the first event has one grace period, not another one after the first event', async () => {
      await withPaced('5s', async ({ gateway, gatewayClock }) => {
        const account = await gateway.createAccount()
        const ask = askOf(format, 'hold=g@after_head; stall_event=4', 'late')
        const client = openAsk(gateway.url, account.key, ask)
        await gateway.sandbox.faults.reached('g')
        client.leave()
        await gateway.passed('client_left')
        gatewayClock.advance(graceMs - 1_000)
        gateway.sandbox.faults.release('g')
        await gateway.passed('first_event')
        gatewayClock.advance(1_200)
        const exchange = only(await gateway.ended(account, 1))
        assert.equal(exchange.ending, 'client_left')
        assert.equal((await closed(gateway, 'late')).closedBy, 'client')
      })
    })

    test("while the charge is being stored is charged once, by the vendor's count", async () => {
      await withPaced('5s', async ({ gateway }) => {
        const account = await gateway.createAccount()
        const ask = askOf(format, '', 'booking')
        let client
        await whileChargesWait(gateway.context.database, async () => {
          client = openAsk(gateway.url, account.key, ask)
          await gateway.passed('charge_submitted')
          await client.until((text) => eventCount(text) >= 8)
          client.leave()
          await gateway.passed('client_left')
        })
        const exchange = only(await gateway.ended(account, 1))
        const record = await closed(gateway, 'booking')
        assert.equal(exchange.amountPicos, vendorPrice(record))
        assert.equal((await chargesOf(gateway.context.database)).size, 1)
      })
    })
  })

for (const format of onThisEngine(bodyFormats)) {
  describe(`a client that leaves while it waits for a whole ${format} answer`, () => {
    const waiting: Ask = { format, isStream: false, marker: 'm', maxTokens, sandbox: content }

    test('pays nothing where the gateway does not wait, or the vendor does not answer in time', async () => {
      for (const grace of ['0s', '5s'] as const)
        for (const point of ['before_head', 'mid']) {
          await withPaced(grace, async ({ gateway, gatewayClock }) => {
            const account = await gateway.createAccount()
            const sandbox = `${content}; hold=g@${point}`
            const client = openAsk(gateway.url, account.key, { ...waiting, sandbox })
            await gateway.sandbox.faults.reached('g')
            client.leave()
            await gateway.passed('client_left')
            if (grace === '5s') gatewayClock.advance(graceMs + 200)
            const exchange = only(await gateway.ended(account, 1))
            assertFree(exchange)
            assert.ok(exchange.operatorCostPicos > 0n)
            assert.equal((await closed(gateway, 'm')).closedBy, 'client')
          })
        }
    })

    test('pays nothing for the answer that comes within the grace period', async () => {
      await withPaced('5s', async ({ gateway }) => {
        const account = await gateway.createAccount()
        const sandbox = `${content}; hold=g@mid`
        const client = openAsk(gateway.url, account.key, { ...waiting, sandbox })
        await gateway.sandbox.faults.reached('g')
        client.leave()
        await gateway.passed('client_left')
        gateway.sandbox.faults.release('g')
        const exchange = only(await gateway.ended(account, 1))
        assertFree(exchange)
        assert.equal(exchange.operatorCostPicos, vendorPrice(await closed(gateway, 'm')))
      })
    })

    test('causes no attempt on a second channel', async () => {
      await withPaced('5s', async ({ gateway }) => {
        const account = await gateway.createAccount()
        const fault = { hold: 'g@before_head', reset: 'before_head' } as const
        gateway.sandbox.faults.set(places[format].main, fault)
        const client = openAsk(gateway.url, account.key, waiting)
        await gateway.sandbox.faults.reached('g')
        client.leave()
        await gateway.passed('client_left')
        gateway.sandbox.faults.release('g')
        const exchange = only(await gateway.ended(account, 1))
        assertFree(exchange)
        assert.equal(gateway.sandbox.log.forMarker('m').length, 1)
      })
    })
  })

  for (const isStream of formsOf(format))
    test(`no client gets the end of ${isStream ? 'a stream' : 'an answer'} before its charge is durable (${format})`, async () => {
      await withPaced('5s', async ({ gateway }) => {
        const account = await gateway.createAccount()
        const ask = { ...askOf(format, '', 'm'), isStream, includeUsage: false }
        let answer: Promise<{ text: string; isComplete: boolean }> | undefined
        await whileChargesWait(gateway.context.database, async () => {
          const client = openAsk(gateway.url, account.key, ask)
          answer = client.ended
          await gateway.passed('charge_submitted')
          // All six pieces of the text.
          if (isStream) await client.until((text) => text.split('"the "').length > 6)
          let seen = ''
          await client.until((text) => (seen = text) !== '' || !isStream)
          assert.ok(isStream ? !hasTerminalEvent(seen, format) : seen === '')
        })
        await gateway.passed('charge_durable')
        assert.equal((await answer)?.isComplete, true)
        const exchange = only(await gateway.ended(account, 1))
        assert.equal(exchange.ending, 'completed')
        assert.equal(exchange.amountPicos, vendorPrice(await closed(gateway, 'm')))
      })
    })
}
