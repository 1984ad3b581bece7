/**
 * Traces over OTLP: a real collector on loopback keeps the requests, and the official classes decode it. A
 * gateway sends what waits when it closes, so each test closes its gateway before it looks.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import { openOtlpTraces } from '../../src/telemetry/otlp-traces.ts'
import { send } from '../support/http-client.ts'
import { wireRequest, urlOf, type Ask } from '../support/requests.ts'
import { failoverDefaults, type Scenario, scenario } from '../support/scenario.ts'
import {
  type Collector,
  decodeSpans,
  missingPython,
  type ReceivedSpan,
  startCollector,
} from './collector.ts'

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const parentId = '00f067aa0ba902b7'
const sampled = `00-${traceId}-${parentId}-01`
const unsampled = `00-${traceId}-${parentId}-00`
const canary = 'xylophone-canary'

let collector: Collector
before(async () => {
  collector = await startCollector()
})
after(() => collector.close())

type Settings = Readonly<Record<string, string>>

/** Runs a gateway that exports to a new collector, closes it, and returns the received spans. */
async function spansOf(
  settings: Settings,
  work: (gateway: Scenario) => Promise<void>,
): Promise<readonly ReceivedSpan[]> {
  const own = await startCollector()
  try {
    await withGateway({ otlp_endpoint: own.url, ...settings }, work)
    return await decodeSpans(own)
  } finally {
    await own.close()
  }
}

async function withGateway(
  settings: Settings,
  work: (gateway: Scenario) => Promise<void>,
): Promise<void> {
  const gateway = await scenario({ ...failoverDefaults, settings })
  try {
    await work(gateway)
  } finally {
    await gateway.close()
  }
}

function askWith(
  { url, account }: Scenario,
  ask: Ask,
  headers: Readonly<Record<string, string>>,
): ReturnType<typeof send> {
  const request = wireRequest(account.key, ask)
  const all = { ...(request.headers as Readonly<Record<string, string>>), ...headers }
  return send(urlOf(url, ask.format), { ...request, headers: all })
}

const whole: Ask = { format: 'messages', isStream: false, prompt: canary }
const stream: Ask = { format: 'chat', isStream: true, prompt: canary }

function valueOf(rawHeaders: readonly string[], name: string): string | undefined {
  const index = rawHeaders.findIndex((one, at) => at % 2 === 0 && one.toLowerCase() === name)
  return index < 0 ? undefined : rawHeaders[index + 1]
}

if (missingPython !== undefined)
  process.stdout.write(`not run: decoding of traces, because ${missingPython}\n`)

describe('traces', { skip: missingPython !== undefined }, () => {
  test('the client’s span is the parent of the exchange, and the exchange of its attempt', async () => {
    const spans = await spansOf({}, async (gateway) => {
      await askWith(gateway, stream, { traceparent: sampled })
    })
    const [exchange, attempt] = spans
    assert.ok(exchange !== undefined && attempt !== undefined && spans.length === 2)
    assert.partialDeepStrictEqual(exchange, { traceId, parentId, kind: 2, status: 0 })
    assert.partialDeepStrictEqual(attempt, { traceId, parentId: exchange.spanId, kind: 3 })
    assert.equal(exchange.name, 'POST /beta/v1/chat/completions')
    assert.equal(attempt.name, 'chat chat-1')
    assert.ok(attempt.startMs >= exchange.startMs && attempt.endMs <= exchange.endMs)
    assert.ok(attempt.endMs > attempt.startMs)
    assert.partialDeepStrictEqual(exchange.attributes, {
      'http.response.status_code': 200,
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'beta',
      'gen_ai.request.model': 'chat-1',
      'gen_ai.request.stream': true,
      'gen_ai.response.finish_reasons': ['stop'],
      'turnpike.ending': 'completed',
      'turnpike.channel': 'beta-main',
    })
    assert.ok(Number(exchange.attributes['gen_ai.usage.output_tokens']) > 0)
    assert.ok(Number(exchange.attributes['gen_ai.usage.input_tokens']) > 0)
    assert.ok(Number(exchange.attributes['turnpike.cost_usd']) > 0)
    assert.equal(exchange.attributes['error.type'], undefined)
    assert.partialDeepStrictEqual(attempt.attributes, {
      'server.address': '127.0.0.1',
      'turnpike.attempt.class': 'answered',
      'turnpike.attempt.next': 'commit',
    })
    assert.equal(exchange.resource['service.name'], 'turnpike')
  })

  test('a failover is two attempts below one exchange', async () => {
    const spans = await spansOf({}, async (gateway) => {
      gateway.sandbox.faults.set('alpha-main', 'status=529')
      assert.equal((await gateway.ask(whole)).status, 200)
    })
    const [exchange, first, second] = spans
    assert.ok(exchange !== undefined && first !== undefined && second !== undefined)
    assert.equal(spans.length, 3)
    assert.equal(exchange.parentId, '', 'without a traceparent the exchange begins the trace')
    for (const { parentId: of } of [first, second]) assert.equal(of, exchange.spanId)
    assert.equal(first.status, 2)
    assert.partialDeepStrictEqual(first.attributes, {
      'turnpike.channel': 'alpha-main',
      'turnpike.attempt.next': 'failover',
      'http.response.status_code': 529,
    })
    assert.equal(first.attributes['error.type'], first.attributes['turnpike.attempt.class'])
    assert.partialDeepStrictEqual(second.attributes, {
      'turnpike.channel': 'alpha-reserve',
      'turnpike.attempt.class': 'answered',
      'http.request.resend_count': 1,
    })
    assert.equal(exchange.attributes['turnpike.channel'], 'alpha-reserve')
  })

  test('a stream that the vendor cuts is an error of the attempt and of the exchange', async () => {
    const spans = await spansOf({}, async (gateway) => {
      await gateway.ask({ ...stream, sandbox: 'output=20; cut_event=4' })
    })
    const [exchange, attempt] = spans
    assert.equal(attempt?.attributes['turnpike.attempt.class'], 'cut')
    assert.deepEqual([exchange?.status, attempt?.status], [2, 2])
    assert.equal(exchange?.attributes['turnpike.ending'], 'upstream_cut')
  })

  test('a refused request of a known caller is a span with its code; an unknown caller leaves none', async () => {
    const spans = await spansOf({}, async (gateway) => {
      await gateway.ask({ ...whole, key: `cr_${canary}` })
      await gateway.ask({ ...whole, model: canary })
      await send(`${gateway.url}/alpha/v1/models`, {
        headers: { authorization: `Bearer ${gateway.account.key}` },
      })
    })
    assert.deepEqual(
      spans.map(({ attributes }) => [
        attributes['http.response.status_code'],
        attributes['turnpike.ending'],
        attributes['error.type'],
      ]),
      [
        [404, 'not_admitted', 'relay.model_unknown'],
        [200, 'completed', undefined],
      ],
    )
  })

  test('nothing of bodies or secrets is in what the collector gets', async () => {
    const own = await startCollector()
    let secret = ''
    await withGateway({ otlp_endpoint: own.url }, async (gateway) => {
      secret = gateway.account.key
      for (const ask of [whole, stream]) await gateway.ask(ask)
    })
    const sent = Buffer.concat(own.bodies).toString('latin1')
    await own.close()
    assert.ok(sent.includes('turnpike.exchange.id'))
    assert.ok(!sent.includes(canary))
    assert.ok(!sent.includes(secret))
  })

  test('the client decides whether its request is traced; the ratio decides for the others', async () => {
    const spans = await spansOf({ otlp_sample_ratio: '0' }, async (gateway) => {
      await gateway.ask(whole)
      await askWith(gateway, whole, { traceparent: unsampled })
      await askWith(gateway, whole, { traceparent: sampled })
      await askWith(gateway, whole, { traceparent: 'nonsense' })
    })
    assert.deepEqual(
      spans.map((span) => span.traceId),
      [traceId, traceId],
    )
  })
})

