/** One active check against the simulated vendors: what it asks, and how each answer is judged. */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { makeCertificate } from '../../../test/support/certificate.ts'
import { ManualClock } from '../../../test/support/manual-clock.ts'
import { startScriptedVendor, type ScriptedVendor } from '../../../test/support/scripted-vendor.ts'
import { makeChannel, vendors } from '../../../test/support/snapshots.ts'
import { systemClock } from '../../base/clock.ts'
import { chatCompletions } from '../../formats/chat/index.ts'
import { completions } from '../../formats/completions/index.ts'
import { embeddings } from '../../formats/embeddings/index.ts'
import type { FormatName } from '../../formats/format.ts'
import { messagesCreate } from '../../formats/messages/index.ts'
import { responsesCreate } from '../../formats/responses/index.ts'
import { startSandbox, type Sandbox } from '../../../sandbox/sandbox.ts'
import type { Channel } from '../channel.ts'
import { checkChannel, type CheckRequest, type CheckResult } from './check.ts'
import type { Outcome } from '../health/health-event.ts'
import { UpstreamPools } from '../../http/client/pool.ts'

let sandbox: Sandbox
let vendor: ScriptedVendor
let upstream: UpstreamPools
before(async () => {
  sandbox = await startSandbox({ keepBodies: true })
  vendor = await startScriptedVendor()
})
after(async () => {
  await sandbox.close()
  await vendor.close()
})
beforeEach(() => {
  sandbox.faults.clear()
  sandbox.log.clear()
  upstream = new UpstreamPools({ connectTimeoutMs: 5_000 })
})
afterEach(() => upstream.close())

const operations = { messages: messagesCreate, chat: chatCompletions } as const

function requestFor(
  format: FormatName,
  by: CheckRequest['by'],
  more: Partial<Channel> = {},
): CheckRequest {
  const channel = makeChannel('probed', {
    vendor: vendors[format].name,
    url: `${sandbox.url}/probed`,
    models: new Map([['model-1', 'their-model']]),
    check: by,
    ...more,
  })
  const operation = operations[format]
  return { vendor: vendors[format], channel, model: 'model-1', operation, by, timeoutMs: 30_000 }
}

function check(request: CheckRequest): Promise<CheckResult> {
  return checkChannel(request, { upstream, clock: systemClock })
}

