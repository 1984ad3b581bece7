/**
 * Each target with its kept inputs, and with a fixed number of mutations from a fixed seed, so that what
 * passed once passes again. `npm run test:fuzz` explores further.
 */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { minimise, runCorpus, runMutations } from './engine.ts'
import { closeFuzzStore } from './store.ts'
import { targets } from './targets.ts'

after(closeFuzzStore)

const seed = 20_261_127

for (const target of targets)
  describe(target.name, () => {
    test('keeps its promises for every kept input', () => runCorpus(target))

    test(`keeps them for ${target.testRuns} mutations`, () =>
      runMutations(target, seed, target.testRuns))
  })

test('every folder of kept inputs belongs to a target', () => {
  const folders = readdirSync(join(import.meta.dirname, 'corpus'))
  assert.deepEqual(folders.toSorted(), targets.map(({ name }) => name).toSorted())
})

test('an input that breaks a promise is made as small as it can be', async () => {
  const target = {
    name: 'example',
    words: [],
    testRuns: 0,
    check: (input: Buffer) => assert.ok(!/a.*b/s.test(input.toString())),
  }
  const small = await minimise(target, Buffer.from('xxxxaxxxxxxxxbxxx'))
  assert.equal(small.toString(), 'ab')
})
