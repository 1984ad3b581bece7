/** The feed reads only while somebody listens, and tells every listener; the clock moves by hand. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { EventFeed, listenersPerTokenMax, type Listener, type Listening } from './feed.ts'
import type { WatchedList } from './lists.ts'

function openFeed() {
  const clock = new ManualClock()
  const state = { changed: [] as readonly WatchedList[], readCount: 0, isReachable: true }
  const feed = new EventFeed({
    clock,
    watch: () =>
      state.isReachable
        ? Promise.resolve(() => {
            state.readCount++
            return Promise.resolve(state.changed)
          })
        : Promise.reject(new Error('the store does not answer')),
    onError: (error) => assert.fail(String(error)),
  })
  /** Lets a round end, so that its timer is set again. */
  const round = async (): Promise<void> => {
    clock.advance(1_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { clock, state, feed, round }
}

function listener(heard: string[], isAllowed = () => true): Listener {
  return {
    tokenId: 'ad_1',
    onChanged: (lists) => void heard.push(...lists),
    onQuiet: () => void heard.push('quiet'),
    onEnd: () => Promise.resolve(void heard.push('end')),
    isAllowed: () => Promise.resolve(isAllowed()),
  }
}

async function listen(feed: EventFeed, one: Listener): Promise<Listening> {
  const listening = await feed.listen(one)
  return 'code' in listening ? assert.fail(listening.message) : listening
}

async function codeOf(feed: EventFeed, one: Listener): Promise<string> {
  const refused = await feed.listen(one)
  return 'code' in refused ? refused.code : assert.fail('it listens')
}

test('reads nothing while nobody listens', async () => {
  const { clock, state, feed, round } = openFeed()
  const listening = await listen(feed, listener([]))
  await round()
  assert.equal(state.readCount, 1)
  listening.stop()
  await round()
  assert.equal(state.readCount, 1)
  assert.equal(clock.pendingCount, 0)
  await feed.listen(listener([]))
  await round()
  assert.equal(state.readCount, 2)
})

test('tells every listener with one read, and says when nothing has changed for 15 s', async () => {
  const { state, feed, round } = openFeed()
  const heard: [string[], string[]] = [[], []]
  for (const one of heard) await feed.listen(listener(one))
  state.changed = ['requests', 'alerts']
  await round()
  assert.equal(state.readCount, 1)
  state.changed = []
  for (let seconds = 0; seconds < 15; seconds++) await round()
  const all = ['requests', 'alerts', 'quiet']
  assert.deepEqual(heard, [all, all])
})

test('ends a listener that may no longer listen, and no other', async () => {
  const { state, feed, round } = openFeed()
  const heard: [string[], string[]] = [[], []]
  let isAllowed = true
  await feed.listen(listener(heard[0], () => isAllowed))
  await feed.listen(listener(heard[1]))
  isAllowed = false
  await round()
  state.changed = ['keys']
  await round()
  assert.deepEqual(heard, [['end'], ['keys']])
})

test('takes nobody while the store does not answer, and keeps no place for them', async () => {
  const { clock, state, feed, round } = openFeed()
  state.isReachable = false
  await assert.rejects(feed.listen(listener([])), /does not answer/)
  assert.equal(clock.pendingCount, 0)
  state.isReachable = true
  const heard: string[] = []
  await feed.listen(listener(heard))
  state.changed = ['audits']
  await round()
  assert.deepEqual(heard, ['audits'])
})

test('ends all listeners when it is closed, and takes no other', async () => {
  const { feed } = openFeed()
  const heard: string[] = []
  await feed.listen(listener(heard))
  await feed.close()
  assert.deepEqual(heard, ['end'])
  assert.equal(await codeOf(feed, listener([])), 'relay.overloaded')
})

test('takes a bounded number of listeners of one token, and others of another', async () => {
  const { feed } = openFeed()
  const all = await Promise.all(
    Array.from({ length: listenersPerTokenMax }, () => listen(feed, listener([]))),
  )
  assert.equal(await codeOf(feed, listener([])), 'access.too_many_running')
  await listen(feed, { ...listener([]), tokenId: 'ad_2' })
  all[0]?.stop()
  await listen(feed, listener([]))
  assert.equal(await codeOf(feed, listener([])), 'access.too_many_running')
})
