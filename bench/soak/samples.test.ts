/** When a figure of a process grows. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findTrends, readSample, type Reading, type Sample } from './samples.ts'

const sample: Sample = {
  name: '1',
  pid: 1,
  residentBytes: 100,
  descriptors: 50,
  resources: 40,
  loopDelayMs: 10,
}

function readings(...changes: readonly Partial<Sample>[]): readonly Reading[] {
  return changes.map((change) => [{ ...sample, ...change }])
}

function growing(...changes: readonly Partial<Sample>[]): readonly string[] {
  const trends = findTrends(readings(...changes), 20)
  return trends.filter(({ isFlat }) => !isFlat).map(({ figure }) => figure)
}

test('compares the medians of the last third and the middle third', () => {
  const [memory] = findTrends(
    readings(
      ...[10, 20, 30].map((residentBytes) => ({ residentBytes })),
      ...[100, 110, 900].map((residentBytes) => ({ residentBytes })),
      ...[125, 130, 1].map((residentBytes) => ({ residentBytes })),
    ),
    20,
  )
  assert.deepEqual(
    [memory?.first, memory?.middle, memory?.last, memory?.isFlat],
    [20, 110, 125, true],
  )
})

test('finds each figure that grows by more than its margin', () => {
  assert.deepEqual(growing({}, {}, {}), [])
  assert.deepEqual(growing({}, {}, { residentBytes: 121 }), ['residentBytes'])
  assert.deepEqual(growing({}, {}, { descriptors: 75 }), ['descriptors'])
  assert.deepEqual(growing({}, {}, { resources: 65 }), ['resources'])
  assert.deepEqual(growing({}, {}, { loopDelayMs: 31 }), ['loopDelayMs'])
})

test('reads the figures of one process from the metrics of all', () => {
  const metrics = [
    'turnpike_nodejs_active_resources{type="Timeout",process="1"} 3',
    'turnpike_nodejs_active_resources{type="TCPSocketWrap",process="1"} 4',
    'turnpike_nodejs_active_resources{type="TCPSocketWrap",process="2"} 50',
    'turnpike_nodejs_eventloop_lag_p99_seconds{process="1"} 0.25',
  ].join('\n')
  const read = readSample({ name: '1', pid: process.pid }, metrics)
  assert.deepEqual([read.resources, read.loopDelayMs], [7, 250])
  assert.ok(read.residentBytes > 1e6 && read.descriptors > 2)
  const supervisor = readSample({ name: 'supervisor', pid: process.pid }, metrics)
  assert.ok(Number.isNaN(supervisor.resources))
})
