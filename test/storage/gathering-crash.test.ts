/** kill -9 at each step of the commit of charges that gather, on the embedded store. */
import { after, before, describe } from 'node:test'
import { openEmbedded, type EmbeddedHarness } from './embedded-harness.ts'
import { testGatheringCrashes } from './gathering-crash.ts'

describe('a process killed on the embedded store', () => {
  let harness: EmbeddedHarness
  before(async () => {
    harness = await openEmbedded()
  })
  after(() => harness.close())

  testGatheringCrashes(() => ({ harness, storeUrl: `sqlite:${harness.path}` }))
})
