/** Requests for responses through a whole gateway: what reaches the client, what it costs, what it proves. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { send, type WireAnswer } from '../support/http-client.ts'
import { assertClean, chargesOf, only, vendorPrice } from '../support/money.ts'
import { responsesPath, responsesRequest, type JsonFields } from '../support/requests.ts'
import { failoverDefaults, scenario, type Scenario } from '../support/scenario.ts'

let gateway: Scenario
beforeEach(async () => {
  gateway = await scenario({ ...failoverDefaults, account: { balance_usd: '100' } })
})
afterEach(async () => {
  await assertClean(gateway)
  await gateway.close()
})

const main = 'beta-main'
const reserve = 'beta-reserve'

interface Ask {
  readonly marker: string
  readonly isStream?: boolean
  readonly sandbox?: string
  readonly fields?: JsonFields
}

function ask({ marker, isStream = false, sandbox, fields }: Ask): Promise<WireAnswer> {
  return send(gateway.url + responsesPath, {
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${gateway.account.key}`,
      'x-sandbox-marker': marker,
      ...(sandbox !== undefined && { 'x-sandbox': sandbox }),
    },
    body: JSON.stringify(
      responsesRequest({ stream: isStream, max_output_tokens: 50_000, ...fields }),
    ),
  })
}

/** The client has its end, so the charge is stored. */
async function charges(): Promise<readonly bigint[]> {
  return [...(await chargesOf(gateway.context.database, gateway.account.id)).values()]
}

for (const isStream of [false, true])
  for (const fields of [{ prompt_cache_options: { prewarm: true } }, { generate: false }])
    test(`${JSON.stringify(fields)} costs its prompt, ${isStream ? 'streamed' : 'whole'}`, async () => {
      const sandbox = 'input=900; cache_write=800; output=0'
      const answer = await ask({ marker: 'warm', isStream, sandbox, fields })
      assert.equal(answer.status, 200, answer.text)
      const served = await gateway.served('warm', main)
      assert.ok(vendorPrice(served) > 0n)
      assert.deepEqual(await charges(), [vendorPrice(served)])
    })

for (const isStream of [false, true])
  for (const content of ['text', 'reasoning', 'tool', 'reasoning,text,tool', 'refusal'])
    test(`${content} ${isStream ? 'streamed' : 'whole'} passes to the byte and costs what was served`, async () => {
      const marker = `${content} ${isStream}`
      const cached = 'cached=30; cache_write=20; output=12; reasoning=40; tier=default'
      const sandbox = `content=${content}; ${cached}`
      const answer = await ask({ marker, isStream, sandbox })
      assert.equal(answer.status, 200, answer.text)
      assert.ok(answer.isComplete)
      const served = await gateway.served(marker, main)
      assert.equal(answer.text, served.responseBody?.toString())
      assert.ok(vendorPrice(served) > 0n)
      assert.deepEqual(await charges(), [vendorPrice(served)])
    })

test('an answer of six megabytes passes to the byte and costs what was served', async () => {
  const marker = 'large'
  const answer = await ask({ marker, isStream: true, sandbox: 'output=60; frame=100000' })
  const served = await gateway.served(marker, main)
  assert.ok(answer.text === served.responseBody?.toString())
  assert.ok(answer.isComplete && answer.body.length > 18_000_000)
  assert.deepEqual(await charges(), [vendorPrice(served)])
})

for (const form of ['event', 'flat', 'failed', 'both'] as const) {
  test(`an error that comes first, as ${form}, sends the request to the reserve`, async () => {
    const marker = `first ${form}`
    gateway.sandbox.faults.set(main, `error_first=500; error_as=${form}`)
    const answer = await ask({ marker, isStream: true })
    gateway.sandbox.faults.clear()
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(gateway.tried(marker), [main, reserve])
    assert.equal(answer.text, (await gateway.served(marker, reserve)).responseBody?.toString())
  })

  test(`an error midway, as ${form}, reaches the client, ends the stream and costs nothing`, async () => {
    const marker = `midway ${form}`
    const sandbox = `output=8; error_at=6; event_error=500; error_as=${form}`
    const answer = await ask({ marker, isStream: true, sandbox })
    assert.equal(answer.status, 200)
    assert.equal(answer.isComplete, false)
    assert.match(answer.text, /event: (?:error|response\.failed)\ndata: [^\n]*\n\n$/)
    assert.doesNotMatch(answer.text, /response\.completed/)
    const served = await gateway.served(marker, main)
    assert.ok(served.responseBody?.toString().startsWith(answer.text))
    const exchange = only(await gateway.ended(gateway.account, 1))
    assert.deepEqual([exchange.ending, exchange.amountPicos], ['upstream_cut', 0n])
  })
}

