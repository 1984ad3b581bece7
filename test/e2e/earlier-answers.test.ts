/**
 * Two accounts on two gateways try to use each other's answers, by id and by guess, before and after they are
 * complete: never. Their own ones stay on the channel that holds them, whatever becomes of it. On PostgreSQL
 * the gateways share a store; on SQLite there is one. Each channel is a vendor account of its own.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { open, post, send, type WireAnswer } from '../support/http-client.ts'
import { applyCatalogue, createClientKey, switchChannel } from '../support/operations.ts'
import type { TestAccount } from '../support/accounts.ts'
import type { TracePoint } from '../../src/relay/stages.ts'
import { assertClean } from '../support/money.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

type Fields = Readonly<Record<string, unknown>>

interface Response {
  readonly id: string
  readonly output: readonly (Fields & { readonly id: string; readonly type: string })[]
}

const channels = {
  every: { check: 'none' },
  named: { 'beta-main': { credential: 'main' }, 'beta-reserve': { credential: 'reserve' } },
}
const points: TracePoint[] = []
let one: Scenario
let two: Scenario
let gateways: readonly Scenario[]
let account: TestAccount
let other: TestAccount

const path = '/beta/v1/responses'

/** Asks for a response. */
function ask(fields: Fields, { gateway = one, key = account.key } = {}): Promise<WireAnswer> {
  const body = { model: 'chat-1', input: 'hello', max_output_tokens: 16, ...fields }
  return post(gateway.url + path, key, body)
}

async function make(fields: Fields = {}, from = {}): Promise<Response> {
  const answer = await ask(fields, from)
  assert.equal(answer.status, 200, answer.text)
  return JSON.parse(answer.text) as Response
}

function call(method: string, rest: string, { gateway = one, key = account.key } = {}) {
  const headers = { authorization: `Bearer ${key}` }
  return send(`${gateway.url}${path}/${rest}`, { method, headers })
}

/** Both gateways follow a change of the catalogue. */
async function follow(): Promise<void> {
  for (const gateway of new Set(gateways)) await gateway.app.refresh()
}

async function turn(channel: string, override: 'enabled' | 'disabled'): Promise<void> {
  await switchChannel(one.context, { channel, override })
  await follow()
}

async function channelOf(answer: WireAnswer): Promise<string | null> {
  assert.equal(answer.status, 200, answer.text)
  return (await one.recorded(answer)).channel
}

const reasoned = { reasoning: { effort: 'low' } }
const encrypted = { ...reasoned, store: false, include: ['reasoning.encrypted_content'] }
const user = { role: 'user', content: 'and then?' }

/** Without the id, which every request has for itself. */
function errorOf(answer: WireAnswer): Record<string, unknown> {
  const { error } = JSON.parse(answer.text) as { readonly error: Record<string, unknown> }
  const { request_id: id, ...rest } = error
  assert.equal(id, answer.headers['x-turnpike-request-id'])
  return rest
}

/** Every way to name an answer, each with its refusal where the answer is foreign. */
function waysTo(response: Response, secret: Response): readonly (readonly [Fields, number])[] {
  const [thought, message] = response.output
  return [
    [{ previous_response_id: response.id }, 400],
    [{ input: [{ type: 'item_reference', id: message?.id }, user] }, 404],
    [{ input: [{ id: message?.id }, user] }, 404],
    [{ input: [thought, user] }, 404],
    [{ input: [message, user] }, 404],
    [{ input: [secret.output[0], user], store: false }, 400],
  ]
}

/** Makes an answer on a channel of choice. */
async function makeOn(channel: string, fields: Fields = {}): Promise<Response> {
  const apart = channel === 'beta-main' ? 'beta-reserve' : 'beta-main'
  await turn(apart, 'disabled')
  const response = await make(fields)
  await turn(apart, 'enabled')
  return response
}

