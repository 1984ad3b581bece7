/**
 * kill -9 of the gateway at every step of an exchange, each operation, streamed and not. Goal: on the
 * same store the next gateway finds clean books; each complete answer is charged once, none
 * is charged twice, and nothing is held any more.
 */
import { describe } from 'node:test'
import { pointsOf, testCrashes } from './crash-scenario.ts'
import { bodyFormats } from '../support/requests.ts'
import { scenario } from '../support/scenario.ts'

describe('a gateway killed', { concurrency: 2 }, () => {
  for (const format of bodyFormats)
    describe(`while it serves ${format}`, { concurrency: 1 }, () => {
      testCrashes({ format, points: pointsOf(format), open: () => scenario({ process: 'own' }) })
    })
})
