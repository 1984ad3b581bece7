/** Tests of the command line: what a plan contains, and that mistakes are said. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseOptions, type Plan } from './options.ts'

function planOf(...commandLine: string[]): Plan {
  const plan = parseOptions(commandLine)
  if (typeof plan === 'string') assert.fail(plan)
  return plan
}

test('without options everything is measured and nothing is written', () => {
  const plan = planOf()
  assert.equal(plan.mode, 'default')
  assert.deepEqual([...plan.parts], ['requests', 'streams', 'health'])
  assert.deepEqual([...plan.proxies], ['nginx', 'haproxy', 'turnpike', 'portkey'])
  assert.equal(plan.isWritten, false)
  assert.equal(plan.isProfiled, false)
})

test('a full run measures few and many connections', () => {
  assert.deepEqual(planOf('--full').requests.connections, [4, 32, 256])
})

test('a part and the proxies can be chosen', () => {
  const plan = planOf('--quick', '--only', 'streams', '--proxies', 'nginx,turnpike')
  assert.deepEqual([...plan.parts], ['streams'])
  assert.deepEqual([...plan.proxies], ['nginx', 'turnpike'])
})

test('mistakes on the command line are said', () => {
  const expected = [
    [['--only', 'nothing'], /"nothing" is none of requests/],
    [['--proxies', 'nginx,'], /"" is none of nginx/],
    [['--quick', '--full'], /exclude each other/],
    [['--fast'], /--fast/],
  ] as const
  for (const [commandLine, message] of expected) {
    const mistake = parseOptions(commandLine)
    assert.ok(typeof mistake === 'string')
    assert.match(mistake, message)
  }
})

test('growth is measured only when it is asked for, and alone', () => {
  assert.deepEqual([...planOf('--quick', '--only', 'growth').parts], ['growth'])
  assert.deepEqual(planOf('--quick').growth.requests, [100_000, 300_000, 1_000_000])
  assert.equal(parseOptions(['--only', 'growth,health']), '--only: growth stands alone')
})

test('stores are measured only when it is asked for, and alone', () => {
  assert.deepEqual([...planOf('--only', 'stores').parts], ['stores'])
  assert.deepEqual(planOf('--quick').stores.connections, [1, 4, 32])
  assert.equal(parseOptions(['--only', 'requests,stores']), '--only: stores stands alone')
})
