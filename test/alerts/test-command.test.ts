/**
 * `turnpike alert test` waits for its message: delivered, not delivered, or not sent at all. Store and
 * receiver are real; the clock is moved by hand. two-ways.test.ts runs the command itself.
 */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { awaitDelivery, showTest } from '../../src/cli/alert-test.ts'
import type { Answer } from '../../src/cli/command.ts'
import { alertEndpoints } from '../../src/operations/alerts/endpoints.ts'
import type { Alerting } from '../../src/operations/alerts/alerting.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { answers, openBench, startReceiver, type AlertBench, type Receiver } from './harness.ts'

let bench: AlertBench
let receiver: Receiver
beforeEach(async () => {
  bench = await openBench()
  receiver = await startReceiver()
  await bench.addWebhook('pager', receiver.url)
})
afterEach(async () => {
  assert.deepEqual(bench.faults, [])
  await receiver.close()
  await bench.close()
})

/** Sends a test and lets time pass until the command has its answer. */
async function runTest(node?: Alerting): Promise<{ answer: Answer; seconds: number }> {
  const { clock, context } = bench
  const queued = valueOf(await alertEndpoints.test.operation(context, { target: 'pager' }))
  const startedMs = clock.monotonic()
  const ended: Answer[] = []
  const waiting = awaitDelivery(
    (endpoint, input) => endpoint.operation(context, input),
    queued,
    clock,
  ).then((outcome) => {
    const answer = showTest(valueOf(outcome))
    ended.push(answer)
    return answer
  })
  while (ended.length === 0) {
    await node?.round()
    await setImmediate()
    clock.advance(100)
  }
  return { answer: await waiting, seconds: (clock.monotonic() - startedMs) / 1_000 }
}

test('says that the message was delivered', async () => {
  const node = bench.node()
  const { answer } = await runTest(node)
  assert.deepEqual([answer.text, answer.exitCode], ['Delivered: answered 200.', 0])
  assert.equal(receiver.received.length, 1)
  await node.close()
})

test('says why the message was not delivered, and ends with exit code 1', async () => {
  const node = bench.node()
  receiver.behave(answers(500))
  const refused = await runTest(node)
  assert.deepEqual(
    [refused.answer.text, refused.answer.exitCode],
    ['Not delivered: answered 500. The gateway tries again.', 1],
  )
  await node.close()
})

test('waits as long as the time limit of a receiver that hangs', async () => {
  const node = bench.node()
  receiver.behave(() => undefined)
  const { answer, seconds } = await runTest(node)
  assert.match(answer.text, /^Not delivered: no answer within 10 s\./)
  assert.equal(answer.exitCode, 1)
  assert.ok(seconds >= 10 && seconds < 30, `${seconds} s`)
  await node.close()
})

test('says that no gateway has sent it, where none runs', async () => {
  const { answer, seconds } = await runTest()
  assert.match(answer.text, /^No gateway has sent the message yet\. Is one running\?/)
  assert.equal(answer.exitCode, 1)
  assert.ok(seconds >= 30 && seconds < 32, `${seconds} s`)
})

test('goes out before messages that wait for the same target', async () => {
  const node = bench.node()
  receiver.behave(answers(500))
  await bench.observe(
    'channel.off',
    Array.from({ length: 100 }, (_, index) => `channel-${index}`),
  )
  await bench.pass(3, [node])
  receiver.received.length = 0
  const { answer } = await runTest(node)
  assert.match(answer.text, /^Not delivered: answered 500\./)
  assert.match(receiver.received[0]?.body ?? '', /"type":"alert\.test"/)
  await node.close()
})
