/** Tests of the command line: the plan it makes, and its errors. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseOptions, type Plan } from './options.ts'

function planOf(...commandLine: string[]): Plan {
  const plan = parseOptions(commandLine)
  if (typeof plan === 'string') assert.fail(plan)
  return plan
}

test('measures slow vendors, all peers, and writes nothing without options', () => {
  const plan = planOf()
  assert.equal(plan.mode, 'default')
  assert.deepEqual([...plan.parts], ['slow', 'alone', 'short-streams', 'sizes', 'idle-streams'])
  assert.deepEqual(plan.slow.rates, [500, 2_000, 5_000])
  assert.equal(plan.proxies.size, 7)
  assert.equal(plan.isWritten, false)
  assert.equal(plan.isProfiled, false)
})

test('measures few and many connections in a full run', () => {
  assert.deepEqual(planOf('--full').requests.connections, [4, 32, 256])
})

test('measures only the chosen part and proxies', () => {
  const plan = planOf('--quick', '--only', 'streams', '--proxies', 'nginx,turnpike')
  assert.deepEqual([...plan.parts], ['streams'])
  assert.deepEqual([...plan.proxies], ['nginx', 'turnpike'])
})

test('measures fewer peers in a quick run, unless others are given', () => {
  assert.ok(!planOf('--quick').proxies.has('litellm'))
  assert.ok(planOf('--quick', '--proxies', 'litellm').proxies.has('litellm'))
})

test('takes the folder of another checkout', () => {
  assert.equal(planOf('--against', '/old').against, '/old')
  assert.equal(planOf().against, undefined)
  assert.ok(planOf('--only', 'attacks', '--against', '/old', '--write').isWritten)
})

test('reports mistakes on the command line', () => {
  const expected = [
    [['--only', 'nothing'], /"nothing" is not one of slow/],
    [['--proxies', 'nginx,'], /"" is not one of nginx/],
    [['--quick', '--full'], /exclude each other/],
    [['--fast'], /--fast/],
    [['--against', '../old', '--write'], /exclude each other/],
    [['--against', '../old', '--only', 'stores'], /--only stores/],
    [['--only', 'slow,streams'], /slow, alone, .* cannot be combined with other parts/],
  ] as const
  for (const [commandLine, message] of expected) {
    const mistake = parseOptions(commandLine)
    assert.ok(typeof mistake === 'string')
    assert.match(mistake, message)
  }
})

test('measures growth only on request, and alone', () => {
  assert.deepEqual([...planOf('--quick', '--only', 'growth').parts], ['growth'])
  assert.deepEqual(planOf('--quick').growth.requests, [100_000, 300_000, 1_000_000])
  assert.equal(
    parseOptions(['--only', 'growth,health']),
    '--only: growth cannot be combined with other parts',
  )
})

test('measures stores only on request, and alone', () => {
  assert.deepEqual([...planOf('--only', 'stores').parts], ['stores'])
  assert.deepEqual(planOf('--quick').stores.connections, [1, 4, 32])
  assert.equal(
    parseOptions(['--only', 'requests,stores']),
    '--only: stores cannot be combined with other parts',
  )
})

test('measures bodies only on request, and alone', () => {
  assert.deepEqual([...planOf('--only', 'bodies').parts], ['bodies'])
  assert.deepEqual(planOf('--quick').bodies.mebibytes, [1, 32])
  assert.equal(
    parseOptions(['--only', 'bodies,streams']),
    '--only: bodies cannot be combined with other parts',
  )
})

test('measures traces only on request, and alone', () => {
  assert.deepEqual([...planOf('--only', 'traces').parts], ['traces'])
  assert.equal(planOf('--quick').traces.rounds, 3)
  assert.equal(
    parseOptions(['--only', 'traces', '--against', '/old']),
    '--against cannot be combined with --only traces',
  )
})

test('measures refusals on request and alone, also against another checkout', () => {
  const plan = planOf('--only', 'refusals', '--quick', '--against', '/old')
  assert.deepEqual([...plan.parts], ['refusals'])
  assert.equal(plan.refusals.rounds, 3)
  assert.equal(
    parseOptions(['--only', 'refusals,streams']),
    '--only: refusals cannot be combined with other parts',
  )
})

test('measures processes and soaks only on request, and alone', () => {
  assert.equal(planOf('--quick', '--only', 'processes').processes.rounds, 3)
  assert.equal(planOf('--only', 'soak').soak.durationMs, 1_800_000)
  assert.equal(planOf('--quick', '--only', 'soak').soak.durationMs, 180_000)
  for (const part of ['processes', 'soak'])
    assert.equal(
      parseOptions(['--only', `${part},streams`]),
      `--only: ${part} cannot be combined with other parts`,
    )
})
