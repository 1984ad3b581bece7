/** The pages of a list of models: all of it once, in order, whatever the length of a page. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { pageOf } from './models.ts'

const listOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ id: `m/${index}` }))

function read(count: number, query: string) {
  const page = pageOf(listOf(count), query)
  assert.ok(!('kind' in page), query)
  return page
}

test('without a limit a list has all its models, or all behind one', () => {
  assert.deepEqual(read(30, ''), { data: listOf(30), hasMore: false })
  assert.deepEqual(read(30, '?beta=true&limit=1000').data.length, 30)
  assert.deepEqual(read(3, '?after_id=m%2F1'), { data: [{ id: 'm/2' }], hasMore: false })
})

test('the pages together are the list, forwards and backwards', () => {
  fc.assert(
    fc.property(
      fc.nat(40),
      fc.integer({ min: 1, max: 50 }),
      fc.boolean(),
      (count, limit, isBack) => {
        const seen: string[] = []
        let from = isBack ? `&before_id=m/${count - 1}` : ''
        for (let hasMore = count > 0; hasMore;) {
          const page = read(count, `?limit=${limit}${from}`)
          const ids = page.data.map(({ id }) => id)
          seen.splice(isBack ? 0 : seen.length, 0, ...ids)
          from = isBack ? `&before_id=${ids[0] ?? ''}` : `&after_id=${ids.at(-1) ?? ''}`
          hasMore = page.hasMore
        }
        const all = listOf(isBack ? Math.max(count - 1, 0) : count).map(({ id }) => id)
        assert.deepEqual(seen, all)
      },
    ),
  )
})

test('says what is wrong with a query', () => {
  for (const [query, message] of [
    ['?limit=0', /from 1 to 1000/],
    ['?limit=1001', /from 1 to 1000/],
    ['?limit=ten', /from 1 to 1000/],
    ['?limit=', /from 1 to 1000/],
    ['?after_id=none', /names no model/],
    ['?before_id=', /names no model/],
    ['?after_id=m/0&before_id=m/1', /not both/],
  ] as const) {
    const page = pageOf(listOf(3), query)
    assert.ok('kind' in page, query)
    assert.match(page.message, message)
  }
})
