/**
 * Vendors that refuse `stream_options`, by which the gateway asks for the usage of a chat stream: the request
 * goes out once more without it, and only where that succeeds is the channel not asked for a day.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hourMs } from '../../src/base/clock.ts'
import type { RunCheck } from '../../src/operations/channels/run-check.ts'
import { smallChatCatalogue } from '../support/catalogues.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { post, type WireAnswer } from '../support/http-client.ts'
import { diagnose, showChannel } from '../support/operations.ts'
import { chatPath, chatRequest } from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

const refusal = JSON.stringify({
  detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'], msg: 'Extra inputs' }],
})
const stream =
  'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"hello"},"finish_reason":"stop"}]}\n\n' +
  'data: [DONE]\n\n'

interface World {
  readonly gateway: Scenario
  readonly clock: ManualClock
  /** Whether each request that the vendor got had the field. */
  readonly asked: boolean[]
  readonly ask: (fields?: Readonly<Record<string, unknown>>) => Promise<WireAnswer>
}

/** A vendor that refuses every request for which `isRefused` says so. */
async function withStrictVendor(
  isRefused: (body: string) => boolean,
  work: (world: World) => Promise<void>,
  change = '',
): Promise<void> {
  const clock = new ManualClock()
  const catalogue = (url: string): string =>
    smallChatCatalogue(url).replace('check: none', `check: none${change}`)
  const gateway = await scenario({ vendors: 'scripted', catalogue, clock })
  const asked: boolean[] = []
  gateway.scripted.answer((response, { body }) => {
    const text = body.toString()
    asked.push(text.includes('stream_options'))
    if (isRefused(text))
      response.writeHead(422, { 'content-type': 'application/json' }).end(refusal)
    else response.writeHead(200, { 'content-type': 'text/event-stream' }).end(stream)
  })
  const ask: World['ask'] = (fields = {}) =>
    post(gateway.url + chatPath, gateway.account.key, chatRequest({ stream: true, ...fields }))
  try {
    await work({ gateway, clock, asked, ask })
  } finally {
    await gateway.close()
  }
}

/** `turnpike doctor` asks each channel; here no vendor needs to answer. */
const noAnswer: RunCheck = () =>
  Promise.resolve({ outcome: 'ok', durationMs: 1, status: 200 } as const)

function isStrict(body: string): boolean {
  return body.includes('stream_options')
}

test('a refused field is left out at once, and for a day from then on', async () => {
  await withStrictVendor(isStrict, async ({ gateway, clock, asked, ask }) => {
    const first = await ask()
    assert.equal(first.status, 200, first.body.toString())
    assert.equal(first.body.toString(), stream)
    assert.deepEqual(asked.splice(0), [true, false])
    assert.deepEqual(await gateway.attempts(), { 'beta-main client': 1, 'beta-main ok': 1 })

    await ask()
    assert.deepEqual(asked.splice(0), [false])
    await gateway.app.refresh()
    const { health } = await showChannel(gateway.context, { channel: 'beta-main' })
    assert.deepEqual(
      health.map((one) => one.usage_refused),
      [true],
    )
    const { findings } = await diagnose(gateway.context, {}, noAnswer)
    assert.match(JSON.stringify(findings), /Channel beta-main refuses stream_options/)

    clock.advance(24 * hourMs + 1)
    await ask()
    assert.deepEqual(asked.splice(0), [true, false])
  })
})

test('a refusal that stands without the field teaches nothing, and the client gets it', async () => {
  await withStrictVendor(
    () => true,
    async ({ asked, ask }) => {
      for (let count = 0; count < 2; count++) {
        const answer = await ask()
        assert.equal(answer.status, 422)
        assert.equal(answer.body.toString(), refusal)
        assert.deepEqual(asked.splice(0), [true, false])
      }
    },
  )
})

test('a client that asks for the usage itself gets the refusal, and nothing is sent again', async () => {
  await withStrictVendor(isStrict, async ({ asked, ask }) => {
    const answer = await ask({ stream_options: { include_usage: true } })
    assert.equal(answer.status, 422)
    assert.deepEqual(asked.splice(0), [true])
    assert.equal((await ask()).status, 200)
    assert.deepEqual(asked.splice(0), [true, false])
  })
})

test('an answer that is no stream is not asked for its usage, so its refusal is not repeated', async () => {
  await withStrictVendor(
    () => true,
    async ({ asked, ask }) => {
      assert.equal((await ask({ stream: false })).status, 422)
      assert.deepEqual(asked, [false])
    },
  )
})

test('a channel that never asks sends the bytes of the client, and charges an estimate', async () => {
  await withStrictVendor(
    isStrict,
    async ({ gateway, asked, ask }) => {
      const answer = await ask()
      assert.equal(answer.status, 200)
      assert.deepEqual(asked, [false])
      const sent = gateway.scripted.last?.body.toString()
      assert.equal(sent, JSON.stringify(chatRequest({ stream: true })))
      const recorded = await gateway.recorded(answer)
      assert.equal(recorded.chargeCount, 1)
      assert.ok(recorded.amountPicos > 0n)
    },
    ', stream_usage: never',
  )
})
