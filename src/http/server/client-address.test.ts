import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { buildIpRanges } from '../../base/ip-address.ts'
import type { ForwardingHeader } from '../wire/forwarding-header.ts'
import { fieldsOf } from '../wire/fields.ts'
import { ClientAddresses } from './client-address.ts'

function withProxies(header: ForwardingHeader = 'x-forwarded-for') {
  const unlisted: string[] = []
  const addresses = new ClientAddresses({
    trusted: buildIpRanges(['10.0.0.0/8', '2001:db8::/32']),
    header,
    onUnlistedProxy: (address, how) => unlisted.push(`${address} ${how}`),
  })
  const find = (peer: string, ...headers: string[]): string | undefined =>
    addresses.find(addresses.peer(peer), fieldsOf(headers))
  return { find, unlisted }
}

describe('the address of a client', () => {
  it("is its connection's, whatever a peer that is not trusted claims", () => {
    const { find } = withProxies()
    assert.equal(find('192.0.2.9', 'X-Forwarded-For', '10.0.0.1'), '192.0.2.9')
    assert.equal(find('192.0.2.9'), '192.0.2.9')
  })

  it('is the nearest one that is not a trusted proxy', () => {
    const { find } = withProxies()
    for (const [value, address] of [
      ['192.0.2.1', '192.0.2.1'],
      ['6.6.6.6, 192.0.2.1', '192.0.2.1'],
      ['6.6.6.6, 192.0.2.1, 10.1.1.1, 2001:db8::5', '192.0.2.1'],
      ['10.6.6.6, 192.0.2.1, 10.1.1.1', '192.0.2.1'],
      ['::ffff:192.0.2.1', '192.0.2.1'],
      ['2001:db9::1', '2001:db9::1'],
      // All of them are trusted: the farthest one.
      ['10.3.3.3, 10.2.2.2', '10.3.3.3'],
      // Behind a hop that says nothing, nothing is believed.
      ['6.6.6.6, unknown', '10.0.0.1'],
      ['6.6.6.6, , 10.2.2.2', '10.2.2.2'],
      ['', '10.0.0.1'],
    ] as const)
      assert.equal(find('10.0.0.1', 'X-Forwarded-For', value), address, value)
    assert.equal(find('10.0.0.1'), '10.0.0.1')
  })

  it('is read from the chosen header only', () => {
    const headers = ['X-Forwarded-For', '192.0.2.1', 'X-Real-IP', '192.0.2.2']
    headers.push('Forwarded', 'for=192.0.2.3')
    assert.equal(withProxies('x-forwarded-for').find('10.0.0.1', ...headers), '192.0.2.1')
    assert.equal(withProxies('x-real-ip').find('10.0.0.1', ...headers), '192.0.2.2')
    assert.equal(withProxies('forwarded').find('10.0.0.1', ...headers), '192.0.2.3')
  })
})

describe('a peer that forwards and is not trusted', () => {
  it('is reported once, by any of the headers', () => {
    const { find, unlisted } = withProxies()
    for (let times = 0; times < 3; times++) {
      find('192.0.2.9', 'Forwarded', 'for=192.0.2.1')
      find('192.0.2.8', 'X-Real-IP', '192.0.2.1')
      find('192.0.2.7', 'Host', 'x')
      find('10.0.0.1', 'X-Real-IP', '192.0.2.1')
    }
    assert.deepEqual(unlisted, ['192.0.2.9 forwarded', '192.0.2.8 x-real-ip'])
  })

  it('is reported up to a bound', () => {
    const { find, unlisted } = withProxies()
    for (let index = 0; index < 1_000; index++)
      find(`192.0.${index >> 8}.${index & 255}`, 'Forwarded', '')
    assert.equal(unlisted.length, 100)
  })
})
