/**
 * Clients that ask for reasoning and leave. Goal: what the vendor reasons is bought although it is not shown,
 * so the gateway reads on to the vendor's count, within bounds. It does not read on for other clients, nor
 * for those whose leaving is free. The gateway's clock stands still unless a test moves it.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { stringify, parse } from 'yaml'
import type { ServedRecord } from '../../sandbox/served-record.ts'
import { demoCatalogueWith } from '../support/catalogues.ts'
import { eventCount, type OpenAnswer } from '../support/http-client.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { exchangesOf, only, vendorPrice } from '../support/money.ts'
import { type Ask, type JsonFields, openAsk, type StreamedFormat } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { type Scenario, type ScenarioOptions, withScenario } from '../support/scenario.ts'

const graceMs = 5_000
const minuteMs = 60_000

/** How each format asks for reasoning. */
const asking: readonly (readonly [StreamedFormat, JsonFields])[] = [
  ['messages', { thinking: { type: 'enabled', budget_tokens: 2_000 } }],
  ['chat', { reasoning_effort: 'high' }],
  ['responses', { reasoning: { effort: 'high' } }],
]

interface Reading {
  readonly gateway: Scenario
  readonly clock: ManualClock
  readonly account: TestAccount
  /** Sends a request whose vendor stops in the middle until the gate `mid` opens. */
  readonly begin: (ask: Partial<Ask> & Pick<Ask, 'format'>) => Promise<OpenAnswer>
  readonly record: () => ServedRecord
}

function withReading(
  options: ScenarioOptions,
  work: (reading: Reading) => Promise<void>,
): Promise<void> {
  const clock = new ManualClock()
  return withScenario({ clock, ...options }, async (gateway) => {
    const account = await gateway.createAccount()
    await work({
      gateway,
      clock,
      account,
      async begin(ask) {
        const sandbox = 'input=20; output=30; piece=the%20; hold=mid@mid'
        const whole = { isStream: true, includeUsage: true, marker: 'm', sandbox, maxTokens: 100 }
        const client = openAsk(gateway.url, account.key, { ...whole, ...ask })
        await gateway.sandbox.faults.reached('mid')
        await client.until((text) => eventCount(text) >= 5)
        return client
      },
      record() {
        const [record] = gateway.sandbox.log.forMarker('m')
        assert.ok(record !== undefined)
        return record
      },
    })
  })
}

/** The client leaves, and the grace time passes. */
async function leave({ gateway, clock }: Reading, client: OpenAnswer): Promise<void> {
  client.leave()
  await gateway.passed('client_left')
  clock.advance(graceMs + 200)
}

