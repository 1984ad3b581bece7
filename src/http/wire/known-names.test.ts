/** Names found where they stand, and how many are kept. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { KnownNames } from './known-names.ts'

describe('known names', () => {
  it('are found where they stand, whole and in their own case', () => {
    const names = new KnownNames(['host', 'accept'])
    assert.equal(names.find('host: a', 0, 4), 'host')
    assert.equal(names.find('x-host: a', 2, 6), 'host')
    assert.equal(names.find('hosts: a', 0, 5), undefined)
    assert.equal(names.find('Host: a', 0, 4), undefined)
    assert.equal(names.find('hos', 0, 4), undefined)
    assert.ok(names.has('accept'))
    assert.ok(!names.has('accep'))
  })

  it('give way to newer ones of their length, so that a peer cannot fill memory', () => {
    const names = new KnownNames(['host'])
    const invented = Array.from(
      { length: 1_000 },
      (_, index) => `x${String(index).padStart(3, '0')}`,
    )
    for (const name of invented) names.add(name)
    const kept = invented.filter((name) => names.has(name))
    assert.ok(kept.length < 100 && kept.includes('x999'), `${kept.length} are kept`)
    assert.ok(!names.has('host'))
    names.add('host')
    assert.ok(names.has('host'))
  })

  it('are not kept where they are very long', () => {
    const names = new KnownNames()
    const long = 'x'.repeat(10_000)
    assert.equal(names.add(long), long)
    assert.ok(!names.has(long))
  })
})
