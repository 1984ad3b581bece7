import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addressGroup, buildIpRanges, isInRanges, isIpRange, readAddress } from './ip-address.ts'

describe('an address', () => {
  it('has one spelling, and an IPv4-mapped one is the IPv4 address', () => {
    for (const [text, address] of [
      ['192.0.2.1', '192.0.2.1'],
      ['::ffff:192.0.2.1', '192.0.2.1'],
      ['::FFFF:c000:0201', '192.0.2.1'],
      ['2001:0DB8:0:0::1', '2001:db8::1'],
      ['fe80::1%eth0', 'fe80::1'],
      ['::1', '::1'],
    ] as const)
      assert.equal(readAddress(text), address)
  })

  it('is not read from other text', () => {
    for (const text of ['', 'unknown', '_hidden', '192.0.2', '192.0.2.1:80', '[::1]', '010.0.0.1'])
      assert.equal(readAddress(text), undefined, text)
  })
})

it('clients are counted by IPv4 address, and by IPv6 network /64', () => {
  for (const [address, group] of [
    ['192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:1:2::', '2001:db8:1:2::/64'],
    ['::1', '0:0:0:0::/64'],
    ['::', '0:0:0:0::/64'],
    ['1::4:5:6:7:8', '1:0:0:4::/64'],
  ] as const)
    assert.equal(addressGroup(address), group)
})

describe('ranges of addresses', () => {
  it('accept addresses and networks of both families', () => {
    for (const text of ['10.0.0.0/8', '192.0.2.7', '0.0.0.0/0', '2001:db8::/32', '::1', '::/0']) {
      assert.ok(isIpRange(text), text)
    }
  })

  it('refuse everything else', () => {
    for (const text of ['', '10.0.0.0/33', '10.0.0/8', '10.0.0.0/', '10.0.0.0/8/8', '::/129']) {
      assert.ok(!isIpRange(text), text)
    }
    for (const text of ['example.org', '10.0.0.0/-1', 'fe80::1%eth0', '010.0.0.1', '1.2.3.4/1e1']) {
      assert.ok(!isIpRange(text), text)
    }
  })

  it('contain the addresses inside them, IPv4-mapped IPv6 included', () => {
    const ranges = buildIpRanges(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', 'fe80::/10'])
    for (const address of [
      '10.255.0.1',
      '192.0.2.7',
      '::ffff:10.1.2.3',
      '::ffff:a01:203',
      '2001:db8:1::1',
      'fe80::1%eth0',
    ]) {
      assert.ok(isInRanges(ranges, address), address)
    }
    for (const address of ['11.0.0.1', '192.0.2.8', '::ffff:11.0.0.1', '2001:db9::1', '', 'x']) {
      assert.ok(!isInRanges(ranges, address), address)
    }
    assert.ok(!isInRanges(ranges, undefined))
  })
})
