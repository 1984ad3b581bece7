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
  assert.deepEqual(plan.relay.rates, [500, 2_000, 5_000])
  const peers = ['nginx', 'lean', 'envoy', 'turnpike', 'postgres', 'portkey', 'litellm']
  assert.deepEqual([...plan.targets], peers)
  assert.equal(plan.isWritten, false)
  assert.equal(plan.isProfiled, false)
})

test('measures only the chosen parts and targets', () => {
  const plan = planOf('--quick', '--only', 'slow,requests', '--targets', 'nginx,two-gateways')
  assert.deepEqual([...plan.parts], ['slow', 'requests'])
  assert.deepEqual([...plan.targets], ['nginx', 'two-gateways'])
})

test('measures fewer peers in a quick run, unless others are given', () => {
  assert.ok(!planOf('--quick').targets.has('litellm'))
  assert.ok(planOf('--quick', '--targets', 'litellm').targets.has('litellm'))
})

test('takes another number of rounds', () => {
  assert.equal(planOf('--rounds', '7').rounds, 7)
  assert.equal(planOf('--quick').rounds, 1)
})

test('takes the folder of another checkout', () => {
  assert.equal(planOf('--against', '/old').against, '/old')
  assert.equal(planOf().against, undefined)
  assert.ok(planOf('--only', 'attacks', '--against', '/old', '--write').isWritten)
})

test('measures the other parts on request and alone', () => {
  for (const part of ['attacks', 'console', 'growth', 'sealing', 'soak']) {
    assert.deepEqual([...planOf('--only', part).parts], [part])
    assert.equal(
      parseOptions(['--only', `requests,${part}`]),
      `--only: ${part} cannot be combined with other parts`,
    )
  }
})

test('reports mistakes on the command line', () => {
  const expected = [
    [['--only', 'nothing'], /"nothing" is not one of slow/],
    [['--targets', 'nginx,'], /"" is not one of nginx/],
    [['--rounds', '0'], /0 is not a number from 1 to 100/],
    [['--fast'], /--fast/],
    [['--against', '../old', '--write'], /exclude each other/],
    [['--against', '../old', '--only', 'growth'], /--only growth/],
  ] as const
  for (const [commandLine, message] of expected) {
    const mistake = parseOptions(commandLine)
    assert.ok(typeof mistake === 'string')
    assert.match(mistake, message)
  }
})
