import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { groupNames } from './vendor-names.ts'

/** Groups as text: the vendor's names, then ours. */
function grouped(
  vendorNames: readonly string[],
  ours: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  const models = Object.entries(ours).map(([model, names]) => ({ model, names }))
  return groupNames(vendorNames, models).map(
    (group) => `${group.vendorNames.join(' ')} = ${group.models.join(' ')}`,
  )
}

describe("a vendor's names", () => {
  it('are what channels call a model', () => {
    assert.deepEqual(grouped(['big', 'small'], { a: ['big'], b: ['small'] }), [
      'big = a',
      'small = b',
    ])
    assert.deepEqual(grouped(['b', 'c'], { a: ['b'], b: ['c'] }), ['b = a', 'c = b'])
    assert.deepEqual(grouped(['big', 'a'], { a: ['big', 'a'] }), ['big a = a'])
  })

  it('stand for all models that have this name with a channel', () => {
    assert.deepEqual(grouped(['big'], { a: ['big'], b: ['big'], c: ['c'] }), ['big = a b', ' = c'])
    assert.deepEqual(grouped(['a'], { a: ['a'], b: ['a'] }), ['a = a b'])
  })

  it('may have a date that ours have not, and the other way round', () => {
    assert.deepEqual(grouped(['big-2026-01-15'], { a: ['big'], b: ['big'] }), [
      'big-2026-01-15 = a b',
    ])
    assert.deepEqual(grouped(['big'], { a: ['big-20260115'] }), ['big = a'])
    assert.deepEqual(grouped(['a-20260115'], { a: ['big'] }), ['a-20260115 = a'])
  })

  it('tell editions apart where both sides do', () => {
    assert.deepEqual(
      grouped(['a-20260115', 'a-20260301'], {
        'a-20260115': ['a-20260115'],
        'a-20260301': ['a-20260301'],
      }),
      ['a-20260115 = a-20260115', 'a-20260301 = a-20260301'],
    )
    assert.deepEqual(grouped(['a', 'a-20260115', 'a-20260301'], { a: ['a'] }), [
      'a a-20260115 a-20260301 = a',
    ])
    assert.deepEqual(grouped(['a-20260115'], { a: ['a'], 'a-20260115': ['a-20260115'] }), [
      'a-20260115 = a a-20260115',
    ])
  })

  it('match no model of ours where nothing is alike', () => {
    assert.deepEqual(grouped(['never-1'], { a: ['a'] }), ['never-1 = ', ' = a'])
  })
})
