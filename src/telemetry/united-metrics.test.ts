/**
 * The metrics of several processes as one: sums, highest values, metrics of each process, and no falling
 * counter.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMetrics } from './metrics.ts'
import { addEnded, reportMetrics, uniteMetrics, type MetricsReport } from './united-metrics.ts'

/** What a process reports that has ended so many exchanges, with one series of each kind. */
async function reportOf(exchanges: number): Promise<MetricsReport> {
  const metrics = createMetrics()
  metrics.failovers.inc({ vendor: 'alpha' }, exchanges)
  for (let count = 0; count < exchanges; count++)
    metrics.exchangeSeconds.add(0.2, 'alpha', 'large-1', 'messages.create')
  metrics.running.set(exchanges)
  metrics.accounts.set(exchanges)
  metrics.storeUp.set(exchanges > 3 ? 1 : 0)
  const report = await reportMetrics(metrics)
  return structuredClone(report)
}

function valueOf(text: string, series: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  assert.ok(line !== undefined, `${series} is missing`)
  return Number(line.slice(series.length + 1))
}

const sumOfTimes =
  'turnpike_exchange_duration_seconds_count{vendor="alpha",model="large-1",operation="messages.create"}'

test('adds up counters, histograms and most gauges', async () => {
  const text = await uniteMetrics(
    [
      { process: '1', metrics: await reportOf(3) },
      { process: '2', metrics: await reportOf(4) },
    ],
    [],
  )
  assert.equal(valueOf(text, 'turnpike_failovers_total{vendor="alpha"}'), 7)
  assert.equal(valueOf(text, sumOfTimes), 7)
  assert.equal(valueOf(text, 'turnpike_running_exchanges'), 7)
  assert.equal(valueOf(text, 'turnpike_accounts'), 4, 'one process watches the accounts of all')
  assert.equal(valueOf(text, 'turnpike_store_up'), 0, 'one process has no store')
  assert.equal(text.match(/^turnpike_build_info\{.*\} 1$/gm)?.length, 1)
})

test('shows the metrics of each process apart', async () => {
  const metrics = await reportOf(1)
  const text = await uniteMetrics(
    [
      { process: '1', metrics },
      { process: '1-draining', metrics },
    ],
    [],
  )
  for (const name of ['resident_memory_bytes', 'start_time_seconds'])
    for (const process of ['1', '1-draining'])
      assert.ok(valueOf(text, `turnpike_process_${name}{process="${process}"}`) > 0)
})

test('keeps what ended processes have counted, and nothing else of them', async () => {
  const once = await addEnded([], await reportOf(3))
  const twice = await addEnded(once, await reportOf(4))
  const text = await uniteMetrics([{ process: '1', metrics: await reportOf(5) }], twice)
  assert.equal(valueOf(text, 'turnpike_failovers_total{vendor="alpha"}'), 12)
  assert.equal(valueOf(text, sumOfTimes), 12)
  assert.equal(valueOf(text, 'turnpike_running_exchanges'), 5)
  assert.doesNotMatch(text, /^turnpike_process_resident_memory_bytes \d/m)
})
