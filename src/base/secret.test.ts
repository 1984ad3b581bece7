import assert from 'node:assert/strict'
import { test } from 'node:test'
import { format, inspect } from 'node:util'
import { pino } from 'pino'
import { Secret } from './secret.ts'

const plaintext = 'canary-vendor-credential'

test('only reveal shows a secret', () => {
  const secret = new Secret(plaintext)
  const holder = { secret, list: [secret], map: new Map([['secret', secret]]) }
  const shown = [
    String(secret),
    secret.toString(),
    JSON.stringify(holder),
    inspect(holder, { depth: 10, showHidden: true, getters: true }),
    format('%s %o %O %j', secret, secret, secret, secret),
    Object.keys(secret).join(),
    Object.values(secret).join(),
    Object.getOwnPropertyNames(secret).join(),
    inspect(Object.assign({}, secret)),
    inspect(structuredClone(secret)),
    new Error('failed', { cause: secret }).message,
    inspect(new Error('failed', { cause: secret })),
  ].join('\n')
  assert.ok(!shown.includes(plaintext), shown)
  assert.ok(shown.includes('***'))
  assert.equal(secret.reveal(), plaintext)
})

test('a secret in a log line is three stars', () => {
  const lines: string[] = []
  const log = pino({ level: 'trace' }, { write: (line: string) => lines.push(line) })
  const secret = new Secret(plaintext)
  log.info({ secret, nested: { deep: { secret } } }, 'a line')
  log.info(secret, 'a line')
  log.info('%s %j', secret, secret)
  assert.ok(!lines.join('').includes(plaintext), lines.join(''))
})
