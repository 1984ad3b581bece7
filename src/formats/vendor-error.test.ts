/** Errors in the envelopes vendors and their imitators use, and what in them names an account. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseJson } from './json.ts'
import { namesVendorAccount, readVendorError } from './vendor-error.ts'

describe('an error body', () => {
  it('is read in every usual envelope', () => {
    const read = (body: unknown): unknown => readVendorError(body)
    const bare = { type: 't', code: 'c', message: 'm' }
    const full = { ...bare, param: 'p' }
    assert.deepEqual(read({ error: full }), full)
    assert.deepEqual(read([{ error: full }]), full)
    assert.deepEqual(read(full), full)
    const detailed = { type: 't', message: 'm', details: { error_code: 'c' } }
    assert.deepEqual(read({ type: 'error', error: detailed }), bare)
    assert.deepEqual(read({ error: 'm' }), { type: undefined, code: undefined, message: 'm' })
  })

  it('without an envelope is unknown', () => {
    for (const text of ['', '<html>', 'null', '[]', '{', '"x"'])
      assert.deepEqual(readVendorError(parseJson(text)), {
        type: undefined,
        code: undefined,
        message: undefined,
      })
  })
})

describe('an error text', () => {
  it('names an account by its ids and by parts of a key', () => {
    for (const text of [
      'Rate limit reached in organization org-AbCdEfGh12345678 on requests per min.',
      'Project `proj_AbCdEfGh12345678` does not have access',
      'limits of workspace wrkspc_01AbCd',
      'organization (5b1d7c52-0f7e-4a55-9a3e-0123456789ab) has reached its limit',
      'Incorrect API key provided: sk-proj-********7f3a.',
    ])
      assert.ok(namesVendorAccount(text), text)
  })

  const uuid = '5b1d7c52-0f7e-4a55-9a3e-0123456789ab'

  it('names an account by a UUID beside a word for an account', () => {
    for (const text of [
      `Your organization's (${uuid}) limit of 50,000 input tokens per minute`,
      `limits of organisations/${uuid}/models`,
      `{"organization_id":"${uuid}"}`,
      `{"account": {"uuid": "${uuid.toUpperCase()}"}}`,
      JSON.stringify(JSON.stringify({ workspaceId: uuid })),
      `workspace \u201c${uuid}\u201d is archived`,
      `Project with id=${uuid} is archived`,
      `team-${uuid}`,
      `account named <${uuid}>`,
      `org ${uuid}`,
    ]) {
      assert.ok(namesVendorAccount(text), text)
      assert.ok(namesVendorAccount(Buffer.from(text).toString('latin1')), text)
    }
  })

  it('names no account by another UUID', () => {
    for (const text of [
      `{"error":{"message":"internal error"},"request_id":"${uuid}"}`,
      `{"message":"not for this account","id":"${uuid}"}`,
      `{"account":"on hold","request_id":"${uuid}"}`,
      `{"project":{},"trace":"${uuid}"}`,
      `tool_call_id 'call-${uuid}' not found in tool_calls of previous message`,
      `Ask your team. ${uuid}`,
      `The request ${uuid} of this organization failed.`,
    ])
      assert.ok(!namesVendorAccount(text), text)
  })

  it('without such words names no account', () => {
    for (const text of [
      'Overloaded',
      'prompt is too long: 210000 tokens > 200000 maximum',
      'This is an org-wide limit; ask your organization.',
      'The project does not exist. See req_011CQ or chatcmpl-9x.',
      'risk-averse task-based disk-full',
    ])
      assert.ok(!namesVendorAccount(text), text)
  })
})
