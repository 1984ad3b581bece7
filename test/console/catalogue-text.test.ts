/** The text of the catalogue file as its editor reads it: the place of the cursor, entries, two versions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { lineOfEntry, mergeFiles, placeAt } from '../../console/src/pages/models/catalogue-text.ts'

const file = `revision: one
vendors:
  alpha:
    format: messages
models:
  large-1:
    vendor: alpha
    price:
      input: 3
channels:
  alpha-main:
    vendor: alpha
    models:
      - large-1
    rank: 0
  "alpha:2":
    vendor: alpha
    rank: 1
`

/** The text up to a mark. */
function upTo(text: string): string {
  return text.slice(0, text.indexOf('|'))
}

for (const [name, text, path, isValue, word] of [
  ['an empty file', '|', [], false, ''],
  ['a section', 'ven|', [], false, 'ven'],
  ['a key of an entry', 'channels:\n  a:\n    ra|', ['channels', 'a'], false, 'ra'],
  ['a value', 'channels:\n  a:\n    check: no|', ['channels', 'a', 'check'], true, 'no'],
  [
    'a key inside of a field',
    'models:\n  m:\n    price:\n      inp|',
    ['models', 'm', 'price'],
    false,
    'inp',
  ],
  [
    'an item of a list',
    'channels:\n  a:\n    models:\n      - la|',
    ['channels', 'a', 'models'],
    false,
    'la',
  ],
  ['a key in braces', 'models:\n  m: { vendor: a, pr|', ['models', 'm'], false, 'pr'],
  [
    'a value in braces',
    'models:\n  m: { price: { input: 3, output: 4|',
    ['models', 'm', 'price', 'output'],
    true,
    '4',
  ],
  [
    'an item in brackets',
    'channels:\n  a: { models: [large-1, la|',
    ['channels', 'a', 'models'],
    true,
    'la',
  ],
] as const)
  test(`the editor knows where the cursor is: ${name}`, () => {
    assert.deepEqual(placeAt(upTo(text)), { path: [...path], isValue, word })
  })

test('an entry is found by its section and its name, also a quoted one', () => {
  assert.equal(lineOfEntry(file, 'channels', 'alpha-main'), 11)
  assert.equal(lineOfEntry(file, 'channels', 'alpha:2'), 16)
  assert.equal(lineOfEntry(file, 'vendors', 'alpha-main'), undefined)
  assert.equal(lineOfEntry(file, 'channels', 'vendor'), undefined)
})

test('a file without changes is merged to itself', () => {
  const merged = mergeFiles({ base: file, mine: file, theirs: file })
  assert.deepEqual(merged, { text: file, taken: [], clashes: [] })
})

test("each operator's changes of different entries are in the merged file", () => {
  const mine = file
    .replace('rank: 0', 'rank: 5')
    .replace('channels:', '  small-1:\n    vendor: alpha\nchannels:')
  const theirs = file.replace('revision: one', 'revision: two').replace('input: 3', 'input: 4')
  const merged = mergeFiles({ base: file, mine, theirs })
  assert.equal(
    merged.text,
    mine.replace('revision: one', 'revision: two').replace('input: 3', 'input: 4'),
  )
  assert.deepEqual(merged.taken, ['models large-1'])
  assert.deepEqual(merged.clashes, [])
})

test('an entry that both have changed stays as the reader has it, beside the other version', () => {
  const mine = file.replace('rank: 1', 'rank: 2')
  const theirs = file.replace('rank: 1', 'rank: 3')
  const merged = mergeFiles({ base: file, mine, theirs })
  assert.equal(merged.text, mine)
  assert.equal(merged.clashes.length, 1)
  assert.match(merged.clashes[0]?.theirs ?? '', /rank: 3/)
})

test('an entry that the other operator has removed is removed, unless the reader has changed it', () => {
  const removed = file.slice(0, file.indexOf('  "alpha:2"'))
  assert.equal(mergeFiles({ base: file, mine: file, theirs: removed }).text, removed)
  const mine = file.replace('rank: 1', 'rank: 2')
  const merged = mergeFiles({ base: file, mine, theirs: removed })
  assert.equal(merged.clashes[0]?.theirs, '')
  assert.match(merged.text, /rank: 2/)
})
