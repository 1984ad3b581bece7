import assert from 'node:assert/strict'
import { test } from 'node:test'
import { minuteMs } from '../../base/clock.ts'
import { noteRecent, recentMinutes, sumRecent, type RecentAttempts } from './recent-attempts.ts'

test('counts the attempts of the last ten minutes, and forgets older ones', () => {
  const recent: RecentAttempts = []
  noteRecent(recent, false, 0)
  noteRecent(recent, true, minuteMs - 1)
  noteRecent(recent, true, 5 * minuteMs)
  assert.deepEqual(sumRecent(recent, 5 * minuteMs), { ended: 3, failed: 2 })
  assert.deepEqual(sumRecent(recent, 10 * minuteMs - 1), { ended: 3, failed: 2 })
  assert.deepEqual(sumRecent(recent, 10 * minuteMs), { ended: 1, failed: 1 })
  assert.deepEqual(sumRecent(recent, 15 * minuteMs), { ended: 0, failed: 0 })
})

test('keeps a bounded number of minutes', () => {
  const recent: RecentAttempts = []
  for (let at = 0; at < 100 * minuteMs; at += minuteMs / 4) noteRecent(recent, false, at)
  assert.equal(recent.length, recentMinutes)
  assert.deepEqual(sumRecent(recent, 100 * minuteMs - 1), { ended: 40, failed: 0 })
})
