/** Exact matching: one spelling per endpoint, and no other target. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { InvariantError } from '../../base/errors.ts'
import { createRouter, splitTarget, type RouterEntry } from './router.ts'

const entries: readonly RouterEntry<string>[] = [
  { method: 'POST', path: '/v1/messages', entry: 'create' },
  { method: 'GET', path: '/v1/models', entry: 'list' },
  { method: 'GET', path: '/v1/models/*id', entry: 'get' },
  { method: 'DELETE', path: '/v1/models/*id', entry: 'delete' },
  { method: 'GET', path: '/v1/models/default', entry: 'default' },
  { method: 'HEAD', path: '/api/hello', entry: 'hello' },
]
const router = createRouter(entries)

describe('the router', () => {
  it('finds an operation by method and path', () => {
    assert.deepEqual(router.find('POST', '/v1/messages'), {
      kind: 'found',
      operation: 'create',
      parameter: undefined,
    })
  })

  it('returns the rest of a path as it was sent', () => {
    const ids = ['m-1', 'ft:gpt:org::x', 'a%20b', 'claude@2', '...', '*id', 'org/m', 'org%2Fm']
    for (const id of [...ids, 'a/', '/a', '../a', '%2e%2e', 'a%252fb', 'a\\b', 'a;b', 'a#b'])
      assert.deepEqual(router.find('GET', `/v1/models/${id}`), {
        kind: 'found',
        operation: 'get',
        parameter: id,
      })
  })

  it('prefers an exact path to a parameter', () => {
    const found = router.find('GET', '/v1/models/default')
    assert.equal(found.kind === 'found' && found.operation, 'default')
  })

  it('reports the methods of a path', () => {
    assert.deepEqual(router.find('GET', '/v1/messages'), {
      kind: 'method_not_allowed',
      allow: 'POST',
    })
    assert.deepEqual(router.find('POST', '/v1/models/x'), {
      kind: 'method_not_allowed',
      allow: 'GET, DELETE',
    })
  })

  it('knows one spelling of a path only', () => {
    const spellings = [
      '',
      '/',
      '/v1',
      '/v1/messages/',
      '/v1//messages',
      '//v1/messages',
      '/V1/messages',
      '/v1/Messages',
      '/v1/%6dessages',
      '/v1%2fmessages',
      '/v1/./messages',
      '/v1/x/../messages',
      '/v1/..;/v1/messages',
      '/v1\\messages',
      '/v1/messages#',
      '/v1/messages;x=1',
      '/v1/models/',
      '/v1/Models/a',
      '/v1//models/a',
      '/v1%2fmodels/a',
      '/v1/models%2fa',
    ]
    for (const path of spellings) assert.equal(router.find('POST', path).kind, 'path_unknown', path)
  })

  it('matches no path that is not in its table', () => {
    const piece = fc.constantFrom(
      '/',
      '/v1',
      '/messages',
      '/models',
      '/x',
      '.',
      '%2f',
      '\\',
      '#',
      ';',
      '',
    )
    const known = new Set(['/v1/messages', '/v1/models', '/v1/models/default', '/api/hello'])
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const path = pieces.join('')
        const found = router.find('GET', path)
        if (found.kind === 'path_unknown' || known.has(path)) return
        assert.match(path, /^\/v1\/models\/./)
      }),
    )
  })

  it('cannot be built with a duplicate, under any name of its parameter', () => {
    const again = (entry: RouterEntry<string>) => () => createRouter([...entries, entry])
    assert.throws(again({ method: 'POST', path: '/v1/messages', entry: 'x' }), InvariantError)
    assert.throws(again({ method: 'GET', path: '/v1/models/*other', entry: 'x' }), InvariantError)
  })

  it('cannot be built with a path that can never match', () => {
    for (const path of [
      '',
      'v1',
      '/v1/',
      '/v1//x',
      '/*id/x',
      '/v1/..',
      '/v1/x?y',
      '/v1/*',
      '/a b',
      '/v1/:id',
    ])
      assert.throws(() => createRouter([{ method: 'GET', path, entry: 'x' }]), InvariantError, path)
  })

  it('chooses the longest prefix that matches', () => {
    const entry = (path: string): RouterEntry<string> => ({ method: 'GET', path, entry: path })
    const nested = createRouter([entry('/a/*x'), entry('/a/b/*y'), entry('/a/b/c/*z')])
    for (const [path, operation, parameter] of [
      ['/a/x', '/a/*x', 'x'],
      ['/a/b/', '/a/*x', 'b/'],
      ['/a/b/c/d', '/a/b/c/*z', 'd'],
      ['/a/b/x', '/a/b/*y', 'x'],
    ])
      assert.deepEqual(nested.find('GET', path ?? ''), { kind: 'found', operation, parameter })
  })

  it('matches an id of letters, digits, _ and - in one segment, and nothing else', () => {
    const entry = (method: string, path: string): RouterEntry<string> => {
      return { method, path, entry: `${method} ${path}` }
    }
    const withIds = createRouter([
      entry('POST', '/a'),
      entry('GET', '/a/{id}'),
      entry('DELETE', '/a/{id}'),
      entry('GET', '/a/{id}/parts'),
      entry('GET', '/a/fixed'),
    ])
    for (const id of ['resp_1-A', 'parts', 'x', '-', 'y'.repeat(128)]) {
      const found = (operation: string) => ({ kind: 'found', operation, parameter: id })
      assert.deepEqual(withIds.find('GET', `/a/${id}`), found('GET /a/{id}'))
      assert.deepEqual(withIds.find('DELETE', `/a/${id}`), found('DELETE /a/{id}'))
      assert.deepEqual(withIds.find('GET', `/a/${id}/parts`), found('GET /a/{id}/parts'))
      const refusal = { kind: 'method_not_allowed', allow: 'GET, DELETE' }
      assert.deepEqual(withIds.find('POST', `/a/${id}`), refusal)
    }
    const exact = { kind: 'found', operation: 'GET /a/fixed', parameter: undefined }
    assert.deepEqual(withIds.find('GET', '/a/fixed'), exact)
    for (const id of ['', 'a/b', 'a.b', '%61', 'a%2fb', 'a b', '..', 'ä', '{id}', 'y'.repeat(129)])
      for (const path of [`/a/${id}`, `/a/${id}/parts`, `/a/${id}/`])
        assert.equal(withIds.find('GET', path).kind, 'path_unknown', path)
    assert.equal(withIds.find('GET', '/a/parts/').kind, 'path_unknown')
    assert.throws(
      () => createRouter([entry('GET', '/a/{x}'), entry('GET', '/a/{y}')]),
      InvariantError,
    )
    for (const path of ['/{id}', '/a/{id}/*rest', '/a/{}', '/a/{x}/{y}', '/a/b{id}'])
      assert.throws(() => createRouter([entry('GET', path)]), InvariantError, path)
  })

  it('works without parameters', () => {
    const small = createRouter([{ method: 'GET', path: '/health', entry: 'health' }])
    assert.equal(small.find('GET', '/health').kind, 'found')
    assert.equal(small.find('GET', '/health/x').kind, 'path_unknown')
  })
})

describe('a request target', () => {
  it('is split at the first question mark and otherwise unchanged', () => {
    assert.deepEqual(splitTarget('/v1/x'), { path: '/v1/x', query: '' })
    assert.deepEqual(splitTarget('/v1/x?'), { path: '/v1/x', query: '?' })
    assert.deepEqual(splitTarget('/v1/x?beta=true&a=%2F?b'), {
      path: '/v1/x',
      query: '?beta=true&a=%2F?b',
    })
    assert.deepEqual(splitTarget('//x'), { path: '//x', query: '' })
    assert.deepEqual(splitTarget('/a#b'), { path: '/a#b', query: '' })
  })

  it('is refused unless it has origin form', () => {
    const refused = [
      '',
      '*',
      'v1/x',
      'http://127.0.0.1/v1/x',
      'example.com:443',
      '?x',
      '/a b',
      '/\u00e9',
      '/a\0',
      '/a\n',
      '/a?b#c',
      '/a?b\\c',
    ]
    for (const target of refused) assert.equal(splitTarget(target), undefined, target)
  })

  it('never loses or changes a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        for (const target of [text, '/' + text]) {
          const cut = splitTarget(target)
          if (cut === undefined) continue
          assert.equal(cut.path + cut.query, target)
          assert.ok(cut.path.startsWith('/') && !cut.path.includes('?'))
          assert.ok(cut.query === '' || cut.query.startsWith('?'))
        }
      }),
    )
  })
})
