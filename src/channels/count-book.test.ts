/** What the counts of answers show about a channel, and for how long. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ManualClock } from '../../test/support/manual-clock.ts'
import { makeChannel } from '../../test/support/snapshots.ts'
import { CountBook } from './count-book.ts'

const main = makeChannel('main')

describe('an ignored limit', () => {
  test('counts for its channel, model and field', () => {
    const book = new CountBook(new ManualClock())
    assert.equal(book.isIgnored(main, 'm', 'max_tokens'), false)
    book.noteIgnored(main, 'm', ['max_tokens'])
    assert.equal(book.isIgnored(main, 'm', 'max_tokens'), true)
    assert.equal(book.isIgnored(main, 'm', 'max_completion_tokens'), false)
    assert.equal(book.isIgnored(main, 'other', 'max_tokens'), false)
    assert.equal(book.isIgnored(makeChannel('other'), 'm', 'max_tokens'), false)
    book.noteIgnored(main, 'm', ['max_completion_tokens'])
    const both = ['max_completion_tokens', 'max_tokens']
    assert.deepEqual(book.describe(main, 'm'), { ignoredLimits: both })
    assert.deepEqual(book.describe(main, 'other'), {})
  })

  test('is known until the catalogue changes what it is about', () => {
    const book = new CountBook(new ManualClock())
    book.noteIgnored(main, 'm', ['max_tokens'])
    const isKnown = (change: object): boolean =>
      book.isIgnored(makeChannel('main', change), 'm', 'max_tokens')
    assert.equal(isKnown({}), true)
    assert.equal(isKnown({ rank: 3 }), true)
    assert.equal(isKnown({ url: 'https://other.example' }), false)
    assert.equal(isKnown({ outputLimit: new Set(['max_tokens']) }), false)
    assert.equal(isKnown({ outputLimit: new Set() }), false)
  })
})

describe('the ratio of counts to plain text', () => {
  function bookWith(count: number, countedTokens: number, estimatedTokens = 1_000): CountBook {
    const book = new CountBook(new ManualClock())
    for (let index = 0; index < count; index++)
      book.notePlain(main, { countedTokens, estimatedTokens })
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
    const usual = { countedTokens: 1_000, estimatedTokens: 1_000 }
    for (let index = 0; index < 9; index++) book.notePlain(main, usual)
    assert.equal(ratioOf(book), 2.1)
    book.notePlain(main, usual)
    assert.equal(ratioOf(book), undefined)
    book.notePlain(makeChannel('other'), { countedTokens: 9_000, estimatedTokens: 1_000 })
    assert.equal(ratioOf(book), undefined)
  })
})
