/**
 * Faults of the gateway's own, at the worst moments of an exchange: nothing is left running at the
 * vendor or counted on the channel, no hold stays, and what happened is in the books once.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import type { TracePoint } from '../../src/relay/stages.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import { formsOf, places, streamedFormats, alike } from '../support/requests.ts'
import { failoverDefaults, type Scenario, scenario } from '../support/scenario.ts'
import { createAdminToken, listRequests } from '../support/operations.ts'

let faultAt: TracePoint | undefined
let gateway: Scenario
let adminToken: string
before(async () => {
  gateway = await scenario({
    ...failoverDefaults,
    onTracePoint(point) {
      if (point === faultAt) throw new Error('a fault of the gateway')
    },
  })
  adminToken = (await createAdminToken(gateway.context, { name: 'own-faults' })).secret
})
after(() => gateway.close())
beforeEach(() => {
  faultAt = undefined
  gateway.sandbox.faults.clear()
})

/** How many exchanges of the format's model have ended, by ending. */
async function endings(): Promise<Readonly<Record<string, number>>> {
  const { body } = await send(`${gateway.adminUrl}/metrics`, {
    headers: { authorization: `Bearer ${adminToken}` },
  })
  const counts: Record<string, number> = {}
  const lines = body
    .toString()
    .matchAll(/^turnpike_exchanges_total\{[^}]*ending="([^"]*)"[^}]*\} (\d+)$/gm)
  for (const [, ending = '', count] of lines) counts[ending] = (counts[ending] ?? 0) + Number(count)
  return counts
}

/** What has ended since an earlier look. */
async function endedSince(
  earlier: Readonly<Record<string, number>>,
): Promise<Readonly<Record<string, number>>> {
  const now = Object.entries(await endings())
  return Object.fromEntries(
    now
      .map(([ending, count]): [string, number] => [ending, count - (earlier[ending] ?? 0)])
      .filter(([, count]) => count !== 0),
  )
}

for (const format of alike(streamedFormats)) {
  const { main, path } = places[format]

  test(`at the first event of a ${format} stream: the vendor is not left talking`, async () => {
    const earlier = await endings()
    faultAt = 'first_event'
    // It would go on for minutes.
    gateway.sandbox.faults.set(main, 'output=1000; event_delay_ms=200')
    const marker = `first-event-${format}`
    const answer = await gateway.ask({ format, isStream: true, marker })
    assert.equal(answer.status, 500)
    const record = await gateway.served(marker, main)
    assert.equal(record.isTerminalSent, false)
    assert.equal(gateway.app.health.running(main), 0)
    assert.deepEqual(await endedSince(earlier), { failed: 1 })
    const { ending, chargeCount } = await gateway.recorded(answer)
    assert.deepEqual([ending, chargeCount], ['failed', 0])
  })

  for (const isStream of formsOf(format))
    test(`behind the end of a ${format} ${isStream ? 'stream' : 'answer'}: it is logged as ended once`, async () => {
      const earlier = await endings()
      faultAt = 'answer_released'
      const answer = await gateway.ask({ format, isStream })
      assert.deepEqual(await endedSince(earlier), { completed: 1 })
      const { ending, chargeCount } = await gateway.recorded(answer)
      assert.deepEqual([ending, chargeCount], ['completed', 1])
      assert.equal(gateway.app.health.running(main), 0)
    })

  test(`before a ${format} request is sent: the channel is not held for it`, async () => {
    faultAt = 'attempt_sending'
    const answer = await gateway.ask({ format, isStream: false })
    assert.equal(answer.status, 500)
    assert.equal(gateway.app.health.running(main), 0)
    assert.equal((await gateway.recorded(answer)).ending, 'failed')
  })

  if (format === 'messages')
    test('while tokens are counted: the ledger has no entry of it, the request log has one', async () => {
      const earlier = await endings()
      faultAt = 'attempt_sending'
      const answer = await send(`${gateway.url}${path}/count_tokens`, {
        headers: { 'content-type': 'application/json', 'x-api-key': gateway.account.key },
        body: JSON.stringify({
          model: places[format].model,
          messages: [{ role: 'user', content: 'hello' }],
        }),
      })
      assert.equal(answer.status, 500)
      faultAt = undefined
      // Exchanges are stored in the order in which they end.
      const next = await gateway.ask({ format, isStream: false })
      await gateway.recorded(next)
      const rows = await gateway.context.database.query(
        'SELECT 1 AS found FROM exchange WHERE exchange_id = $1',
        [String(answer.headers['x-turnpike-request-id'])],
      )
      assert.deepEqual(rows, [])
      const id = String(answer.headers['x-turnpike-request-id'])
      const found = await eventually(
        'its record',
        () => listRequests(gateway.context, { code: 'gateway.internal' }),
        ({ items }) => items.some((item) => item.id === id),
      )
      const records = found.items.filter((item) => item.id === id)
      assert.deepEqual(
        records.map(({ outcome, status, operation, model }) => [outcome, status, operation, model]),
        [['failed', 500, 'messages.count_tokens', places[format].model]],
      )
      assert.deepEqual(await endedSince(earlier), { completed: 1 })
    })
}
