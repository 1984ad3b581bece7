import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parsePostgresUrl, parseStoreLocation } from './location.ts'

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

describe('a PostgreSQL URL', () => {
  it('names hosts in the order they are tried, each with its port', () => {
    const { hosts } = parsePostgresUrl('postgres://u@one:5433,two,[::1]:5434/db')
    assert.deepEqual(hosts, [
      { host: 'one', port: 5433 },
      { host: 'two', port: 5432 },
      { host: '::1', port: 5434 },
    ])
  })

  it('may name a socket, user and password in its parameters', () => {
    const url = 'postgresql:///db?host=/var/run/postgresql&port=6000&user=u&password=p%26q'
    const { hosts, user, password } = parsePostgresUrl(url)
    assert.deepEqual(hosts, [{ host: '/var/run/postgresql', port: 6000 }])
    assert.deepEqual([user, password?.reveal()], ['u', 'p&q'])
  })

  it('gives credentials as they are meant, and never shows the password', () => {
    const location = parsePostgresUrl('postgres://us%40er:p%3Aa%2Fss@host/db')
    assert.deepEqual([location.user, location.password?.reveal()], ['us@er', 'p:a/ss'])
    assert.doesNotMatch(JSON.stringify(location), /a\/ss/)
  })

  it('says how sure the server has to be of itself', () => {
    assert.equal(parsePostgresUrl('postgres://h/db').tls, 'disable')
    const { tls, tlsRootPath } = parsePostgresUrl(
      'postgres://h/db?sslmode=verify-full&sslrootcert=/etc/ca.pem',
    )
    assert.deepEqual([tls, tlsRootPath], ['verify-full', '/etc/ca.pem'])
    assert.equal(parsePostgresUrl('postgres://h/db?sslmode=require').tls, 'require')
    const trusting = parsePostgresUrl('postgres://h/db?sslmode=require&sslrootcert=/etc/ca.pem')
    assert.equal(trusting.tls, 'verify-ca')
  })

  for (const [what, url] of [
    ['no database', 'postgres://user@host'],
    ['a port that is none', 'postgres://host:99999/db'],
    ['a mode of TLS that is none', 'postgres://host/db?sslmode=prefer'],
    ['a server that is only read from', 'postgres://host/db?target_session_attrs=standby'],
    ['an unknown parameter', 'postgres://host/db?ssl_mode=require'],
    ['a broken escape', 'postgres://us%er@host/db'],
  ] as const)
    it(`is refused with ${what}, and its password is not repeated`, () => {
      const secret = url
        .replace('://', '://u:hidden-word@')
        .replace('u:hidden-word@user@', 'u:hidden-word@')
      assert.throws(
        () => parsePostgresUrl(secret),
        (error: Error) => /cannot be used/.test(error.message) && !error.message.includes('hidden'),
      )
    })
})
