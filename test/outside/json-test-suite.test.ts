/**
 * JSONTestSuite's cases through each reader of JSON: bodies of requests and of operators over real
 * sockets, and vendors' answers. What is JSON is accepted, what is not is refused with its status, and
 * each case that leaves a choice has the choice of json-cases.ts. What meters and rules read is what
 * JSON.parse reads.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { JsonExtract } from '../../src/formats/json-extract.ts'
import { asArray, asObject, parseBody } from '../../src/formats/json.ts'
import { messagesCreate } from '../../src/formats/messages/index.ts'
import type { RequestFacts, RequestFault } from '../../src/formats/format.ts'
import { send, type WireAnswer } from '../support/http-client.ts'
import { assertClean, chargesOf } from '../support/money.ts'
import { createAdminToken } from '../support/operations.ts'
import { messagesPath } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'
import { isAccepted, readJsonCases, type JsonCase } from './json-cases.ts'
import { reportFigures } from './report.ts'

const cases = readJsonCases()
const gateway = await scenario({ vendors: 'scripted', settings: { max_failed_sign_ins: '0' } })
after(() => gateway.close())
const { scripted: vendor, account, context } = gateway
const operator = await createAdminToken(context, { role: 'owner' })

/** The case as the value of a member that the gateway knows nothing of. */
function within(before: string, { bytes }: JsonCase, behind = '}'): Buffer {
  return Buffer.concat([Buffer.from(before), bytes, Buffer.from(behind)])
}

const requestStart =
  '{"model":"large-1","max_tokens":16,"messages":[{"role":"user","content":"hi"}],"x":'
const answerStart =
  '{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"Hi"}],"x":'
const answerEnd = ',"usage":{"input_tokens":3,"output_tokens":1}}'
const plainAnswer = Buffer.from(`${answerStart}1${answerEnd}`)

function answerWith(body: Buffer): void {
  vendor.answer((response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.end(body)
  })
}

function ask(body: Buffer): Promise<WireAnswer> {
  return send(gateway.url + messagesPath, {
    method: 'POST',
    headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
    body,
  })
}

test('the list is whole', () => {
  const counts = Object.groupBy(cases, ({ kind }) => kind)
  assert.deepEqual(
    [counts.y?.length, counts.n?.length, counts.i?.length, new Set(cases.map((c) => c.name)).size],
    [95, 188, 35, 318],
  )
})

test('forwards a request that is JSON to the byte, and refuses any other with 400', async () => {
  answerWith(plainAnswer)
  let forwarded = 0
  for (const one of cases) {
    const body = within(requestStart, one)
    const answer = await ask(body)
    if (isAccepted(one, 'request')) {
      assert.equal(answer.status, 200, `${one.name}: ${answer.text}`)
      assert.ok(vendor.last?.body.equals(body), one.name)
      forwarded++
    } else {
      assert.equal(answer.status, 400, `${one.name}: ${answer.text}`)
      assert.match(answer.text, /"type":"invalid_request_error"/)
    }
    assert.equal(vendor.requestCount, forwarded, one.name)
    // By itself no case is a request.
    assert.equal((await ask(one.bytes)).status, 400, one.name)
  }
  assert.equal(vendor.requestCount, forwarded)
  assert.equal((await chargesOf(context.database, account.id)).size, forwarded)
})

