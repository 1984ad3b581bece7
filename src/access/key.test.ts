import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import {
  hashSecret,
  headOf,
  headStartPattern,
  makeSecret,
  parseSecret,
  secretPattern,
  traceSecret,
  type KeyKind,
} from './key.ts'

const kinds: readonly KeyKind[] = ['client', 'reader', 'admin']
const anyKind = fc.constantFrom(...kinds)
const letters = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'.split('')

describe('secrets', () => {
  it('leave a trace: the hash of a whole one, the head of any other, and no more', () => {
    fc.assert(
      fc.property(anyKind, fc.integer({ min: 3, max: 51 }), (kind, length) => {
        const secret = makeSecret(kind)
        assert.deepEqual(traceSecret(` ${secret}\n`), {
          hash: hashSecret(secret),
          headStart: undefined,
        })
        const trace = traceSecret(secret.slice(0, length))
        assert.equal(trace?.headStart, secret.slice(0, Math.min(7, length)))
        const mayBeWhole = kind === 'admin' && length >= 19
        assert.equal(trace?.hash, mayBeWhole ? hashSecret(secret.slice(0, length)) : undefined)
        const head = headOf(secret)
        assert.deepEqual(traceSecret(head), { hash: undefined, headStart: head.slice(0, 7) })
        assert.match(head, new RegExp(headStartPattern))
        assert.doesNotMatch(secret, new RegExp(headStartPattern))
      }),
    )
    for (const text of ['', 'acme', 'cr', 'sk_ab12', 'cr_ab 12'])
      assert.equal(traceSecret(text), undefined)
  })

  it('are recognised offline, with their kind, and match the published pattern', () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds, 'code' as const), (kind) => {
        const secret = makeSecret(kind)
        assert.deepEqual(parseSecret(secret), { kind })
        assert.match(`key=${secret},`, new RegExp(secretPattern))
        assert.equal(secret.length, 52)
      }),
    )
  })

  it('show every typo of one letter', () => {
    fc.assert(
      fc.property(
        anyKind,
        fc.nat(51),
        fc.constantFrom(...letters, '_', '-', ' '),
        (kind, index, letter) => {
          const secret = makeSecret(kind)
          const typo = secret.slice(0, index) + letter + secret.slice(index + 1)
          fc.pre(typo !== secret)
          assert.equal(parseSecret(typo), undefined)
        },
      ),
    )
  })

  it('show neighbours that changed places, and letters lost or added', () => {
    fc.assert(
      fc.property(anyKind, fc.integer({ min: 0, max: 50 }), (kind, index) => {
        const secret = makeSecret(kind)
        const before = secret.slice(0, index)
        const pair = secret.slice(index, index + 2)
        const after = secret.slice(index + 2)
        const swapped = before + (pair[1] ?? '') + (pair[0] ?? '') + after
        if (swapped !== secret) assert.equal(parseSecret(swapped), undefined)
        assert.equal(parseSecret(before + pair.slice(1) + after), undefined)
        assert.equal(parseSecret(before + 'a' + pair + after), undefined)
      }),
    )
  })

  it('refuse any other text', () => {
    fc.assert(fc.property(fc.string(), (text) => assert.equal(parseSecret(text), undefined)))
    const secret = makeSecret('client')
    for (const text of [`${secret}\n`, ` ${secret}`, secret.toUpperCase(), `x${secret}`, '']) {
      assert.equal(parseSecret(text), undefined)
    }
  })

  it('are described for scanners in the documentation', () => {
    const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8')
    assert.ok(page.includes(secretPattern))
  })

  it('never repeat and use every letter', () => {
    const secrets = Array.from({ length: 500 }, () => makeSecret('client'))
    assert.equal(new Set(secrets).size, 500)
    const used = new Set(secrets.map((secret) => secret.slice(3)).join(''))
    assert.equal(used.size, 62)
  })

  it('are stored as SHA-256 and shown by four characters', () => {
    const secret = makeSecret('client')
    assert.equal(hashSecret(secret), createHash('sha256').update(secret).digest('hex'))
    assert.equal(headOf(secret), `${secret.slice(0, 7)}…`)
  })
})
