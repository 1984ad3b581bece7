/**
 * kill -9 of a gateway on SQLite while money comes in: at writes and syncs of the commit, and behind
 * the answer. Goal: see paying-in.ts. Linux and strace.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { type ProcessScenario, scenario } from '../support/scenario.ts'
import { stripeSettings } from '../support/stripe-events.ts'
import { killAtCall } from '../torture/disk-faults.ts'
import { deeds, killAndRepeat, type Left } from './paying-in.ts'

/**
 * A commit writes more than ten pages, a head and a body for each, and syncs the log twice at most: when it
 * begins one, and behind its pages. A call that is not reached is a kill behind the answer.
 */
const points = [
  { moment: 'between two pages', call: 'pwrite64', count: 8 },
  { moment: 'at a sync', call: 'fsync', count: 2 },
  { moment: 'behind the syncs', call: 'fsync', count: 3 },
]

describe('a gateway on SQLite killed', { concurrency: 1 }, () => {
  let setup: ProcessScenario
  let gateway: GatewayProcess
  const left: Left[] = []
  before(async () => {
    setup = await scenario({ process: 'own', settings: stripeSettings })
    gateway = await setup.start()
  })
  after(() => setup.close())

  for (const [name, prepare] of Object.entries(deeds))
    // Behind the syncs nothing is left to go wrong in one deed and not in another.
    for (const { moment, call, count } of name === 'redeems a code' ? points : points.slice(0, 2))
      it(`while it ${name}, ${moment}: the next one has it once`, async () => {
        const victim = gateway
        const deed = await prepare(setup, victim.url)
        await killAtCall(victim, call, count)
        const plan = {
          at: victim.url,
          async kill(first: Promise<unknown>) {
            if ((await first) !== undefined) victim.signal('SIGKILL')
            assert.equal(await victim.ended, 'SIGKILL')
          },
          async living() {
            gateway = await setup.start()
            return [gateway.url]
          },
        }
        left.push(await killAndRepeat(setup, deed, plan))
      })

  it('some of the kills left nothing, and some all of it', () => {
    assert.deepEqual(new Set(left), new Set<Left>(['nothing', 'all']))
  })
})
