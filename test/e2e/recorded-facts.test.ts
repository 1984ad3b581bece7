/**
 * The record of an exchange tells how it went: each attempt with its class and times, the first event, the
 * error of ours, and of the client no more than the operator wants. The vendor's own log is the measure.
 */
import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { findExchange } from '../../src/ledger/exchange-store.ts'
import type { AttemptRecord } from '../../src/ledger/ledger.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import { places, wireRequest, type Ask } from '../support/requests.ts'
import { failoverDefaults, scenario, withScenario, type Scenario } from '../support/scenario.ts'

const gateway = await scenario(failoverDefaults)
after(() => gateway.close())
beforeEach(() => {
  gateway.resetHealth()
  gateway.sandbox.faults.clear()
})

interface Recorded {
  readonly ending: string
  readonly code: unknown
  readonly client: unknown
  readonly address: unknown
  readonly firstEventMs: number | null
  readonly attempts: readonly AttemptRecord[]
}

/** The newest record, once there is one for this request. */
async function recordOf(
  { context, account }: Pick<Scenario, 'context' | 'account'>,
  exchangeId: string,
): Promise<Recorded> {
  // A client does not wait for the record of what costs nothing.
  const [row = {}] = await eventually(
    'the record',
    () =>
      context.database.query('SELECT * FROM exchange WHERE account_id = $1 AND exchange_id = $2', [
        account.id,
        exchangeId,
      ]),
    (rows) => rows.length > 0,
  )
  return {
    ending: String(row['ending']),
    code: row['code'],
    client: row['client'],
    address: row['address'],
    firstEventMs: row['first_event_ms'] === null ? null : Number(row['first_event_ms']),
    attempts: (await findExchange(context.database, { id: exchangeId }))?.attempts ?? [],
  }
}

async function ask(asked: Ask, on: Scenario = gateway): Promise<Recorded> {
  const request = wireRequest(on.account.key, asked)
  const headers = { ...request.headers, 'user-agent': 'Anthropic/JS 1.11.0 (secret of a client)' }
  const answer = await send(on.url + places[asked.format].path, { ...request, headers })
  const id = answer.headers['x-turnpike-request-id']
  return recordOf(on, String(id))
}

const words = ({ attempts }: Recorded): readonly string[] =>
  attempts.map((one) => `${one.channel} ${one.status} ${one.class}`)

for (const format of ['messages', 'chat'] as const) {
  const { main, reserve } = places[format]
  for (const isStream of [true, false])
    test(`lists the attempts of a failover (${format}, ${isStream ? 'stream' : 'whole'})`, async () => {
      gateway.sandbox.faults.set(main, 'error=502')
      const record = await ask({ format, isStream })
      assert.equal(record.ending, 'completed')
      assert.deepEqual(words(record), [`${main} 502 hard`, `${reserve} 200 answered`])
      const [failed, answered] = record.attempts
      assert.equal(failed?.firstEventMs, null)
      const failedMs = failed.startedMs + failed.durationMs
      // Each number is rounded.
      assert.ok(Number(answered?.startedMs) >= failedMs - 1)
      assert.ok(Number(record.firstEventMs) >= Number(answered?.startedMs) - 1)
      assert.equal(record.code, null)
      assert.ok(Number(answered?.durationMs) >= Number(answered?.firstEventMs))
      assert.ok(Number(record.firstEventMs) >= Number(answered?.firstEventMs))
      assert.deepEqual([record.client, record.address], ['anthropic-js', 'ipv4'])
    })
}

test('names the error of ours where no channel answers', async () => {
  for (const channel of ['alpha-main', 'alpha-reserve'])
    gateway.sandbox.faults.set(channel, 'not_format=json')
  const record = await ask({ format: 'messages', isStream: true })
  assert.deepEqual([record.ending, record.code], ['failed', 'relay.upstream_failed'])
  assert.deepEqual(words(record), [
    'alpha-main null not_the_format',
    'alpha-reserve null not_the_format',
  ])
  assert.equal(record.firstEventMs, null)
})

test("names no error of ours where the vendor's own is passed on", async () => {
  const record = await ask({ format: 'messages', isStream: false, sandbox: 'error=400' })
  assert.deepEqual([record.ending, record.code], ['refused', null])
  assert.deepEqual(words(record), ['alpha-main 400 client'])
})

test('says that a stream was cut', async () => {
  const record = await ask({ format: 'messages', isStream: true, sandbox: 'cut_event=3' })
  assert.deepEqual([record.ending, record.code], ['upstream_cut', 'relay.upstream_failed'])
  assert.deepEqual(words(record), ['alpha-main 200 cut'])
})

test('keeps no address where the operator wants none, and all of it where he does', async () => {
  for (const [setting, expected] of [
    ['none', ''],
    ['network', '127.0.0.0/24'],
    ['full', '127.0.0.1'],
  ] as const)
    await withScenario({ settings: { record_addresses: setting } }, async (other) => {
      const record = await ask({ format: 'messages', isStream: false }, other)
      assert.equal(record.address, expected)
    })
})