for (const format of ['messages', 'chat'] as const) {
  describe(`a check of a ${format} channel`, () => {
    test('by request is one tiny request under the channel’s own name of the model', async () => {
      const result = await check(requestFor(format, 'request'))
      assert.deepEqual([result.outcome, result.status], ['ok', 200])
      assert.ok(result.durationMs >= 0)
      const [record] = sandbox.log.records
      assert.equal(sandbox.log.records.length, 1)
      assert.equal(record?.method, 'POST')
      const body = JSON.parse(String(record?.requestBody)) as Record<string, unknown>
      assert.equal(body['model'], 'their-model')
      assert.equal(body['max_tokens'], 1)
      assert.notEqual(body['stream'], true)
    })

    test('that is a bad request in one spelling is asked in the next, where there is one', async () => {
      sandbox.faults.set('probed', ['error=400', ''])
      const { outcome } = await check(requestFor(format, 'request'))
      const fields = sandbox.log.records.map(({ requestBody }) =>
        Object.keys(JSON.parse(String(requestBody)) as object).filter((key) =>
          key.startsWith('max_'),
        ),
      )
      const isChat = format === 'chat'
      assert.equal(outcome, isChat ? 'ok' : 'client')
      const later = isChat ? [['max_completion_tokens']] : []
      assert.deepEqual(fields, [['max_tokens'], ...later])
    })

    test('by listing asks for the models and for nothing that costs', async () => {
      const result = await check(requestFor(format, 'models'))
      assert.deepEqual([result.outcome, result.status], ['ok', 200])
      const [record] = sandbox.log.records
      assert.equal(record?.method, 'GET')
      assert.equal(record?.target, '/probed/v1/models')
    })

    for (const [said, restMs] of [
      ['retry_after=30', 30_000],
      ['retry_after=none; header=retry-after-ms:2500', 2_500],
      ['retry_after=none', undefined],
    ] as const)
      test(`that meets a 429 with ${said} tells for how long, as traffic does`, async () => {
        sandbox.faults.set('probed', `error=429; ${said}`)
        const { outcome, retryAfterMs } = await check(requestFor(format, 'request'))
        assert.deepEqual([outcome, retryAfterMs], ['throttle', restMs])
      })

    test('that meets a coded refusal reads it, and takes none for one that it cannot read', async () => {
      const codings = { gzip: gzipSync, zstd: zstdCompressSync, compress: gzipSync }
      const outcomes: Record<string, Outcome> = {}
      for (const [coding, compress] of Object.entries(codings)) {
        vendor.answer((response) => {
          response.writeHead(404, { 'content-encoding': coding })
          response.end(compress('{"error":{"type":"not_found_error","message":"model: x"}}'))
        })
        const { outcome } = await check(requestFor(format, 'request', { url: vendor.url }))
        outcomes[coding] = outcome
      }
      assert.deepEqual(outcomes, { gzip: 'model_missing', zstd: 'model_missing', compress: 'hard' })
    })

    test('reads an answer that comes compressed as traffic does, whole and streamed', async () => {
      const answers: Buffer[] = []
      for (const form of ['whole', 'stream'] as const) {
        sandbox.log.clear()
        await check({ ...requestFor(format, 'request'), form })
        answers.push(sandbox.log.records[0]?.responseBody ?? Buffer.alloc(0))
      }
      const [whole, stream] = answers.map((answer) => gzipSync(answer))
      vendor.answer((response, { body }) => {
        const { stream: asked } = JSON.parse(body.toString()) as { stream?: boolean }
        const asksStream = asked === true
        const type = asksStream ? 'text/event-stream' : 'application/json'
        response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' })
        response.end(asksStream ? stream : whole)
      })
      for (const form of ['whole', 'stream'] as const) {
        const request = { ...requestFor(format, 'request', { url: vendor.url }), form }
        const { outcome, usage } = await check(request)
        assert.deepEqual([outcome, usage !== undefined], ['ok', true], form)
      }
    })

    test('that is streamed passes without a terminal event only where its end is announced', async () => {
      const outcomes: Outcome[] = []
      for (const fault of ['', '; framing=close', '; cut_event=2; cut_as=end']) {
        sandbox.faults.set('probed', `terminal=missing${fault}`)
        const { outcome } = await check({ ...requestFor(format, 'request'), form: 'stream' })
        outcomes.push(outcome)
      }
      assert.deepEqual(outcomes, ['ok', 'broken', 'broken'])
    })

    const verdicts: readonly (readonly [string, Outcome, number | undefined])[] = [
      ['error=401', 'config', 401],
      ['error=403', format === 'messages' ? 'config' : 'model_missing', 403],
      ['error=404', 'model_missing', 404],
      ['error=429', 'throttle', 429],
      ['error=500', 'hard', 500],
      ['error=502', 'hard', 502],
      ['error=400', 'client', 400],
      ['redirect=http://127.0.0.1:9/; status=307', 'hard', 307],
      ['not_format=html', 'hard', 200],
      ['not_format=json', 'hard', 200],
      ['not_format=garbage', 'hard', 200],
      ['not_format=empty', 'hard', 200],
      ['not_format=other_format', 'hard', 200],
      ['truncated_json', 'hard', 200],
      ['close=before_head', 'hard', undefined],
      ['reset=after_head', 'hard', 200],
      ['cut=20', 'hard', 200],
    ]
    for (const [fault, outcome, status] of verdicts)
      test(`that meets ${fault} says ${outcome}`, async () => {
        sandbox.faults.set('probed', fault)
        const result = await check(requestFor(format, 'request'))
        assert.deepEqual([result.outcome, result.status], [outcome, status])
      })
  })
}

