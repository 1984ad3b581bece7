/** What a vendor account keeps: responses and items by their ids, and never for another credential. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sendToVendor } from '../../test/support/http-client.ts'
import { startSandbox } from '../sandbox.ts'
import type { Sandbox } from '../sandbox.ts'

let sandbox: Sandbox
before(async () => {
  sandbox = await startSandbox()
})
after(() => sandbox.close())

type Json = Readonly<Record<string, unknown>>

interface Received {
  readonly status: number
  readonly body: Json & {
    readonly id?: string
    readonly output?: readonly (Json & { readonly id: string; readonly call_id?: string })[]
    readonly data?: readonly (Json & { readonly id: string })[]
    readonly usage?: { readonly input_tokens: number } | null
    readonly error?: { readonly message: string; readonly code: string | null }
  }
}

async function call(method: string, path: string, more: object = {}): Promise<Received> {
  const { credential = 'own', body } = more as { credential?: string; body?: object }
  const received = await sendToVendor(`${sandbox.url}/beta-main/v1/${path}`, {
    method,
    headers: { authorization: `Bearer ${credential}` },
    ...(body === undefined ? {} : { body }),
  })
  return { status: received.status, body: JSON.parse(received.text) as Received['body'] }
}

function create(more: object, credential = 'own'): Promise<Received> {
  return call('POST', 'responses', { credential, body: { model: 'chat-1', ...more } })
}

function failure({ status, body }: Received) {
  return [status, body.error?.code, body.error?.message]
}

test('continues a response with its context, for its own credential only', async () => {
  const first = await create({ input: 'a'.repeat(400) })
  const id = first.body.id
  const next = { input: 'and then?', previous_response_id: id }
  const second = await create(next)
  const third = await create({ input: 'x', previous_response_id: second.body.id })
  assert.ok((second.body.usage?.input_tokens ?? 0) > (first.body.usage?.input_tokens ?? 0))
  assert.ok((third.body.usage?.input_tokens ?? 0) > (second.body.usage?.input_tokens ?? 0))
  const expected = [
    400,
    'previous_response_not_found',
    `Previous response with id '${id}' not found.`,
  ]
  assert.deepEqual(failure(await create(next, 'other')), expected)
  const unstored = await create({ input: 'x', store: false })
  const after = await create({ input: 'y', previous_response_id: unstored.body.id })
  assert.equal(after.body.error?.code, 'previous_response_not_found')
})

test('shows, lists and deletes a response, for its own credential only', async () => {
  const created = await create({ input: [{ role: 'user', content: 'one' }] })
  const id = String(created.body.id)
  const calls = [
    ['GET', `responses/${id}`],
    ['GET', `responses/${id}/input_items`],
    ['POST', `responses/${id}/cancel`],
    ['DELETE', `responses/${id}`],
  ] as const
  const missing = [404, null, `Response with id '${id}' not found.`]
  for (const [method, path] of calls)
    assert.deepEqual(failure(await call(method, path, { credential: 'other' })), missing)
  assert.deepEqual((await call('GET', `responses/${id}`)).body, created.body)
  const cancelled = await call('POST', `responses/${id}/cancel`)
  assert.deepEqual(failure(cancelled), [400, null, 'Cannot cancel a synchronous response.'])
  const deleted = await call('DELETE', `responses/${id}`)
  assert.deepEqual(deleted.body, { id, object: 'response.deleted', deleted: true })
  for (const [method, path] of calls) assert.deepEqual(failure(await call(method, path)), missing)
  const record = sandbox.log.records.findLast(({ status }) => status === 200)
  assert.deepEqual(
    [record?.operation, record?.kind, record?.model],
    ['responses.delete', 'free', ''],
  )
})

test('shows the counts that it has sent', async () => {
  const { body } = await create({ input: 'x [[sandbox: usage=huge]]' })
  const shown = await call('GET', `responses/${body.id}`)
  assert.equal(shown.body.usage?.input_tokens, Number('9007199254740993'))
})

test('lists the items of an input by pages', async () => {
  const input = ['one', 'two', 'three'].map((content) => ({ role: 'user', content }))
  const { body } = await create({ input })
  const list = `responses/${body.id}/input_items`
  const all = await call('GET', `${list}?order=asc`)
  const ids = all.body.data?.map(({ id }) => id) ?? []
  assert.equal(ids.length, 3)
  assert.deepEqual(all.body.data?.[0]?.['content'], [{ type: 'input_text', text: 'one' }])
  const page = await call('GET', `${list}?order=asc&limit=2`)
  assert.deepEqual(
    [page.body['first_id'], page.body['last_id'], page.body['has_more']],
    [ids[0], ids[1], true],
  )
  const rest = await call('GET', `${list}?order=asc&limit=2&after=${ids[1]}`)
  assert.deepEqual([rest.body.data?.length, rest.body['has_more']], [1, false])
  const newest = await call('GET', `${list}?limit=1`)
  assert.equal(newest.body.data?.[0]?.id, ids[2])
})

test('knows the items of its own responses by reference', async () => {
  const reasoning = { effort: 'low' }
  const { body } = await create({ input: 'x', reasoning })
  const [thought, message] = body.output ?? []
  const reference = { type: 'item_reference', id: message?.id }
  const input = [thought, reference, { role: 'user', content: 'more' }]
  assert.equal((await create({ input })).status, 200)
  const foreign = await create({ input: [reference] }, 'other')
  assert.deepEqual(failure(foreign), [404, null, `Item with id '${message?.id}' not found.`])
  const hidden = await create({ input: [thought], store: false }, 'other')
  assert.match(hidden.body.error?.message ?? '', /not found\. Items are not persisted when `store`/)
})

test('reads encrypted reasoning of its own credential only', async () => {
  const settings = { reasoning: { effort: 'low' }, include: ['reasoning.encrypted_content'] }
  const { body } = await create({ input: 'x', store: false, ...settings })
  const [thought] = body.output ?? []
  const input = [{ role: 'user', content: 'x' }, thought, { role: 'user', content: 'y' }]
  assert.equal((await create({ input, store: false })).status, 200)
  const foreign = await create({ input, store: false }, 'other')
  assert.equal(foreign.status, 400)
  assert.equal(foreign.body.error?.code, 'invalid_encrypted_content')
  assert.match(foreign.body.error.message, /organization_id did not match/)
  const spoiled = [{ ...thought, encrypted_content: 'gAAAAABxyz' }]
  const unreadable = await create({ input: spoiled })
  assert.match(unreadable.body.error?.message ?? '', /could not be decrypted or parsed/)
})

test('compacts a conversation into one item that its own credential only can read', async () => {
  const trigger = { type: 'compaction_trigger' }
  const { body } = await create({ input: [{ role: 'user', content: 'x' }, trigger], store: false })
  const [compaction, ...rest] = body.output ?? []
  assert.deepEqual([compaction?.['type'], rest], ['compaction', []])
  const input = [compaction, { role: 'user', content: 'y' }]
  assert.equal((await create({ input, store: false })).status, 200)
  const foreign = await create({ input, store: false }, 'other')
  assert.equal(foreign.body.error?.code, 'invalid_encrypted_content')
})

test('wants a call for each result, and a result for each call', async () => {
  const tools = [{ type: 'function', name: 'add', parameters: { type: 'object' } }]
  const first = await create({ input: 'x', tools, tool_choice: 'required' })
  const previous = { previous_response_id: first.body.id }
  const callId = first.body.output?.[0]?.call_id
  const loose = await create({ ...previous, input: 'never mind' })
  assert.equal(loose.body.error?.message, `No tool output found for function call ${callId}.`)
  const result = { type: 'function_call_output', call_id: callId, output: '3' }
  assert.equal((await create({ ...previous, input: [result] })).status, 200)
  const orphan = await create({ input: [result] })
  const message = `No tool call found for function call output with call_id ${callId}.`
  assert.equal(orphan.body.error?.message, message)
})

test('queues what runs in the background, and shows its end later', async () => {
  const queued = await create({ input: 'x', background: true })
  assert.deepEqual([queued.body['status'], queued.body.output], ['queued', []])
  const shown = await call('GET', `responses/${queued.body.id}`)
  assert.equal(shown.body['status'], 'completed')
  const second = await create({ input: 'x', background: true })
  const cancelled = await call('POST', `responses/${second.body.id}/cancel`)
  assert.equal(cancelled.body['status'], 'cancelled')
  assert.equal((await create({ input: 'x', background: true, store: false })).status, 400)
})

test('keeps conversations', async () => {
  const { body } = await call('POST', 'conversations', { body: {} })
  const conversation = body.id
  const first = await create({ input: 'a'.repeat(80), conversation })
  const second = await create({ input: 'b', conversation: { id: conversation } })
  assert.ok((second.body.usage?.input_tokens ?? 0) > (first.body.usage?.input_tokens ?? 0))
  const foreign = await create({ input: 'b', conversation }, 'other')
  assert.deepEqual(failure(foreign), [
    404,
    null,
    `Conversation with id '${conversation}' not found.`,
  ])
  assert.equal((await call('GET', `conversations/${conversation}`)).status, 200)
  assert.equal((await call('DELETE', `conversations/${conversation}`)).body['deleted'], true)
  assert.equal((await create({ input: 'b', conversation })).status, 404)
})
