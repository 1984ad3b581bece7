import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fieldsOf } from './fields.ts'
import { findForwardingHeader, hopsIn } from './forwarding-header.ts'

describe('the hops of a forwarding header', () => {
  it('are read from the right, over all its lines', () => {
    const headers = [
      'X-Forwarded-For',
      '192.0.2.1,192.0.2.2:4711',
      'Host',
      'x',
      'x-forwarded-for',
      ' [2001:db8::1]:80 , 2001:DB8::2, ::ffff:192.0.2.3',
    ]
    assert.deepEqual(
      [...hopsIn(fieldsOf(headers), 'x-forwarded-for')],
      ['192.0.2.3', '2001:db8::2', '2001:db8::1', '192.0.2.2', '192.0.2.1'],
    )
    assert.deepEqual([...hopsIn(fieldsOf(headers), 'forwarded')], [])
  })

  it('are undefined where they are no address', () => {
    for (const value of ['', 'unknown', '192.0.2', 'localhost', '"192.0.2.1"', '[192.0.2.1', '1:2'])
      assert.deepEqual(
        [...hopsIn(fieldsOf(['x-forwarded-for', value]), 'x-forwarded-for')],
        [undefined],
        value,
      )
  })

  it('in Forwarded are the "for" of its elements, whatever is quoted beside them', () => {
    for (const [value, hops] of [
      ['for=192.0.2.43, For="[2001:db8:cafe::17]:4711"', ['2001:db8:cafe::17', '192.0.2.43']],
      ['proto=https; for=192.0.2.60 ;by=203.0.113.43', ['192.0.2.60']],
      ['host="a;for=6.6.6.6";for=192.0.2.1', ['192.0.2.1']],
      ['for=192.0.2.1;host="a, for=6.6.6.6"', ['192.0.2.1']],
      ['for=192.0.2.1;host="a\\", for=6.6.6.6; \\""', ['192.0.2.1']],
      ['for=", for=192.0.2.1', ['192.0.2.1', undefined]],
      ['for=unknown', [undefined]],
      ['for=_gazonk', [undefined]],
      ['proto=http', [undefined]],
      ['for=192.0.2.1;for=192.0.2.2', [undefined]],
    ] as const)
      assert.deepEqual([...hopsIn(fieldsOf(['Forwarded', value]), 'forwarded')], hops, value)
  })

  it('in X-Real-IP are only the last value', () => {
    const headers = ['X-Real-IP', '6.6.6.6', 'x-real-ip', '6.6.6.7, 192.0.2.1']
    assert.deepEqual([...hopsIn(fieldsOf(headers), 'x-real-ip')], ['192.0.2.1'])
  })
})

it('a forwarding header is found in any spelling', () => {
  assert.equal(findForwardingHeader(fieldsOf(['Host', 'x', 'X-REAL-IP', '192.0.2.1'])), 'x-real-ip')
  assert.equal(findForwardingHeader(fieldsOf(['forwarded', ''])), 'forwarded')
  assert.equal(findForwardingHeader(fieldsOf(['Host', 'x-real-ip'])), undefined)
})