describe('earlier answers', () => {
  before(async () => {
    one = await scenario({ channels, onTracePoint: (point) => points.push(point) })
    two = one
    if (one.storeUrl.startsWith('postgres'))
      two = await scenario({ storeUrl: one.storeUrl, catalogue: () => one.catalogueText })
    gateways = [one, two]
    account = one.account
    other = await one.createAccount()
  })
  after(async () => {
    if (two !== one) await two.close()
    await one.close()
  })

  describe('of one account', () => {
    test('are continued, read and deleted by all its keys, over both gateways', async () => {
      const second = await createClientKey(one.context, { account: account.name, name: 'second' })
      const response = await make(reasoned)
      const secret = await make(encrypted)
      for (const gateway of gateways)
        for (const key of [account.key, second.secret]) {
          for (const [fields] of waysTo(response, secret)) await make(fields, { gateway, key })
          for (const rest of [response.id, `${response.id}/input_items`])
            assert.equal((await call('GET', rest, { gateway, key })).status, 200)
          const cancelled = await call('POST', `${response.id}/cancel`, { gateway, key })
          assert.match(cancelled.text, /Cannot cancel a synchronous response/)
        }
      assert.equal((await call('DELETE', response.id, { gateway: two })).status, 200)
      for (const gateway of gateways) {
        assert.equal((await call('GET', response.id, { gateway })).status, 404)
        const again = await ask({ previous_response_id: response.id }, { gateway })
        assert.match(again.text, /previous_response_not_found/)
      }
      await assertClean(one)
    })

    test('do not exist for another account, in the words for an id that does not exist', async () => {
      const response = await make(reasoned)
      const secret = await make(encrypted)
      for (const gateway of gateways) {
        const before = one.sandbox.log.records.length
        const key = other.key
        for (const [fields, status] of waysTo(response, secret)) {
          const answer = await ask(fields, { gateway, key })
          assert.equal(answer.status, status, answer.text)
          const text = JSON.stringify(fields)
          if (text.includes('encrypted_content')) {
            assert.match(answer.text, /"code":"invalid_encrypted_content"/)
            continue
          }
          const id = /(?:resp|msg|rs)_\w+/.exec(text)?.[0] ?? ''
          const none = { ...fields, ...JSON.parse(text.replaceAll(id, 'resp_none')) } as Fields
          // In full, an unknown item is the client's own.
          if (text.includes('output_text')) continue
          const unknown = await ask(none, { gateway, key })
          assert.equal(unknown.status, status)
          const { message, ...rest } = errorOf(answer)
          const renamed = String(message).replaceAll(id, 'resp_none')
          assert.deepEqual({ ...rest, message: renamed }, errorOf(unknown))
        }
        for (const method of ['GET', 'DELETE'])
          assert.deepEqual(errorOf(await call(method, response.id, { gateway, key })), {
            message: `Response with id '${response.id}' not found.`,
            type: 'invalid_request_error',
            param: null,
            code: null,
          })
        assert.equal(one.sandbox.log.records.length, before)
      }
      assert.equal((await call('GET', response.id)).status, 200)
    })

    test('leave encrypted content that stays their own where they are deleted', async () => {
      const { id, output } = await make({ ...encrypted, store: true })
      assert.equal((await call('DELETE', id)).status, 200)
      const fields = { input: [output[0], user], store: false }
      const foreign = await ask(fields, { key: other.key })
      assert.match(foreign.text, /"code":"invalid_encrypted_content"/)
      assert.equal((await ask(fields)).status, 200)
    })

    test('do not exist for another account while they are made', async () => {
      const gate = 'held'
      const body = {
        model: 'chat-1',
        max_output_tokens: 16,
        stream: true,
        input: `x [[sandbox: hold=${gate}@before_terminal]]`,
      }
      const headers = { authorization: `Bearer ${account.key}`, 'content-type': 'application/json' }
      const stream = open(one.url + path, { headers, body: JSON.stringify(body) })
      let id = ''
      await stream.until((text) => {
        id = /"(resp_\w+)"/.exec(text)?.[1] ?? ''
        return text.includes('response.output_text.delta')
      })
      const tryAll = async (): Promise<void> => {
        const tries = gateways.flatMap((gateway) => [
          call('GET', id, { gateway, key: other.key }),
          call('DELETE', id, { gateway, key: other.key }),
          ask({ previous_response_id: id }, { gateway, key: other.key }),
        ])
        const statuses = (await Promise.all(tries)).map(({ status }) => status)
        assert.deepEqual(new Set(statuses), new Set([404, 400]))
      }
      await tryAll()
      const during = Promise.all(Array.from({ length: 5 }, tryAll))
      one.sandbox.faults.release(gate)
      await Promise.all([during, stream.ended])
      await tryAll()
      for (const gateway of gateways) assert.equal((await call('GET', id, { gateway })).status, 200)
    })

    test('cannot be guessed', async () => {
      const response = await make()
      const guesses = [
        response.id.slice(0, -1),
        `${response.id}0`,
        response.id.toUpperCase(),
        response.id.replace('resp', 'msg'),
        `${response.id}%00`,
        `${response.id}' OR '1'='1`,
      ]
      for (const id of guesses) {
        const answer = await ask({ previous_response_id: id }, { key: other.key })
        assert.equal(answer.status, 400)
        assert.match(answer.text, /previous_response_not_found/)
        const encoded = encodeURIComponent(id)
        assert.equal((await call('GET', encoded, { key: other.key })).status, 404)
      }
    })
  })

  describe('a request that names an earlier answer', () => {
    test('goes to the channel that holds it, and never to another one', async () => {
      for (const channel of ['beta-main', 'beta-reserve']) {
        const response = await makeOn(channel, reasoned)
        const secret = await makeOn(channel, encrypted)
        for (const gateway of gateways) {
          for (const [fields] of waysTo(response, secret)) {
            const answer = await ask(fields, { gateway })
            assert.equal(await channelOf(answer), channel)
          }
          one.sandbox.faults.set(channel, 'error=500')
          const failed = await ask({ previous_response_id: response.id }, { gateway })
          assert.equal(failed.status, 500)
          // However often it has failed: no other channel can serve it.
          for (let index = 0; index < 6; index++)
            await ask({ previous_response_id: response.id }, { gateway })
          one.sandbox.faults.set(channel, '')
          const again = await ask({ previous_response_id: response.id }, { gateway })
          assert.equal(await channelOf(again), channel)
          gateway.resetHealth()
        }
      }
    })

    test('continues from a compaction on its channel only, and for its own account only', async () => {
      for (const channel of ['beta-main', 'beta-reserve']) {
        const input = [user, { type: 'compaction_trigger' }]
        const { output } = await makeOn(channel, { input, store: false })
        assert.deepEqual(
          output.map(({ type }) => type),
          ['compaction'],
        )
        const fields = { input: [output[0], user], store: false }
        for (const gateway of gateways) {
          assert.equal(await channelOf(await ask(fields, { gateway })), channel)
          const foreign = await ask(fields, { gateway, key: other.key })
          assert.match(foreign.text, /invalid_encrypted_content/)
        }
      }
    })

    test('is refused where that channel is disabled or retired', async () => {
      const response = await makeOn('beta-reserve', reasoned)
      const secret = await makeOn('beta-reserve', encrypted)
      const [, message] = response.output
      const assertGone = async (): Promise<void> => {
        for (const gateway of gateways) {
          for (const [fields] of waysTo(response, secret)) {
            if (fields['input'] !== undefined && JSON.stringify(fields).includes('output_text'))
              continue
            const answer = await ask(fields, { gateway })
            assert.equal(answer.status, 400)
            assert.match(answer.text, /"code":"state_unavailable"/)
            assert.match(answer.text, /send the whole input/)
            assert.doesNotMatch(answer.text, /beta-/)
          }
          assert.match((await call('GET', response.id, { gateway })).text, /state_unavailable/)
          // An item in full needs no channel.
          assert.equal((await ask({ input: [message, user] }, { gateway })).status, 200)
        }
      }
      await turn('beta-reserve', 'disabled')
      await assertGone()
      await turn('beta-reserve', 'enabled')
      await make({ previous_response_id: response.id })
      const start = one.catalogueText.indexOf('  beta-reserve:')
      const end = one.catalogueText.slice(start + 3).search(/\n(?: {2}\S|\S|$)/)
      const without = one.catalogueText.slice(0, start) + one.catalogueText.slice(start + 4 + end)
      await applyCatalogue(one.context, { text: without })
      await follow()
      await assertGone()
      await applyCatalogue(one.context, { text: one.catalogueText })
      await follow()
      await make({ previous_response_id: response.id })
    })

    test('is refused where two channels hold what it names, unless it has all of it', async () => {
      const main = await makeOn('beta-main', reasoned)
      const reserve = await makeOn('beta-reserve', reasoned)
      const messages = [main.output[1], reserve.output[1]]
      const both = await ask({ previous_response_id: main.id, input: [reserve.output[0], user] })
      assert.equal(both.status, 400)
      assert.match(both.text, /no single vendor account can read/)
      const references = messages.map((message) => ({ type: 'item_reference', id: message?.id }))
      assert.equal((await ask({ input: [...references, user] })).status, 400)
      assert.equal((await ask({ input: [...messages, user] })).status, 200)
    })

    test('fails over where it repeats items in full, from the channel that has made them', async () => {
      const { output } = await makeOn('beta-reserve')
      const whole = { input: [output[0], user] }
      assert.equal(await channelOf(await ask(whole)), 'beta-reserve')
      one.sandbox.faults.set('beta-reserve', 'error=500')
      assert.equal(await channelOf(await ask(whole)), 'beta-main')
      one.sandbox.faults.set('beta-reserve', '')
      one.resetHealth()
    })

    test('is refused where the vendor is to serve no stored responses', async () => {
      const response = await make(reasoned)
      const secret = await make(encrypted)
      const refusing = one.catalogueText.replace(
        /( +)format: chat\n/,
        (line, indent: string) => `${line}${indent}stored_responses: refuse\n`,
      )
      await applyCatalogue(one.context, { text: refusing })
      await follow()
      const named = [
        { store: true },
        { previous_response_id: response.id },
        { input: [{ type: 'item_reference', id: response.output[1]?.id }, user] },
        { previous_response_id: 'resp_none' },
      ]
      for (const fields of named) {
        const answer = await ask(fields)
        assert.equal(answer.status, 400)
        assert.match(answer.text, /Stored responses are not available here/)
      }
      assert.equal((await call('GET', response.id)).status, 404)
      const unnamed = await make()
      await make({ input: [response.output[1], user] })
      await make({ input: [secret.output[0], user], store: false })
      const foreign = { input: [secret.output[0], user], store: false }
      assert.match((await ask(foreign, { key: other.key })).text, /invalid_encrypted_content/)
      await applyCatalogue(one.context, { text: one.catalogueText })
      await follow()
      // Nothing was remembered of it.
      assert.equal((await call('GET', unnamed.id)).status, 404)
      await make({ previous_response_id: response.id })
    })

    test('passes with items and encrypted content that no answer here has made', async () => {
      const item = { type: 'message', role: 'assistant', id: 'msg_elsewhere', content: 'Hi' }
      assert.equal((await ask({ input: [item, user] })).status, 200)
      const thought = {
        type: 'reasoning',
        id: 'rs_elsewhere',
        summary: [],
        encrypted_content: 'no',
      }
      const answer = await ask({ input: [thought, user], store: false })
      // The vendor reads it, and cannot.
      assert.match(answer.text, /invalid_encrypted_content/)
      assert.match(answer.text, /rs_elsewhere/)
    })

    test('is refused where it names too many', async () => {
      const items = Array.from({ length: 10_001 }, (_, index) => ({ id: `msg_${index}` }))
      const answer = await ask({ input: items })
      assert.equal(answer.status, 400)
      assert.match(answer.text, /names more than 10000 items of earlier answers/)
      assert.equal((await ask({ input: items.slice(1) })).status, 404)
    })

    test('holds for the tokens of that answer', async () => {
      // Enough for the long prompt once, and for short ones after it.
      const { key } = await one.createAccount({ balance_usd: '0.06' })
      const response = await make({ input: 'word '.repeat(16_000) }, { key })
      assert.equal((await ask({}, { key })).status, 200)
      const refused = await ask({ previous_response_id: response.id }, { key })
      assert.equal(refused.status, 402)
      const [message] = response.output
      const reference = { type: 'item_reference', id: message?.id }
      // Of an item only the answer's output counts.
      assert.equal((await ask({ input: [reference, user] }, { key })).status, 200)
    })

    test('is known before the client has the end of an answer that costs nothing', async () => {
      points.length = 0
      const input = 'x [[sandbox: output=0; output_tokens=0]]'
      const answer = await ask({ input })
      const { id } = JSON.parse(answer.text) as Response
      assert.equal((await one.recorded(answer)).amountPicos, 0n)
      assert.deepEqual(points.slice(-2), ['charge_durable', 'answer_released'])
      assert.equal((await call('GET', id)).status, 200)
    })

    test('is known by what the client has seen where it left', async () => {
      const leaver = await one.createAccount()
      const body = { model: 'chat-1', max_output_tokens: 16, stream: true, input: 'x' }
      const gate = 'left'
      const input = `x [[sandbox: hold=${gate}@before_terminal]]`
      const headers = { authorization: `Bearer ${leaver.key}`, 'content-type': 'application/json' }
      const stream = open(one.url + path, { headers, body: JSON.stringify({ ...body, input }) })
      let id = ''
      await stream.until((text) => {
        id = /"(resp_\w+)"/.exec(text)?.[1] ?? ''
        return text.includes('response.output_text.delta')
      })
      stream.leave()
      one.sandbox.faults.release(gate)
      await one.ended(leaver, 1)
      const rows = await one.context.database.query(
        'SELECT kind FROM answer_state WHERE response_id = $1 AND account_id = $2',
        [id, leaver.id],
      )
      assert.deepEqual(new Set(rows.map((row) => row['kind'])), new Set(['response', 'item']))
    })
  })
})
