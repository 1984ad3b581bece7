/**
 * Output limits that vendors keep, and those that they do not: a field of a request lowers the hold only
 * where every channel that may serve keeps it; output beyond it is charged as far as it was delivered, and
 * the gateway then holds more. Each test uses real sockets and a store.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { channelEndpoints } from '../../src/operations/channels/endpoints.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { outputTokensOf } from '../../src/metering/usage.ts'
import { applyCatalogue, diagnose, exportCatalogue } from '../support/operations.ts'
import { only, type RecordedExchange } from '../support/money.ts'
import {
  formsOf,
  openAsk,
  places,
  streamedFormats,
  type Ask,
  type StreamedFormat,
} from '../support/requests.ts'
import { withScenario, type Scenario } from '../support/scenario.ts'

/** One token a piece, as vendor and gateway count it. */
const words = 'piece=the%20'
const long = `output=200; ${words}; ignore_limits`
/** Dearer than the whole hold of a short request. */
const veryLong = `output=2000; ${words}; ignore_limits`

function outputOf({ usage }: RecordedExchange): number {
  return usage?.parts.reduce((sum, part) => sum + outputTokensOf(part), 0) ?? 0
}

describe('a vendor that ignores the limit', () => {
  for (const format of streamedFormats)
    for (const isStream of formsOf(format))
      it(`is paid for what it delivered: ${format}, ${isStream ? 'streamed' : 'whole'}`, () =>
        withScenario({}, async (gateway) => {
          await gateway.ask({ format, isStream, maxTokens: 16, sandbox: veryLong })
          const exchange = only(await gateway.ended(gateway.account, 1))
          assert.equal(outputOf(exchange), 2_000)
          assert.deepEqual(exchange.marks, ['over_hold'])
        }))

  it('is paid for 64,000 tokens where one was asked for', () =>
    withScenario({}, async (gateway) => {
      const more = { max_tokens: undefined, max_completion_tokens: 1 }
      const sandbox = `output=64000; ${words}; ignore_limits`
      await gateway.ask({ format: 'chat', isStream: false, more, sandbox })
      const exchange = only(await gateway.ended(gateway.account, 1))
      assert.equal(outputOf(exchange), 64_000)
      assert.deepEqual(exchange.marks, ['over_hold'])
      assert.deepEqual(await ignoredOn(gateway, 'beta-main', 'chat-1'), ['max_completion_tokens'])
    }))

  it('is paid for what it delivered and not for what it counts beyond that', () =>
    withScenario({}, async (gateway) => {
      const sandbox = `${veryLong}; output_tokens=9000`
      await gateway.ask({ format: 'chat', isStream: true, maxTokens: 1, sandbox })
      const exchange = only(await gateway.ended(gateway.account, 1))
      assert.deepEqual(exchange.marks, ['estimated', 'over_hold'])
      assert.ok(outputOf(exchange) >= 2_000 && outputOf(exchange) <= 2_100, `${outputOf(exchange)}`)
    }))

  it('is not believed where nothing of it was delivered', () =>
    withScenario({}, async (gateway) => {
      const sandbox = `output=5; ${words}; output_tokens=9000`
      await gateway.ask({ format: 'chat', isStream: true, maxTokens: 10, sandbox })
      const exchange = only(await gateway.ended(gateway.account, 1))
      assert.deepEqual(exchange.marks, ['implausible'])
      await gateway.ask({ format: 'chat', isStream: true, maxTokens: 10, sandbox })
      assert.deepEqual(await ignoredOn(gateway, 'beta-main', 'chat-1'), [])
    }))

  it('is paid for what a client got that left in the middle', () =>
    withScenario({ settings: { client_left_grace: '0s' } }, async (gateway) => {
      const sandbox = `${long}; stall_event=150`
      const ask: Ask = { format: 'chat', isStream: true, maxTokens: 1, sandbox }
      const answer = openAsk(gateway.url, gateway.account.key, ask)
      await answer.until((text) => text.split('data: ').length > 140)
      answer.leave()
      const exchange = only(await gateway.ended(gateway.account, 1))
      assert.equal(exchange.ending, 'client_left')
      assert.ok(outputOf(exchange) >= 130, `${outputOf(exchange)}`)
    }))

  for (const format of streamedFormats)
    it(`raises the next hold: ${format}`, () =>
      withScenario({}, async (gateway) => {
        const poor = await gateway.createAccount({ balance_usd: '0.01' })
        const ask: Ask = { format, isStream: false, maxTokens: 16, key: poor.key }
        assert.equal((await gateway.ask(ask)).status, 200)
        assert.equal((await gateway.ask({ ...ask, sandbox: long })).status, 200)
        const refused = await gateway.ask(ask)
        assert.equal(refused.status, 402)
        const advice =
          format === 'chat' ? 'The largest max_completion_tokens' : 'No field of the request'
        assert.match(refused.text, / with (8192|16384) tokens of output\. /)
        assert.ok(refused.text.includes(advice), refused.text)
        const { model, main } = places[format]
        assert.deepEqual(await ignoredOn(gateway, main, model), [limitOf(format)])
        const { findings } = await diagnose(gateway.context, {}, checkAnswers)
        assert.ok(
          findings.some(({ message }) => message.includes(`longer than ${limitOf(format)}`)),
        )
      }))
})

