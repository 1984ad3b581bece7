import assert from 'node:assert/strict'
import { test } from 'node:test'
import { requestOf } from './request.ts'

const row = { method: 'POST', path: '/accounts/{account}/credits' } as const

test('puts fields into the path and the body, and leaves out what is absent or fixed', () => {
  const input = { account: 'acme', amount_usd: '5', note: undefined, kind: 'client' }
  assert.deepEqual(requestOf({ ...row, fixed: { kind: 'client' } }, input), {
    method: 'POST',
    target: '/admin/v1/accounts/acme/credits',
    body: '{"amount_usd":"5"}',
  })
})

test('puts fields of a GET into the query, and of a PUT those that its row names', () => {
  const list = requestOf({ method: 'GET', path: '/accounts' }, { limit: 1_000, cursor: 'a b&c' })
  assert.equal(list.target, '/admin/v1/accounts?limit=1000&cursor=a+b%26c')
  assert.equal(list.body, undefined)
  const put = { method: 'PUT', path: '/catalogue', query: ['dry_run'] } as const
  assert.deepEqual(requestOf(put, { text: 'x', dry_run: true }), {
    method: 'PUT',
    target: '/admin/v1/catalogue?dry_run=true',
    body: '{"text":"x"}',
  })
})

test('keeps every name one segment of the path', () => {
  const target = (account: string): string => requestOf(row, { account }).target
  assert.equal(target('a/../b?c#d e%'), '/admin/v1/accounts/a%2F..%2Fb%3Fc%23d%20e%25/credits')
  assert.equal(target('…ü'), '/admin/v1/accounts/%E2%80%A6%C3%BC/credits')
  for (const dots of ['', '.', '..']) assert.throws(() => target(dots), /Use the id/)
})
