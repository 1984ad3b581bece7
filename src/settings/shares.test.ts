/** The limits of several processes: each gets its part, rounded up, and no part becomes "no limit". */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from './read.ts'
import { shareConnections, shareHeap, shareLimits } from './shares.ts'

function limitsOf(
  processCount: number,
  env: Readonly<Record<string, string>> = {},
  openFilesMax = Infinity,
) {
  const loaded = loadConfig({ options: {}, env, cwd: '/nowhere' })
  assert.ok(loaded.kind === 'config')
  return shareLimits(loaded.config, processCount, openFilesMax)
}

test('one process has all', () => {
  assert.deepEqual(limitsOf(1, { TURNPIKE_BODIES_MAX_BYTES: '4194304' }), {
    connectionsMax: 10_000,
    adminConnectionsMax: 128,
    upstreamConnectionsMax: Infinity,
    keylessPerAddressMax: 256,
    failedSignInsMax: 300,
    runningPerKeyMax: 2_000,
    runningPerAccountMax: 4_000,
    bodiesBytesMax: 4_194_304,
  })
  assert.deepEqual(shareConnections(1), { money: 4, other: 4, operators: 4 })
})

test('several processes share what the settings say, rounded up', () => {
  const limits = limitsOf(3, { TURNPIKE_BODIES_MAX_BYTES: '4194304' })
  assert.deepEqual(limits, {
    connectionsMax: 3_334,
    adminConnectionsMax: 128,
    upstreamConnectionsMax: Infinity,
    keylessPerAddressMax: 86,
    failedSignInsMax: 100,
    runningPerKeyMax: 667,
    runningPerAccountMax: 1_334,
    bodiesBytesMax: 1_398_102,
  })
})

test('connections stay within the open files, of which each process keeps some for itself', () => {
  const { connectionsMax, adminConnectionsMax, upstreamConnectionsMax } = limitsOf(2, {}, 1_024)
  assert.deepEqual([connectionsMax, upstreamConnectionsMax, adminConnectionsMax], [384, 384, 128])
  assert.ok(connectionsMax + upstreamConnectionsMax + adminConnectionsMax < 1_024)
  const few = { TURNPIKE_MAX_CONNECTIONS: '100' }
  assert.deepEqual(limitsOf(1, few, 1_024), {
    ...limitsOf(1, few),
    upstreamConnectionsMax: 384,
  })
  assert.throws(() => limitsOf(1, {}, 511), /511 files open, and a gateway needs 512/)
})

test('a limit of 1 stays a limit for many processes, and none stays none', () => {
  assert.equal(limitsOf(8, { TURNPIKE_MAX_RUNNING_PER_KEY: '1' }).runningPerKeyMax, 1)
  assert.equal(limitsOf(8, { TURNPIKE_MAX_RUNNING_PER_KEY: '0' }).runningPerKeyMax, 0)
})

test('the default room for bodies is shared, too', () => {
  assert.equal(limitsOf(4).bodiesBytesMax, Math.ceil(limitsOf(1).bodiesBytesMax / 4))
})

test('many processes leave connections of a usual server free, each with enough for its work', () => {
  for (const [processCount, most] of [
    [2, 20],
    [4, 36],
    [8, 72],
  ] as const) {
    const { money, other, operators } = shareConnections(processCount)
    assert.ok(money >= 3 && other >= 2 && operators >= 1)
    const others = 2
    assert.ok((money + other + operators + others) * processCount <= most)
  }
})

test("heaps have half of the memory at most, and Node's own limit where that is less", () => {
  assert.equal(shareHeap(2, 1), undefined)
  const four = shareHeap(4, Number.MAX_SAFE_INTEGER)
  const eight = shareHeap(8, Number.MAX_SAFE_INTEGER)
  assert.ok(four !== undefined && eight !== undefined && eight <= four)
  assert.equal(shareHeap(1_000_000, Number.MAX_SAFE_INTEGER), 201_326_592)
})
