import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseStoreLocation } from './location.ts'

describe('the store location', () => {
  it('is a path after sqlite:, relative or not', () => {
    assert.deepEqual(parseStoreLocation('sqlite:./data/turnpike.db'), {
      kind: 'sqlite',
      path: './data/turnpike.db',
    })
    assert.equal(parseStoreLocation('sqlite:/var/lib/a store.db').path, '/var/lib/a store.db')
  })

  it('says that PostgreSQL is not built in yet', () => {
    for (const text of ['postgres://user@host/db', 'postgresql://host/db'])
      assert.throws(() => parseStoreLocation(text), {
        code: 'operations.invalid',
        message: /PostgreSQL is not built in yet/,
      })
  })

  it('is refused with an example where it is anything else', () => {
    for (const text of ['', 'sqlite:', 'sqlite://x', 'data.db', 'sqlite::memory:', 'sqlite:a\0b'])
      assert.throws(() => parseStoreLocation(text), {
        code: 'operations.invalid',
        message: /sqlite:PATH/,
      })
  })
})
