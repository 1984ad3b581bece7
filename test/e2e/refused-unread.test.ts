/**
 * A request that cannot be admitted whatever its body says: the gateway neither parses nor keeps its body,
 * drops it, and then answers, so that the client sees the answer and not a reset. Run on both stores.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { AccountOptions } from '../support/accounts.ts'
import { connectRaw, post, send, type WireAnswer } from '../support/http-client.ts'
import { creditAccount, limitAccount, setAccountStatus } from '../support/operations.ts'
import { messagesPath, messagesRequest } from '../support/requests.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

let gateway: Scenario

/** No JSON: parsing it would give 400. */
const largeBody = Buffer.alloc(12_000_000, '[')

function sendLarge(key: string, path = messagesPath): Promise<WireAnswer> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  return send(gateway.url + path, { method: 'POST', headers, body: largeBody })
}

interface Inadmissible {
  readonly name: string
  readonly wish: AccountOptions
  readonly makeSo?: (owner: { readonly name: string; readonly key: string }) => Promise<unknown>
  readonly status: number
  readonly message: RegExp
}

const useRate = async ({ key }: { readonly key: string }): Promise<void> => {
  assert.equal((await post(gateway.url + messagesPath, key, messagesRequest())).status, 200)
}

const cases: readonly Inadmissible[] = [
  {
    name: 'a suspended account',
    wish: {},
    makeSo: ({ name }) => setAccountStatus(gateway.context, { account: name, status: 'suspended' }),
    status: 403,
    message: /suspended/,
  },
  {
    name: 'an account without a balance',
    wish: { balance_usd: '0' },
    status: 402,
    message: /balance 0 USD, of which 0 USD is held/,
  },
  {
    name: 'an account with a debt',
    wish: { balance_usd: '1' },
    makeSo: ({ name }) =>
      creditAccount(gateway.context, { account: name, amount_usd: '-3', reference: 'debt' }),
    status: 402,
    message: /balance -2 USD/,
  },
  {
    name: 'used-up requests per minute',
    wish: { rpm: 1 },
    makeSo: useRate,
    status: 429,
    message: /1 requests per minute/,
  },
  {
    name: 'a daily limit that is reached',
    wish: { daily_usd: '1' },
    async makeSo({ name, key }) {
      await useRate({ key })
      const limits = { account: name, daily_usd: '0.000000000001' }
      await limitAccount(gateway.context, limits)
    },
    status: 429,
    message: /daily limit of [\d.]+ USD is exhausted: .* quota will reset at /,
  },
]

describe('what no body can change', () => {
  before(async () => {
    gateway = await scenario({})
  })
  after(() => gateway.close())

  for (const { name, wish, makeSo, status, message } of cases)
    test(`${name} is refused before a large body is parsed, and sees the answer`, async () => {
      const account = await gateway.createAccount(wish)
      await makeSo?.(account)
      await gateway.app.refresh()
      gateway.sandbox.log.clear()
      const answer = await sendLarge(account.key)
      assert.equal(answer.status, status, answer.body.toString())
      assert.match(answer.body.toString(), message)
      assert.doesNotMatch(answer.body.toString(), /could cost/)
      const { status: small } = await post(
        gateway.url + messagesPath,
        account.key,
        messagesRequest(),
      )
      assert.equal(small, status, 'a small body changes nothing')
      assert.equal(
        (await post(gateway.url + messagesPath, account.key, {})).status,
        status,
        'nor does one with a mistake',
      )
      assert.equal(gateway.sandbox.log.records.length, 0)
    })

  test('counting tokens needs no balance, and its body is read', async () => {
    const account = await gateway.createAccount({ balance_usd: '0' })
    assert.equal((await sendLarge(account.key, `${messagesPath}/count_tokens`)).status, 400)
  })

  test('the connection serves on behind a body that was dropped', async () => {
    const account = await gateway.createAccount({ balance_usd: '0' })
    const connection = await connectRaw(gateway.url)
    const head =
      `POST ${messagesPath} HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${account.key}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 300000\r\n\r\n'
    connection.write(head)
    connection.write('x'.repeat(300_000))
    assert.equal((await connection.next())?.status, 402)
    connection.write('GET /health HTTP/1.1\r\nHost: a\r\n\r\n')
    assert.equal((await connection.next())?.status, 200)
    connection.close()
  })
})
