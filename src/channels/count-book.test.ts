/** What the counts of answers show about a channel, and for how long. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { hourMs } from '../base/clock.ts'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { makeChannel } from '../../test/support/snapshots.ts'
import { CountBook } from './count-book.ts'

const main = makeChannel('main')
const place = { channel: 'main', model: 'm' }

describe('an ignored limit', () => {
  test('counts for its place and field, for a day after the last answer that showed it', () => {
    const clock = new ManualClock()
    const book = new CountBook(clock)
    assert.equal(book.isIgnored(place, 'max_tokens'), false)
    book.noteIgnored(place, ['max_tokens'])
    assert.equal(book.isIgnored(place, 'max_tokens'), true)
    assert.equal(book.isIgnored(place, 'max_completion_tokens'), false)
    assert.equal(book.isIgnored({ ...place, model: 'other' }, 'max_tokens'), false)
    assert.equal(book.isIgnored({ ...place, channel: 'other' }, 'max_tokens'), false)
    clock.advance(23 * hourMs)
    book.noteIgnored(place, ['max_tokens'])
    clock.advance(23 * hourMs)
    assert.equal(book.isIgnored(place, 'max_tokens'), true)
    clock.advance(hourMs)
    assert.equal(book.isIgnored(place, 'max_tokens'), false)
    assert.deepEqual(book.describe(main, 'm'), {})
  })

  test('is shown until the catalogue says so itself', () => {
    const book = new CountBook(new ManualClock())
    book.noteIgnored(place, ['max_tokens'])
    assert.deepEqual(book.describe(main, 'm'), { ignoredLimits: ['max_tokens'] })
    assert.deepEqual(book.describe(main, 'other'), {})
    const corrected = makeChannel('main', { outputLimit: new Set(['max_completion_tokens']) })
    assert.deepEqual(book.describe(corrected, 'm'), {})
  })
})

describe('the ratio of counts to plain text', () => {
  function bookWith(count: number, countedTokens: number, estimatedTokens = 1_000): CountBook {
    const book = new CountBook(new ManualClock())
    for (let index = 0; index < count; index++)
      book.notePlain('main', { countedTokens, estimatedTokens })
    return book
  }
  const ratioOf = (book: CountBook): number | undefined => book.describe(main, 'm').countRatio

  test('needs twenty prompts of some size, and is shown only above two', () => {
    assert.equal(ratioOf(bookWith(19, 9_000)), undefined)
    assert.equal(ratioOf(bookWith(20, 9_000)), 9)
    assert.equal(ratioOf(bookWith(20, 2_000)), undefined)
    assert.equal(ratioOf(bookWith(20, 2_149)), 2.1)
    assert.equal(ratioOf(bookWith(40, 9_000, 999)), undefined)
  })

  test('is that of the last twenty, of all models of the channel', () => {
    const book = bookWith(20, 3_000)
    assert.equal(book.describe(main, 'other').countRatio, 3)
    for (let index = 0; index < 9; index++)
      book.notePlain('main', { countedTokens: 1_000, estimatedTokens: 1_000 })
    assert.equal(ratioOf(book), 2.1)
    book.notePlain('main', { countedTokens: 1_000, estimatedTokens: 1_000 })
    assert.equal(ratioOf(book), undefined)
    book.notePlain('other', { countedTokens: 9_000, estimatedTokens: 1_000 })
    assert.equal(ratioOf(book), undefined)
  })
})
