import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { withProgress } from './progress.ts'

test('counts the seconds of long work, and leaves no line behind', async () => {
  const clock = new ManualClock()
  const written: string[] = []
  const work = Promise.withResolvers<string>()
  const done = withProgress({ clock, write: (text) => void written.push(text) }, () => work.promise)
  clock.advance(1_999)
  assert.equal(written.length, 0)
  clock.advance(1_001)
  assert.deepEqual(
    written.map((text) => text.replace('\r\u001b[K', '')),
    ['Working for 2 s …', 'Working for 3 s …'],
  )
  work.resolve('result')
  assert.equal(await done, 'result')
  assert.equal(written.at(-1), '\r\u001b[K')
  clock.advance(10_000)
  assert.equal(written.length, 3)
})

test('shows nothing for short work, or without a terminal', async () => {
  const clock = new ManualClock()
  const written: string[] = []
  const site = { clock, write: (text: string) => void written.push(text) }
  await withProgress(site, () => Promise.resolve())
  await assert.rejects(
    withProgress(site, () => Promise.reject(new Error('no'))),
    /no/,
  )
  clock.advance(10_000)
  assert.deepEqual(written, [])
  assert.equal(await withProgress(undefined, () => Promise.resolve(1)), 1)
})