const checkAnswers = () => Promise.resolve({ outcome: 'ok', durationMs: 1, status: 200 } as const)

const limitOf = (format: StreamedFormat): string =>
  format === 'responses' ? 'max_output_tokens' : 'max_tokens'

/** What an operator sees on the channel. */
async function ignoredOn(
  { app, context }: Scenario,
  channel: string,
  model: string,
): Promise<readonly string[]> {
  await app.refresh()
  const shown = valueOf(await channelEndpoints.show.operation(context, { channel }))
  return shown.health.find((one) => one.model === model)?.ignored_limits ?? ['no state']
}

describe('output_limit of a channel', () => {
  const limited = { named: { 'beta-main': { output_limit: ['max_completion_tokens'] } } }

  it('keeps another field from lowering the hold', () =>
    withScenario({ channels: limited }, async (gateway) => {
      const poor = await gateway.createAccount({ balance_usd: '0.01' })
      const ask: Ask = { format: 'chat', isStream: false, key: poor.key, maxTokens: 10 }
      const refused = await gateway.ask(ask)
      assert.equal(refused.status, 402)
      assert.match(
        refused.text,
        / with 16384 tokens of output\. The largest max_completion_tokens /,
      )
      const more = { max_tokens: undefined, max_completion_tokens: 10 }
      assert.equal((await gateway.ask({ ...ask, more })).status, 200)
    }))

  it('counts on each channel that may serve, and on no disabled one', () =>
    withScenario(
      { channels: { named: { 'beta-reserve': { output_limit: [] } } } },
      async (gateway) => {
        const poor = await gateway.createAccount({ balance_usd: '0.01' })
        const ask: Ask = { format: 'chat', isStream: false, key: poor.key, maxTokens: 10 }
        const refused = await gateway.ask(ask)
        assert.equal(refused.status, 402)
        assert.match(refused.text, /No field of the request limits its output on every channel/)
        const off = { channel: 'beta-reserve', override: 'disabled' }
        valueOf(await channelEndpoints.off.operation(gateway.context, off))
        await gateway.app.refresh()
        assert.equal((await gateway.ask(ask)).status, 200)
      },
    ))

  it('is exported as it was applied, and shown on the channel', () =>
    withScenario({ channels: limited }, async ({ context }) => {
      const text = await exportCatalogue(context)
      assert.match(text, /output_limit:\s+- max_completion_tokens/)
      assert.equal((await applyCatalogue(context, { text })).kind, 'unchanged')
      const shown = async (channel: string) =>
        valueOf(await channelEndpoints.show.operation(context, { channel })).output_limit
      assert.deepEqual(await shown('beta-main'), ['max_completion_tokens'])
      assert.equal(await shown('beta-reserve'), null)
    }))
})