test('refuses an operator’s body that is not JSON, and reads any other', async () => {
  for (const one of cases) {
    const answer = await send(`${gateway.adminUrl}/admin/v1/accounts`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${operator.secret}`,
        'content-type': 'application/json',
      },
      body: within('{"x":', one),
    })
    assert.equal(answer.status, 400, `${one.name}: ${answer.text}`)
    // The reader accepts it: the row of the endpoint finds a field that it does not know.
    const isRead = /"field":"x","message":"there is no such field/.test(answer.text)
    assert.equal(isRead, isAccepted(one, 'form'), `${one.name}: ${answer.text}`)
  }
})

test('passes an answer that is JSON to the byte, charges its counts, and no other', async () => {
  const before = (await chargesOf(context.database, account.id)).size
  let charged = 0
  // Those that are no answers come last: they switch both channels off.
  for (const one of cases.toSorted((a, b) => 'yin'.indexOf(a.kind) - 'yin'.indexOf(b.kind))) {
    const body = within(answerStart, one, answerEnd)
    answerWith(body)
    const answer = await ask(within(requestStart, { ...one, bytes: Buffer.from('1') }))
    if (isAccepted(one, 'answer')) {
      assert.equal(answer.status, 200, `${one.name}: ${answer.text}`)
      assert.ok(answer.body.equals(body), one.name)
      charged++
    } else assert.equal(answer.status, 502, `${one.name}: ${answer.text}`)
  }
  const charges = await chargesOf(context.database, account.id)
  assert.equal(charges.size, before + charged)
  assert.equal(new Set(charges.values()).size, 1, 'the same counts cost the same')
  await assertClean(gateway)
})

test('a large answer has the values of JSON.parse, wherever its bytes are cut', () => {
  for (const one of cases) {
    const body = within('{"x":', one, ',"y":7}')
    const expected = parseBody(body)
    assert.equal(expected !== undefined, isAccepted(one, 'answer'), one.name)
    const cuts = body.length > 1_000 ? [body.length >> 1] : body.keys()
    for (const cut of cuts) {
      const extract = new JsonExtract({ names: new Set(['x', 'y']), whole: new Set(['x']) })
      extract.push(body, 0, cut)
      extract.push(body, cut, body.length)
      const value = extract.end()
      // A cut in bytes that are no UTF-8 gives another number of U+FFFD.
      const isText = Buffer.from(body.toString()).equals(body)
      if (isText) assert.deepEqual(value, expected, `${one.name} cut at ${cut}`)
      else assert.equal(value === undefined, expected === undefined, `${one.name} cut at ${cut}`)
    }
  }
})

function readRequest(body: string): RequestFacts | RequestFault {
  return messagesCreate.readRequest(Buffer.from(body), {
    requireMaxTokens: true,
    allowedFeatures: new Set(),
  })
}

test('what is read of a request is what JSON.parse reads', () => {
  let models = 0
  let limits = 0
  for (const one of cases) {
    const text = one.bytes.toString()
    const list = asArray(parseBody(one.bytes))
    if (list?.length !== 1 || !Buffer.from(text).equals(one.bytes)) continue
    const written = text.trim().slice(1, -1)
    const [value] = list
    const rest = '"messages":[{"role":"user","content":"hi"}]}'
    if (typeof value === 'string' && value !== '') {
      const facts = readRequest(`{"model":${written},"max_tokens":16,${rest}`)
      assert.equal('kind' in facts ? facts.message : facts.model, value, one.name)
      models++
    }
    if (typeof value === 'number') {
      const facts = readRequest(`{"model":"large-1","max_tokens":${written},${rest}`)
      const isCount = Number.isSafeInteger(value) && value >= 1
      assert.equal('kind' in facts, !isCount, `${one.name}: ${JSON.stringify(facts)}`)
      limits++
    }
  }
  assert.ok(models > 40 && limits > 20, `${models} models, ${limits} limits`)
})

const nested = `${'['.repeat(600)}${']'.repeat(600)}`

/** Texts that two readers could read in two ways, each with counts in it. */
const doubtful: readonly string[] = [
  '{"usage":{"input_tokens":1},"usage":{"input_tokens":2}}',
  '{"usage":{"input_tokens":1,"input_tokens":2}}',
  '{"usage":{"input_tokens":1},"us\\u0061ge":{"input_tokens":2}}',
  '{"usage":{"input_tokens":1e999,"output_tokens":-0}}',
  '{"usage":{"input_tokens":100000000000000000000,"output_tokens":1e-400}}',
  '{"usage":{"input_tokens":3,"usage\\u0000":4},"usage\\u0000":{"input_tokens":5}}',
  '{"usage":{"input_tokens":3,"\\ud800":4,"x":"\\udfff\\ud800"}}',
  '{"usage":{"__proto__":{"input_tokens":9},"input_tokens":3}}',
  `{"usage":{"input_tokens":3},"x":${nested}}`,
  `{"x":${nested},"usage":{"input_tokens":3}}`,
  '\ufeff{"usage":{"input_tokens":3}}',
  '{"usage":{"input_tokens":3}}\u0000',
  '{"usage":{"input_tokens":3}}{"usage":{"input_tokens":4}}',
]

test('the counts of a doubtful answer are those of JSON.parse', () => {
  for (const text of doubtful) {
    const body = Buffer.from(text)
    const extract = new JsonExtract({
      names: new Set(['usage', 'input_tokens', 'output_tokens']),
    })
    extract.push(body, 0, body.length)
    const [read, expected] = [extract.end(), parseBody(body)].map(
      (value) => asObject(asObject(value)?.['usage']) ?? value,
    )
    for (const name of ['input_tokens', 'output_tokens'])
      assert.ok(Object.is(asObject(read)?.[name], asObject(expected)?.[name]), text)
    assert.equal(read === undefined, expected === undefined, text)
  }
})

after(() => {
  const readers = ['request', 'form', 'answer'] as const
  const part = { request: 'request bodies', form: "operators' bodies", answer: "vendors' answers" }
  for (const reader of readers) {
    const chosen = cases.filter((one) => one.kind === 'i')
    const count = (list: readonly JsonCase[]): number =>
      list.filter((one) => isAccepted(one, reader)).length
    reportFigures({
      set: 'json-test-suite',
      part: part[reader],
      cases: cases.length,
      exceptions: cases.filter((one) => one.kind === 'y' && !isAccepted(one, reader)).length,
      figures: `of ${chosen.length} cases with a choice ${count(chosen)} are accepted`,
    })
  }
})
