/**
 * The admin listener on the bare socket: it refuses what the public one refuses, and asks nobody for a body
 * whose credential it does not accept.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { connectRaw, exchangeRaw, type RawAnswer } from '../support/http-client.ts'
import {
  malformedRequests,
  writeRequest,
  type ProperRequest,
} from '../support/malformed-requests.ts'
import { createAdminToken, listAccounts } from '../support/operations.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

let gateway: Scenario
let token: string

before(async () => {
  gateway = await scenario()
  token = (await createAdminToken(gateway.context, { name: 'test' })).secret
})

after(() => gateway.close())

const proper: ProperRequest = {
  path: '/admin/v1/accounts',
  credential: () => token,
  body: JSON.stringify({ name: 'acme' }),
}

function codeOf(answer: RawAnswer): unknown {
  const problem = JSON.parse(answer.body.toString()) as Readonly<Record<string, unknown>>
  assert.equal(answer.headers['content-type'], 'application/problem+json')
  assert.equal(problem['status'], answer.status)
  assert.equal(problem['request_id'], answer.headers['x-turnpike-request-id'])
  return problem['code']
}

for (const [name, bytes] of Object.entries(malformedRequests(proper)))
  test(`${name}: one refusal, then the connection closes`, async () => {
    const answers = await exchangeRaw(gateway.adminUrl, Buffer.from(bytes(), 'latin1'))
    assert.equal(answers.length, 1)
    const [answer] = answers
    assert.ok(answer !== undefined && answer.isComplete)
    const code = codeOf(answer)
    if (answer.status === 405) assert.equal(code, 'http.method_not_allowed')
    else assert.deepEqual([answer.status, code], [400, 'http.malformed'])
    assert.equal(answer.headers['connection'], 'close')
    assert.deepEqual(await names(), [gateway.account.name])
  })

async function names(): Promise<readonly string[]> {
  return (await listAccounts(gateway.context, {})).items.map(({ name }) => name)
}

test('more headers than the public side reads are refused', async () => {
  const lines = Array.from({ length: 257 }, () => 'A: b\r\n')
  const [answer] = await exchangeRaw(gateway.adminUrl, writeRequest(proper, { lines }, ''))
  assert.ok(answer !== undefined)
  assert.deepEqual([answer.status, codeOf(answer)], [431, 'http.head_too_large'])
})

test('a client that expects 100 Continue and is refused gets no 100, and its connection closes', async () => {
  const expecting = [`Content-Length: ${proper.body.length}\r\nExpect: 100-continue\r\n`]
  const cases: readonly (readonly [number, string])[] = [
    [401, writeRequest({ ...proper, credential: () => 'ad_no' }, { lines: expecting }, '')],
    [404, writeRequest({ ...proper, path: '/admin/v1/nothing' }, { lines: expecting }, '')],
    [
      413,
      writeRequest(proper, { lines: ['Content-Length: 300000\r\nExpect: 100-continue\r\n'] }, ''),
    ],
    [400, writeRequest(proper, { lines: ['Expect: 200-ok\r\n'] }, '')],
  ]
  for (const [status, bytes] of cases) {
    const answers = await exchangeRaw(gateway.adminUrl, bytes)
    assert.deepEqual(
      answers.map((answer) => [answer.status, answer.headers['connection']]),
      [[status, 'close']],
    )
  }
})

test('a client that expects 100 Continue and has a token gets 100, then its answer', async () => {
  const lines = [`Content-Length: ${proper.body.length}\r\nExpect: 100-continue\r\n`]
  const connection = await connectRaw(gateway.adminUrl)
  connection.write(writeRequest(proper, { lines }, ''))
  assert.equal((await connection.next())?.status, 100)
  connection.write(proper.body)
  assert.equal((await connection.next())?.status, 201)
  connection.close()
})

test('bytes that are no request, behind one whose answer is under way, end it', async () => {
  const connection = await connectRaw(gateway.adminUrl)
  connection.write(`GET /admin/v1/events HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${token}\r\n\r\n`)
  await once(connection.socket, 'data')
  connection.write('\0\0\r\n\r\n')
  const answer = await connection.next()
  assert.deepEqual([answer?.status, answer?.isComplete], [200, false])
  assert.doesNotMatch(String(answer?.body), /HTTP/)
  connection.close()
})