describe('a check of a model that offers responses only', () => {
  function responsesRequestFor(form: 'whole' | 'stream'): CheckRequest {
    return { ...requestFor('chat', 'request'), operation: responsesCreate, form }
  }

  test('is one tiny response that the vendor does not keep, whole or streamed', async () => {
    for (const form of ['whole', 'stream'] as const) {
      sandbox.log.clear()
      const { outcome, status, usage } = await check(responsesRequestFor(form))
      assert.deepEqual([outcome, status, usage !== undefined], ['ok', 200, true])
      const [record] = sandbox.log.records
      assert.equal(record?.target, '/probed/v1/responses')
      const body: unknown = JSON.parse(String(record.requestBody))
      const plain = { model: 'their-model', input: 'ping', max_output_tokens: 16, store: false }
      assert.deepEqual(body, form === 'stream' ? { ...plain, stream: true } : plain)
    }
  })

  test('is asked without `store` where a server does not know it', async () => {
    sandbox.faults.set('probed', ['error=400', ''])
    assert.equal((await check(responsesRequestFor('whole'))).outcome, 'ok')
    const stores = sandbox.log.records.map(
      ({ requestBody }) => 'store' in (JSON.parse(String(requestBody)) as object),
    )
    assert.deepEqual(stores, [true, false])
  })

  const verdicts: readonly (readonly [string, 'whole' | 'stream', Outcome])[] = [
    ['error=401', 'whole', 'config'],
    ['error=404', 'whole', 'model_missing'],
    ['error=429', 'whole', 'throttle'],
    ['error=400', 'whole', 'client'],
    ['not_offered=responses', 'whole', 'config'],
    ['stop=failed', 'whole', 'hard'],
    ['not_format=json', 'whole', 'hard'],
    ['error_first=500; error_as=failed', 'stream', 'hard'],
    ['terminal=missing', 'stream', 'broken'],
    ['cut_event=5; cut_as=end', 'stream', 'broken'],
    ['cut_event=2; cut_as=end', 'stream', 'hard'],
  ]
  for (const [fault, form, outcome] of verdicts)
    test(`that is ${form} and meets ${fault} says ${outcome}`, async () => {
      sandbox.faults.set('probed', fault)
      assert.equal((await check(responsesRequestFor(form))).outcome, outcome)
    })
})

for (const [operation, path] of [
  [embeddings, 'embeddings'],
  [completions, 'completions'],
] as const)
  test(`a check of a model that offers ${path} only is one tiny request, in either form`, async () => {
    for (const form of ['whole', 'stream'] as const) {
      sandbox.log.clear()
      const request = { ...requestFor('chat', 'request'), operation, form }
      const { outcome, usage } = await check(request)
      assert.deepEqual([outcome, usage !== undefined], ['ok', true], form)
      assert.equal(sandbox.log.records[0]?.target, `/probed/v1/${path}`)
    }
  })

test('a connection that went stale is tried once more, and says nothing about the channel', async () => {
  const request = requestFor('messages', 'request')
  assert.equal((await check(request)).outcome, 'ok')
  sandbox.faults.set('probed', ['reset=before_head'])
  assert.equal((await check(request)).outcome, 'ok')
  assert.equal(sandbox.log.records.length, 3)
  sandbox.faults.set('probed', 'reset=before_head')
  assert.equal((await check(request)).outcome, 'hard')
})

test('silence ends at the time limit, and the request with it', async () => {
  const clock = new ManualClock()
  sandbox.faults.set('probed', 'hold=silent@before_head')
  const request = requestFor('chat', 'request')
  const result = checkChannel({ ...request, timeoutMs: 1_000 }, { upstream, clock })
  await sandbox.faults.reached('silent')
  clock.advance(1_000)
  assert.deepEqual(await result, { outcome: 'hard', durationMs: 1_000, status: undefined })
  const record = await sandbox.log.waitFor((one) => one.phase === 'closed')
  assert.equal(record.closedBy, 'client')
  assert.equal(clock.pendingCount, 0)
})

test('an answered check leaves no timer behind', async () => {
  const clock = new ManualClock()
  await checkChannel(requestFor('chat', 'request'), { upstream, clock })
  assert.equal(clock.pendingCount, 0)
})

test('a refused connection is hard; a certificate that cannot be trusted waits for the operator', async () => {
  const closed = requestFor('chat', 'request', { url: 'http://127.0.0.1:9' })
  assert.deepEqual((await check(closed)).outcome, 'hard')
  const server = createTlsServer(makeCertificate('localhost'))
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve))
  const { port } = server.address() as AddressInfo
  try {
    const url = `https://127.0.0.1:${port}`
    assert.equal(
      (await check(requestFor('chat', 'request', { url }))).outcome,
      'certificate_refused',
    )
  } finally {
    await new Promise((resolve) => server.close(resolve))
  }
})