for (const [format, more] of asking)
  describe(`a client of a ${format} stream that asks for reasoning and leaves`, () => {
    test('pays what the vendor counts, however long that takes', async () => {
      await withReading({}, async (reading) => {
        await leave(reading, await reading.begin({ format, more }))
        for (let minute = 0; minute < 5; minute++) reading.clock.advance(minuteMs / 4)
        assert.equal(reading.record().phase, 'received')
        reading.gateway.sandbox.faults.release('mid')
        const paid = only(await reading.gateway.ended(reading.account, 1))
        assert.deepEqual([paid.ending, paid.marks], ['client_left', []])
        assert.equal(paid.amountPicos, vendorPrice(reading.record()))
      })
    })

    test('pays what it got where the vendor falls silent, breaks off, or the deadline comes', async () => {
      const ends: readonly (readonly [string, (reading: Reading) => void])[] = [
        ['silence', ({ clock }) => clock.advance(11 * minuteMs)],
        ['break', ({ gateway }) => gateway.sandbox.faults.release('mid')],
        ['deadline', ({ clock }) => clock.advance(minuteMs)],
      ]
      for (const [name, end] of ends) {
        const settings = name === 'deadline' ? { request_deadline: '1m' } : {}
        await withReading({ settings }, async (reading) => {
          const cut =
            name === 'break' ? { sandbox: 'input=20; output=30; hold=mid@mid; cut=-300' } : {}
          await leave(reading, await reading.begin({ format, more, ...cut }))
          end(reading)
          const paid = only(await reading.gateway.ended(reading.account, 1))
          assert.deepEqual([paid.ending, paid.marks], ['client_left', ['estimated']], name)
          assert.ok(paid.amountPicos > 0n)
        })
      }
    })

    test('is not read on for where the gateway does not read on at all', async () => {
      await withReading({ settings: { client_left_grace: '0s' } }, async (reading) => {
        const client = await reading.begin({ format, more })
        client.leave()
        const paid = only(await reading.gateway.ended(reading.account, 1))
        assert.deepEqual([paid.ending, paid.marks], ['client_left', ['estimated']])
      })
    })

    test('is read on for only where it asks for reasoning', async () => {
      await withReading({}, async (reading) => {
        await leave(reading, await reading.begin({ format }))
        const paid = only(await reading.gateway.ended(reading.account, 1))
        assert.deepEqual([paid.ending, paid.marks], ['client_left', ['estimated']])
      })
    })

    test('before the first byte is read on for only where that is not free', async () => {
      await withReading({}, async ({ gateway, clock, account, record }) => {
        let count = 0
        const leaveEarly = async (marker: string): Promise<void> => {
          const sandbox = `input=20; output=30; hold=${marker}@before_head`
          // Of two only one is free.
          const maxTokens = 30_000
          const ask: Ask = { format, isStream: true, more, marker, sandbox, maxTokens }
          const client = openAsk(gateway.url, account.key, ask)
          await gateway.sandbox.faults.reached(marker)
          client.leave()
          await gateway.passed('client_left', ++count)
          clock.advance(graceMs + 200)
        }
        await leaveEarly('free')
        const free = only(await gateway.ended(account, 1))
        assert.deepEqual([free.amountPicos, free.marks], [0n, []])
        await leaveEarly('m')
        clock.advance(20_000)
        gateway.sandbox.faults.release('m')
        const [, paid] = await gateway.ended(account, 2)
        assert.deepEqual([paid?.ending, paid?.marks], ['client_left', ['not_free']])
        assert.equal(paid?.amountPicos, vendorPrice(record()))
      })
    })
  })

test('a model that thinks by itself is read on like one that is asked to', async () => {
  const catalogue = (url: string): string => {
    const base = parse(demoCatalogueWith({})(url)) as { models: Record<string, object> }
    const thinking = { ...base.models['chat-1'], thinks: true }
    return stringify({ ...base, models: { ...base.models, 'chat-1': thinking } })
  }
  await withReading({ catalogue }, async (reading) => {
    await leave(reading, await reading.begin({ format: 'chat' }))
    reading.gateway.sandbox.faults.release('mid')
    const paid = only(await reading.gateway.ended(reading.account, 1))
    assert.deepEqual([paid.ending, paid.marks], ['client_left', []])
    assert.equal(paid.amountPicos, vendorPrice(reading.record()))
  })
})

test('the drain time ends what is read on', async () => {
  await withReading({}, async (reading) => {
    await leave(reading, await reading.begin({ format: 'chat', more: { reasoning_effort: 'low' } }))
    // How long the store takes is no matter of the gateway's clock: the clock waits for the charge.
    const isOver = { charge: false, drain: false }
    void reading.gateway.passed('charge_durable').then(() => (isOver.charge = true))
    void reading.gateway.app.drain(graceMs).then(() => (isOver.drain = true))
    while (!isOver.charge || !isOver.drain) {
      reading.clock.advance(100)
      await new Promise<void>((resolve) => setImmediate(resolve))
    }
    const { context } = reading.gateway
    const paid = only(await exchangesOf(context.database, reading.account.id))
    assert.deepEqual([paid.ending, paid.marks], ['client_left', ['estimated']])
  })
})
