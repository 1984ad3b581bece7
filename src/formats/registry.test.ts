/** An operation that is forwarded has one spelling. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { canonicalPath, findOperation, formatOf } from './registry.ts'

test('a forwarded operation is not found under a second spelling', () => {
  for (const name of ['messages', 'chat'] as const)
    for (const { method, path } of formatOf(name).operations.filter(
      ({ kind }) => kind === 'forwarded',
    )) {
      assert.equal(findOperation(name, method, path).kind, 'found')
      for (const spelling of [
        `${path}/`,
        `${path}/x`,
        `/v1/models/..${path}`,
        `/v1/models/../..${path}`,
        `/v1/models/%2e%2e%2f${path.slice(4)}`,
        path.replace('/v1/', '/v1%2f'),
        path.replace('/v1/', '/v1//'),
        path.toUpperCase(),
      ])
        assert.notEqual(findOperation(name, method, spelling).kind, 'found', spelling)
    }
})

const samples = (['messages', 'chat'] as const).flatMap((name) =>
  formatOf(name).operations.map(({ path }) => ({
    name,
    path: path.replace('{id}', 'resp_1').replace('*id', 'org/a//b:1@2+3[1m]'),
  })),
)

test('every join of a base address and a path leads to one canonical path', () => {
  const sample = fc.constantFrom(...samples)
  const slashes = fc.constantFrom('/', '//', '///')
  const versions = fc.constantFrom('', 'v1', 'v1v1')
  const end = fc.constantFrom('', '/')
  fc.assert(
    fc.property(sample, slashes, versions, end, ({ name, path }, slash, version, last) => {
      const [, bare = ''] = /^(?:\/v1)?\/(.*)$/.exec(path) ?? []
      const [, head = bare, id = ''] = /^(models\/)(.*)$/.exec(bare) ?? []
      const base = version.replaceAll('v1', `${slash}v1`)
      // Behind the slash of a list stands an id as it is.
      const spelled = base + slash + (id === '' ? head.replaceAll('/', slash) + last : bare)
      assert.equal(canonicalPath(name, spelled), path, spelled)
      assert.equal(canonicalPath(name, path), path)
    }),
  )
})

test('a path that spells a segment in another way stays as it is', () => {
  const odd = fc.constantFrom('%2f', '%2F', '%2e%2e', '..', '.', ';', '%6d', '\\', 'V1')
  fc.assert(
    fc.property(fc.constantFrom(...samples), odd, fc.nat(), ({ name, path }, text, place) => {
      // Behind these stands an id as it is.
      const isOne = /^\/v1\/(?:models|responses)\//.test(path)
      const at = place % (isOne ? 4 : path.length + 1)
      const spelled = path.slice(0, at) + text + path.slice(at)
      const found = findOperation(name, 'POST', canonicalPath(name, spelled))
      assert.equal(found.kind, 'path_unknown', spelled)
    }),
  )
})
