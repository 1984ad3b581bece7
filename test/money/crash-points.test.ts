/**
 * kill -9 of the gateway at every step of an exchange, both formats, streamed and not. Goal: on the
 * same store the next gateway finds clean books; each complete answer is charged once, none
 * is charged twice, and nothing is held any more.
 */
import { describe } from 'node:test'
import { crashPoints, testCrashes } from './crash-scenario.ts'
import { formats } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'

describe('a gateway killed', { concurrency: 2 }, () => {
  for (const format of formats)
    describe(`while it serves the ${format} format`, { concurrency: 1 }, () => {
      testCrashes({ format, points: crashPoints, open: () => scenario({ process: 'own' }) })
    })
})