test('a stream that is cut ends with an error event and never looks whole', async () => {
  for (const sandbox of ['cut_event=7', 'cut_event=7; cut_as=end', 'terminal=missing', 'cut=-30']) {
    const answer = await ask({ marker: sandbox, isStream: true, sandbox: `output=8; ${sandbox}` })
    assert.equal(answer.status, 200)
    assert.equal(answer.isComplete, false, sandbox)
    assert.match(
      answer.text,
      /\n\nevent: error\ndata: \{"type":"error",[^\n]*broke off[^\n]*\}\n\n$/,
    )
    assert.doesNotMatch(answer.text, /^event: response\.completed\ndata: .*\}\n\n/m)
  }
})

for (const way of [
  '',
  '; not_offered_as=404_page',
  '; not_offered_as=405',
  '; not_offered_as=501',
]) {
  test(`a channel that does not offer it${way} is passed over, and is not blamed`, async () => {
    gateway.sandbox.faults.set(main, `not_offered=responses${way}`)
    for (let asked = 0; asked < 7; asked++) {
      const marker = `lacks${way} ${asked}`
      assert.equal((await ask({ marker, isStream: asked % 2 === 0 })).status, 200)
      assert.deepEqual(gateway.tried(marker), asked === 0 ? [main, reserve] : [reserve])
    }
    assert.equal(gateway.grade(main, 'chat-1'), 'on')
    const chat = await gateway.ask({ format: 'chat', isStream: false, marker: `beside${way}` })
    assert.equal(chat.status, 200)
    assert.deepEqual(gateway.tried(`beside${way}`), [main])
    gateway.sandbox.faults.set(reserve, `not_offered=responses${way}`)
    const refused = await ask({ marker: `none${way}` })
    gateway.sandbox.faults.clear()
    assert.equal(refused.status, 404)
    assert.match(refused.text, /does not offer this endpoint/)
    assert.equal(gateway.grade(reserve, 'chat-1'), 'on')
  })
}

test('what the gateway refuses never reaches a vendor', async () => {
  const before = gateway.sandbox.log.records.length
  const refused: readonly (readonly [JsonFields, RegExp])[] = [
    [{ background: true }, /background are not available/],
    [{ conversation: 'conv_1' }, /Conversations are not available/],
    [
      { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] },
      /File search is not available/,
    ],
    [
      { tools: [{ type: 'shell', environment: { type: 'container_auto' } }] },
      /Containers are not available here; leave `container` and tools that run in one out/,
    ],
    [{ input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-1' }] }] }, /Files/],
  ]
  for (const [fields, message] of refused) {
    const answer = await ask({ marker: 'refused', fields })
    assert.equal(answer.status, 400)
    assert.match(answer.text, message)
  }
  assert.equal(gateway.sandbox.log.records.length, before)
})

test('a refusal for the balance names the field that limits a response', async () => {
  const one = await gateway.createAccount({ balance_usd: '0.0001' })
  const least = await gateway.createAccount({ balance_usd: '0.000001' })
  const none = await gateway.createAccount({ balance_usd: '0' })
  for (const [{ key }, message] of [
    [one, /The largest max_output_tokens that the balance covers for this request is \d+\./],
    [least, /It does not cover this request with any max_output_tokens\. Top up the account\./],
    [none, /balance 0 USD.*with any max_output_tokens\. Top up the account\./],
  ] as const) {
    const refused = await send(gateway.url + responsesPath, {
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify(responsesRequest({})),
    })
    assert.equal(refused.status, 402)
    assert.match(refused.text, message)
    assert.doesNotMatch(refused.text, /max_tokens/)
  }
})
