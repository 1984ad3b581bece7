/** Tests of vendor and client against each other on loopback, and of which loads a proxy gets. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { formatPaths, streamRequestBodies, sizedRequestBody } from '../exchanges.ts'
import { parseOptions } from '../options.ts'
import { monotonicUs } from '../measure/statistics.ts'
import { Client, type ClientTask } from './client.ts'
import type { Cases } from '../targets/target.ts'
import { fitLoads, listLoads } from './loads.ts'
import { Vendor, type Behaviour } from './vendor.ts'

/** Runs a number of requests; the vendor writes each time as if its time had come. */
async function exchange(behaviour: Behaviour, task: Partial<ClientTask>) {
  const vendor = new Vendor(() => undefined)
  vendor.behaviour = behaviour
  vendor.server.listen(0, '127.0.0.1')
  await once(vendor.server, 'listening')
  const { port } = vendor.server.address() as AddressInfo
  const client = new Client({
    ports: [port],
    path: formatPaths.chat,
    headers: {},
    body: streamRequestBodies.chat,
    ratePerSecond: 1e6,
    runningMax: 3,
    countMax: 6,
    events: behaviour.events,
    ...task,
  })
  const { countMax = 6 } = task
  let highestRunning = 0
  while (client.counts.complete + client.counts.failed < countMax) {
    client.beginDue(monotonicUs())
    highestRunning = Math.max(highestRunning, client.runningCount)
    vendor.writeDue(Infinity)
    await new Promise(setImmediate)
  }
  client.close()
  vendor.server.close()
  return { vendor, client, highestRunning }
}

test('answers with JSON, with no more requests than the bound', async () => {
  const { vendor, client, highestRunning } = await exchange({ events: 0, periodMs: 500 }, {})
  assert.deepEqual(client.counts, { complete: 6, failed: 0, events: 0 })
  assert.equal(vendor.counts.answered, 6)
  assert.equal(highestRunning, 3)
})

test('streams the events of each format and counts them as tokens', async () => {
  for (const [format, path] of Object.entries(formatPaths)) {
    const task = { path, countMax: 2 }
    const { vendor, client } = await exchange({ events: 5, periodMs: 20 }, task)
    assert.deepEqual(client.counts, { complete: 2, failed: 0, events: 10 }, format)
    assert.equal(vendor.counts.outputTokens, 10)
  }
})

test('counts a stream with too few events as failed', async () => {
  const { client } = await exchange({ events: 5, periodMs: 20 }, { events: 6, countMax: 1 })
  assert.equal(client.counts.failed, 1)
  assert.match(client.failure ?? '', /5 events/)
})

test('takes bodies of many reads', async () => {
  const body = sizedRequestBody(1_000_000)
  assert.equal(body.length, 1_000_000)
  const { client } = await exchange({ events: 0, periodMs: 1 }, { body, countMax: 2 })
  assert.equal(client.counts.complete, 2)
})

test('gives a slow proxy one load of a part at its own rate, and others what they can do', () => {
  const rates = (only: string, cases: Partial<Cases>): readonly string[] => {
    const plan = parseOptions(['--only', only])
    if (typeof plan === 'string') assert.fail(plan)
    const fitted = fitLoads(listLoads(plan), { json: given, streams: {}, ...cases })
    return fitted.map(({ load, ratePerSecond }) => `${load.name} at ${ratePerSecond}`)
  }
  const given = { path: '/', headers: {} }
  assert.deepEqual(rates('slow', { requestsPerSecondMax: 100 }), ['500/s at 100'])
  assert.deepEqual(rates('slow', { requestsPerSecondMax: 600 }), ['500/s at 500'])
  const ofStreams = rates('short-streams', { streams: { chat: given }, streamsPerSecondMax: 10 })
  assert.deepEqual(ofStreams, ['chat at 10'])
  assert.equal(rates('requests', { requestsPerSecondMax: 100 }).length, 4)
})
