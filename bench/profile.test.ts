/** Tests of reading a CPU profile. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findHotspots } from './profile.ts'

const frame = (functionName: string, url = '') => ({ functionName, url, lineNumber: 9 })

test('sorts functions by their own time and leaves out idle time', () => {
  const { busyUs, hotspots } = findHotspots(
    {
      nodes: [
        { id: 1, callFrame: frame('(idle)') },
        { id: 2, callFrame: frame('write') },
        { id: 3, callFrame: frame('', 'file:///somewhere/src/relay/deliver.ts') },
      ],
      samples: [1, 2, 3, 3, 2],
      timeDeltas: [500, 10, 20, 60, 10],
    },
    5,
  )
  assert.equal(busyUs, 100)
  assert.deepEqual(hotspots, [
    { place: '(anonymous) src/relay/deliver.ts:10', share: 0.8 },
    { place: 'write', share: 0.2 },
  ])
})
