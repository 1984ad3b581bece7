import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseStoreLocation } from './location.ts'

describe('the store location', () => {
  it('is a path after sqlite:, relative or not', () => {
    assert.deepEqual(parseStoreLocation('sqlite:./data/turnpike.db'), {
      kind: 'sqlite',
      path: './data/turnpike.db',
    })
    assert.deepEqual(parseStoreLocation('sqlite:/var/lib/a store.db'), {
      kind: 'sqlite',
      path: '/var/lib/a store.db',
    })
  })

  it('is a URL of PostgreSQL', () => {
    for (const text of ['postgres://user@host/db', 'postgresql://host/db'])
      assert.equal(parseStoreLocation(text).kind, 'postgres')
  })

  it('is refused with an example where it is anything else', () => {
    for (const text of ['', 'sqlite:', 'sqlite://x', 'data.db', 'sqlite::memory:', 'sqlite:a\0b'])
      assert.throws(() => parseStoreLocation(text), {
        code: 'operations.invalid',
        message: /sqlite:PATH/,
      })
  })
})
