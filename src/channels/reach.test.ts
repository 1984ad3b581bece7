/** The way of a request to a channel's vendor: path and query as a server reads them, and headers. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { flatOf } from '../../test/support/header-lists.ts'
import { makeChannel, vendors } from '../../test/support/snapshots.ts'
import { Secret } from '../base/secret.ts'
import { fieldsOf } from '../http/wire/fields.ts'
import { basePath } from './catalogue/reach-kinds.ts'
import { isSameUpstream, pathOn, queryOn, reachOf } from './reach.ts'

const asked = {
  fields: fieldsOf(['content-type', 'application/json']),
  path: '/v1/messages',
  query: '',
  format: 'messages',
} as const

function headersOf(change: Parameters<typeof makeChannel>[1], rawHeaders: readonly string[] = []) {
  const reach = reachOf(makeChannel('main', change), vendors.messages, {
    ...asked,
    fields: fieldsOf(rawHeaders),
  })
  return new Headers(pairs(flatOf(reach.headers)))
}

function pairs(flat: readonly string[]): [string, string][] {
  return flat.flatMap((name, index) =>
    index % 2 === 0 ? [[name, flat[index + 1] ?? ''] as [string, string]] : [],
  )
}

const segment = fc.stringMatching(/^[a-zA-Z0-9._~-]{1,8}$/).filter((one) => !/^\.\.?$/.test(one))
const base = fc.array(segment, { maxLength: 4 }).map((all) => all.map((one) => `/${one}`).join(''))
const endpoint = fc.constantFrom(
  '/v1/messages',
  '/v1/messages/count_tokens',
  '/v1/chat/completions',
  '/v1/responses/resp_1/input_items',
)

describe('the path', () => {
  test('has the base path of the channel before that of the endpoint, once', () => {
    fc.assert(
      fc.property(base, base, endpoint, (address, own, path) => {
        const joined = address + pathOn(own, path)
        const url = new URL(joined, 'https://vendor.example')
        assert.equal(url.pathname, joined)
        assert.equal(url.search + url.hash, '')
        assert.ok(!joined.includes('//'))
        assert.equal(joined, address + own + path.slice('/v1'.length))
      }),
    )
  })

  test('is that of the endpoint where the channel says nothing', () => {
    fc.assert(fc.property(endpoint, (path) => assert.equal(pathOn('/v1', path), path)))
  })

  test('of any accepted base joins to a path of the same host', () => {
    const anyText = fc.oneof(base, fc.string({ maxLength: 20 }))
    fc.assert(
      fc.property(anyText, endpoint, (given, path) => {
        const read = basePath.safeParse(given)
        if (!read.success) return
        const url = new URL(`https://vendor.example/x${pathOn(read.data, path)}`)
        assert.equal(url.host, 'vendor.example')
        assert.equal(url.pathname, `/x${read.data}${path.slice(3)}`)
        assert.equal(url.search, '')
      }),
      { numRuns: 500 },
    )
  })
})

describe('the query', () => {
  const name = fc.stringMatching(/^[a-z][a-z.-]{0,6}$/)
  const parameters = fc
    .array(fc.tuple(name, fc.stringMatching(/^[\x20-\x7e]{0,8}$/)), { maxLength: 4 })
    .map((all) => new Map(all))
  const raw = fc
    .array(fc.tuple(name, fc.stringMatching(/^[a-z0-9%&=+]{0,6}$/)), { maxLength: 4 })
    .map((all) => (all.length === 0 ? '' : `?${all.map((one) => one.join('=')).join('&')}`))

  test("of the channel replaces the client's parameters of the same names and no others", () => {
    fc.assert(
      fc.property(parameters, raw, (fixed, query) => {
        const sent = new URLSearchParams(queryOn(fixed, query))
        for (const [one, value] of fixed) assert.deepEqual(sent.getAll(one), [value])
        const given = [...new URLSearchParams(query)].filter(([one]) => !fixed.has(one))
        assert.deepEqual(
          [...sent].filter(([one]) => !fixed.has(one)),
          given,
        )
      }),
    )
  })

  test('of the client passes unchanged where the channel has none', () => {
    fc.assert(fc.property(raw, (query) => assert.equal(queryOn(new Map(), query), query)))
  })

  test('of the client cannot hide a parameter by its spelling', () => {
    const fixed = new Map([['api-version', '2026-10-01']])
    assert.equal(queryOn(fixed, '?api%2Dversion=1&beta=true'), '?beta=true&api-version=2026-10-01')
  })
})

describe('the headers', () => {
  test('have the credential in the form of the channel, else of the vendor', () => {
    const forms = ['x-api-key', 'authorization', 'api-key'] as const
    const seen = (form?: 'x-api-key' | 'bearer' | 'api-key') => {
      const headers = headersOf(form === undefined ? {} : { credentialForm: form })
      return forms.map((name) => headers.get(name))
    }
    assert.deepEqual(seen(), ['credential', null, null])
    assert.deepEqual(seen('x-api-key'), ['credential', null, null])
    assert.deepEqual(seen('bearer'), [null, 'Bearer credential', null])
    assert.deepEqual(seen('api-key'), [null, null, 'credential'])
  })

  test("have the channel's own in place of the client's of the same names, however these are spelled", () => {
    const fixed = new Map([['x-workspace', new Secret('ours')]])
    const raw = ['X-Workspace', 'theirs', 'x_workspace', 'theirs', 'x-other', 'kept']
    const headers = headersOf({ headers: fixed }, raw)
    assert.equal(headers.get('x-workspace'), 'ours')
    assert.equal(headers.get('x_workspace'), null)
    assert.equal(headers.get('x-other'), 'kept')
  })

  test('of a channel can replace the default version', () => {
    const fixed = new Map([['anthropic-version', new Secret('2024-01-01')]])
    assert.equal(headersOf({ headers: fixed }).get('anthropic-version'), '2024-01-01')
  })
})

test('channels are the same upstream only where all of their way is the same', () => {
  const main = makeChannel('main')
  assert.ok(isSameUpstream(main, makeChannel('main', { rank: 3 })))
  const other = new Secret('other')
  for (const change of [
    { url: 'https://other.example' },
    { path: '' },
    { chatPath: '/v1' },
    { query: new Map([['a', 'b']]) },
    { headers: new Map([['x-a', other]]) },
    { credential: other },
    { credentialForm: 'bearer' as const },
    { proxy: new Secret('http://proxy.example:3128') },
  ])
    assert.ok(!isSameUpstream(main, makeChannel('main', change)), Object.keys(change).join())
})
