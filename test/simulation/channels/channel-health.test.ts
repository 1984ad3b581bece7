/**
 * The health machine in a simulated world: every scenario of the published table at every load, in
 * a short volume. `npm run test:sim -- --full` runs the whole one. `SEED=7` repeats a single run.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { loads, runCells, scenarios, shortVolume, withSeed } from './cells.ts'
import { variants } from '../../support/variants.ts'

const volume = withSeed(shortVolume, process.env['SEED'])

for (const scenario of scenarios)
  describe(scenario.title, () => {
    for (const load of variants(loads, (one) => one === 0.2 || one === 10))
      test(`at ${load} requests a second`, () => {
        for (const { measure, complaint } of runCells(scenario, load, volume))
          assert.equal(complaint, undefined, `${scenario.id}, ${measure.title}: ${complaint ?? ''}`)
      })
  })