describe('trace headers to the vendor', () => {
  const given = { traceparent: sampled, tracestate: 'acme=1,other=2' }

  for (const [title, settings] of [
    ['without traces', {}],
    ['with traces', { otlp_endpoint: 'http://127.0.0.1:9' }],
  ] as const)
    test(`${title} the client’s own pass unchanged`, () =>
      withGateway(settings, async (gateway) => {
        await askWith(gateway, { ...whole, marker: 'own' }, given)
        const { rawHeaders } = await gateway.served('own', 'alpha-main')
        assert.equal(valueOf(rawHeaders, 'traceparent'), given.traceparent)
        assert.equal(valueOf(rawHeaders, 'tracestate'), given.tracestate)
      }))
})

describe('a collector that fails', () => {
  for (const behaviour of ['refuse', 'hang'] as const)
    test(`harms no request when it answers with ${behaviour === 'hang' ? 'nothing' : '500'}`, () =>
      withGateway({ otlp_endpoint: collector.url }, async (gateway) => {
        collector.behaviour = behaviour
        for (const ask of [whole, stream]) assert.equal((await gateway.ask(ask)).status, 200)
      }))

  test('makes spans wait up to a bound; spans beyond it, and those it refuses, are counted', async () => {
    collector.behaviour = 'refuse'
    const counts = { exported: 0, failed: 0, dropped: 0 }
    const refused = Promise.withResolvers<void>()
    const traces = openOtlpTraces({
      clock: systemClock,
      endpoint: collector.url,
      sampleRatio: 1,
      serviceVersion: '0',
      instance: 'test',
      region: 'test',
      onSpans(result, count) {
        counts[result] += count
        if (counts.failed === 8_192) refused.resolve()
      },
    })
    for (let count = 0; count < 10_000; count++) endOne(traces)
    assert.deepEqual(counts, { exported: 0, failed: 0, dropped: 10_000 - 8_192 })
    await Promise.all([traces.close(), refused.promise])
    assert.deepEqual(counts, { exported: 0, failed: 8_192, dropped: 10_000 - 8_192 })
  })
})

function endOne(traces: ReturnType<typeof openOtlpTraces>): void {
  const trace = traces.begin({
    exchangeId: 'ex_1',
    accountId: 'acc_1',
    keyId: 'key_1',
    vendor: 'alpha',
    method: 'POST',
    startedAtMs: systemClock.now(),
    startedMonotonicMs: systemClock.monotonic(),
    traceparent: undefined,
    tracestate: undefined,
  })
  const model = 'large-1'
  trace.end({
    operation: 'messages.create',
    model,
    ending: 'completed',
    status: 200,
    code: undefined,
  })
}
