/** What channels may say about the way to their vendors, and how a mistake is refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { basePath, credentialText, fixedHeaders, queryParameters } from './reach-kinds.ts'
import type { z } from 'zod'

function faultOf(schema: z.ZodType, given: unknown): string | undefined {
  return schema.safeParse(given).error?.issues[0]?.message
}

test('a reference in the form of another program is refused with the form that is meant', () => {
  for (const given of [
    'ENV:ALPHA_KEY',
    'Env:ALPHA_KEY',
    'env.ALPHA_KEY',
    'env://ALPHA_KEY',
    'ENV=ALPHA_KEY',
    '$ALPHA_KEY',
    '$env:ALPHA_KEY',
    '${ALPHA_KEY}',
    '${ALPHA_KEY:-none}',
    '$(ALPHA_KEY)',
    '${env:ALPHA_KEY}',
    '{{ALPHA_KEY}}',
    '${{ secrets.ALPHA_KEY }}',
    '%ALPHA_KEY%',
    'process.env.ALPHA_KEY',
    "os.environ['ALPHA_KEY']",
    'os.environ/ALPHA_KEY',
  ]) {
    const expected = 'looks like the name of a variable; write env:ALPHA_KEY'
    assert.equal(faultOf(credentialText, given), expected, given)
    assert.equal(faultOf(fixedHeaders.schema, { 'x-a': given }), expected, given)
  }
  assert.match(faultOf(credentialText, 'FILE:/run/key') ?? '', /write file:\/PATH/)
  assert.match(faultOf(credentialText, 'env:1KEY') ?? '', /environment variable after env:/)
})

test('secrets, and references in the right form, are accepted', () => {
  for (const given of [
    'env:ALPHA_KEY',
    'file:/run/key',
    'sk-ant-api03-abc_DEF',
    'environment-key',
    '$2b$10$abc',
    'a%b%c',
    'envelope:1',
    'sealed:abc',
  ])
    assert.equal(faultOf(credentialText, given), undefined, given)
})

test('a base path has segments and nothing else', () => {
  for (const [given, read] of [
    ['/v1', '/v1'],
    ['', ''],
    ['/', ''],
    ['/api/paas/v4/', '/api/paas/v4'],
    ['/v1beta/openai', '/v1beta/openai'],
  ] as const)
    assert.equal(basePath.parse(given), read)
  for (const given of [
    'v1',
    '/a//b',
    '/a/../b',
    '/.',
    '/a?b',
    '/a#b',
    '/a b',
    '/a%2fb',
    '/v1/messages',
    '/v1/chat/completions',
    '@other.example',
    3,
  ])
    assert.notEqual(faultOf(basePath, given), undefined, String(given))
})

test('headers that HTTP, the credential or the gateway use cannot be fixed', () => {
  for (const name of [
    'host',
    'Connection',
    'keep-alive',
    'te',
    'transfer-encoding',
    'upgrade',
    'content-length',
    'content-type',
    'expect',
    'accept-encoding',
    'authorization',
    'x-api-key',
    'api-key',
    'x-goog-api-key',
    'cookie',
    'proxy-authorization',
    'x-turnpike-request-id',
  ])
    assert.match(faultOf(fixedHeaders.schema, { [name]: 'v' }) ?? '', /another header/, name)
  for (const name of ['x-workspace', 'anthropic-version', 'openai-organization', 'user-agent'])
    assert.equal(faultOf(fixedHeaders.schema, { [name]: 'env:NAME' }), undefined, name)
  assert.match(faultOf(fixedHeaders.schema, { 'x-a': 'one\r\nx-b: two' }) ?? '', /line breaks/)
  assert.match(faultOf(fixedHeaders.schema, { 'X-A': '1', 'x-a': '2' }) ?? '', /twice/)
  assert.match(faultOf(fixedHeaders.schema, { 'x-a': 1 }) ?? '', /quotes/)
})

test('a parameter of the query has a plain name', () => {
  assert.equal(faultOf(queryParameters.schema, { 'api-version': '2026-10-01' }), undefined)
  for (const name of ['a=b', 'a&b', 'a b', ''])
    assert.match(faultOf(queryParameters.schema, { [name]: 'v' }) ?? '', /name/)
})
