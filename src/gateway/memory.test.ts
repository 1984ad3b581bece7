/** When memory is returned, and that it is. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { getHeapSpaceStatistics } from 'node:v8'
import { releaseMemory, releaseMemoryWhenIdle } from './memory.ts'
import { ManualClock } from '../../test/support/manual-clock.ts'

const mebibyte = 1_048_576

/** A process whose memory the test sets, watched by the part under test. */
function startWatch(): {
  residentMib: number | undefined
  keptMib: number
  busyShare: number
  releasesAfter(ms: number): number
  close(): void
} {
  const clock = new ManualClock()
  let releaseCount = 0
  const state = { residentMib: 120 as number | undefined, keptMib: 100, busyShare: 0 }
  const watch = releaseMemoryWhenIdle({
    clock,
    residentBytes: () => (state.residentMib ?? NaN) * mebibyte || undefined,
    busyShare: () => state.busyShare,
    release() {
      releaseCount++
      state.residentMib = state.keptMib
    },
  })
  return Object.assign(state, {
    releasesAfter(ms: number) {
      clock.advance(ms)
      return releaseCount
    },
    close: () => watch.close(),
  })
}

it('releases memory twice after the start and after a busy time, once the event loop is idle', () => {
  const process = startWatch()
  assert.equal(process.releasesAfter(10_000), 1, 'what the start left')
  assert.equal(process.releasesAfter(10_000), 2, 'the room for young objects')
  assert.equal(process.releasesAfter(60_000), 2, 'not grown')
  process.residentMib = 900
  process.busyShare = 0.9
  assert.equal(process.releasesAfter(10_000), 2, 'busy')
  process.busyShare = 0.01
  assert.equal(process.releasesAfter(10_000), 3)
  process.busyShare = 0.9
  assert.equal(process.releasesAfter(10_000), 3, 'busy again')
  process.busyShare = 0.01
  assert.equal(process.releasesAfter(10_000), 4)
  process.residentMib = 110
  assert.equal(process.releasesAfter(60_000), 4, 'hardly grown')
  process.residentMib = undefined
  assert.equal(process.releasesAfter(60_000), 4, 'not readable, as without a file left')
  process.residentMib = 300
  assert.equal(process.releasesAfter(10_000), 5)
  process.close()
  process.residentMib = 900
  assert.equal(process.releasesAfter(60_000), 5)
})

it('releases again, later and later, while more is left than before', () => {
  const process = startWatch()
  assert.equal(process.releasesAfter(20_000), 2)
  process.residentMib = 900
  process.keptMib = 200
  assert.equal(process.releasesAfter(20_000), 4, 'connections keep the rest')
  assert.equal(process.releasesAfter(10_000), 4)
  assert.equal(process.releasesAfter(10_000), 5)
  assert.equal(process.releasesAfter(30_000), 5)
  process.keptMib = 110
  assert.equal(process.releasesAfter(10_000), 6, 'their timeouts have passed')
  assert.equal(process.releasesAfter(600_000), 6)
  process.close()
})

it('returns what lies between living blocks to the operating system', async () => {
  releaseMemory()
  const before = process.memoryUsage.rss()
  const pins: Buffer[] = []
  const fill = (): void => {
    const pieces: Buffer[] = []
    for (let index = 0; index < 4_000; index++) {
      pieces.push(Buffer.allocUnsafeSlow(65_536).fill(1))
      pins.push(Buffer.allocUnsafeSlow(5_000).fill(1))
    }
    assert.equal(pieces.length, 4_000)
  }
  fill()
  // In a new turn nothing on the stack refers to the pieces.
  await new Promise((resolve) => setImmediate(resolve))
  releaseMemory()
  const kept = process.memoryUsage.rss() - before
  assert.ok(kept < 120 * mebibyte, `${Math.round(kept / mebibyte)} MiB of 269 were kept`)
  assert.equal(pins.length, 4_000)
})

it('moves objects together that a busy time has left far apart', () => {
  const spread = (): object[] => {
    const all = Array.from({ length: 600_000 }, (_, index) => ({ index, list: [index] }))
    releaseMemory()
    return all.filter(({ index }) => index % 7 === 0)
  }
  const kept = spread()
  releaseMemory()
  const old = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'old_space')
  assert.ok(old !== undefined && kept.length > 80_000)
  const unusedBytes = old.physical_space_size - old.space_used_size
  assert.ok(unusedBytes < 4 * mebibyte, `${Math.round(unusedBytes / mebibyte)} MiB are unused`)
})
