import { describe, it } from 'node:test'
import assert from 'node:assert/strict'
import { buildIpRanges, isInRanges, isIpRange } from './ip-ranges.ts'

describe('client address ranges', () => {
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

  it('hold what is inside them, IPv4 in its IPv6 form included', () => {
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
