/** A vendor's own counts as files have them: what is read, and what is a mistake rather than a guess. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readVendorCounts } from './vendor-counts.ts'

test('rows of a model are added up, in CSV and in JSON alike', () => {
  const csv = 'model,requests,input\r\n"a,b",1,10\r\n"a,b",2,\r\n'
  const json = JSON.stringify([
    { model: 'a,b', requests: 1, input: 10 },
    { model: 'a,b', requests: '2', input: null },
  ])
  for (const text of [csv, json])
    assert.deepEqual(readVendorCounts(text), [
      { model: 'a,b', requests: 3, figures: new Map([['input', 10]]) },
    ])
})

for (const [name, text, fault] of [
  ['nothing', '', /empty/],
  ['a JSON object', '{"data":[{"model":"m","input":1}]}', /array of objects/],
  ['a column twice', 'model,input,input\nm,1,2\n', /column input stands twice/],
  ['a column nobody knows', 'model,tokens\nm,1\n', /unknown column tokens/],
  ['a row that is short', 'model,input\nm\n', /another number of cells/],
  ['half a token', 'model,input\nm,0.5\n', /whole number/],
  ['a row of no model', 'model,input\n,1\n', /model is missing/],
] as const)
  test(`${name} is a mistake`, () => {
    const read = readVendorCounts(text)
    assert.match(typeof read === 'string' ? read : 'no mistake', fault)
  })
