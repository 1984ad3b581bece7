/**
 * A primary with a synchronous standby, both real servers: the primary dies under load, the standby
 * takes over, and gateways find it by their store's URL. Goal: no acknowledged charge is
 * lost, and none is doubled; nothing is acknowledged that only the primary has.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { hasEnd } from '../support/answers.ts'
import { eventually } from '../support/eventually.ts'
import { assertClean, chargesOf } from '../support/money.ts'
import { type Ask, openAsk, sendAsk } from '../support/requests.ts'
import { type ProcessScenario, scenario } from '../support/scenario.ts'
import { failOver, startPair, type Pair } from '../support/postgres-pair.ts'
import { startNodes } from './nodes.ts'
import { report } from './report.ts'
import { torture, tortureFactor, tortureRandom } from './torture.ts'

describe('a primary with a synchronous standby', () => {
  it('dies under load, and no charge is lost or doubled', async (context) => {
    const random = tortureRandom()
    const pair = await startPair()
    const setup = await scenario({ process: 'own', storeUrl: pair.storeUrl })
    const settings = { node_lease: '2s' }
    const nodes = await startNodes({ setup, random, settings: [settings, settings] })
    try {
      const volume = await torture({
        setup,
        nodes,
        random,
        faults: [
          { name: 'primary killed, standby promoted', inject: () => failOver(pair) },
          { name: 'kill -9', inject: () => nodes.kill() },
        ],
        endsPerFault: 40 * tortureFactor,
        name: 'standby',
      })
      assert.equal(await pair.standby.run('SELECT pg_is_in_recovery()'), 'f')
      report(context, volume)
    } finally {
      await nodes.end()
      await setup.close()
      await pair.close()
    }
  })
})

/** How a session is got rid of that waits for the standby: the commit stands on the primary alone. */
const interruptions = { terminated: 'pg_terminate_backend', cancelled: 'pg_cancel_backend' }

for (const [name, call] of Object.entries(interruptions))
  describe(`a charge whose session is ${name} while the standby is out of reach`, () => {
    let pair: Pair
    let setup: ProcessScenario
    before(async () => {
      pair = await startPair()
      setup = await scenario({ process: 'own', storeUrl: pair.storeUrl })
    })
    after(async () => {
      await setup.close()
      await pair.close()
    })

    it('is not confirmed before the standby has it, and survives the primary', async () => {
      const gateway = await setup.start({ node_lease: '60s' })
      const account = await setup.createAccount()
      const ask: Ask = { format: 'messages', isStream: true, sandbox: 'output=3; hold=g@mid' }
      const client = openAsk(gateway.url, account.key, ask)
      await setup.sandbox.faults.reached('g')
      pair.replication.stall()
      setup.sandbox.faults.release('g')
      const isSettling = `query LIKE '%settle_%' AND wait_event = 'SyncRep'`
      const interrupt = `SELECT count(${call}(pid)) FROM pg_stat_activity WHERE ${isSettling}`
      const isSome = (count: string): boolean => count !== '0'
      await eventually('a charge waits', () => pair.primary.run(interrupt), isSome)
      // The gateway asks again, and again has to wait: a second session does, or the client has its end.
      const again = await Promise.race([
        client.ended.then(() => 'ended' as const),
        eventually(
          'the charge waits again, or is confirmed',
          () => pair.primary.run(`SELECT count(*) FROM pg_stat_activity WHERE ${isSettling}`),
          isSome,
        ).then(() => 'waits' as const),
      ])
      assert.equal(again, 'waits', 'the client has an end that only the primary knows to be paid')
      await failOver(pair)
      pair.replication.cut()
      const { text } = await client.ended
      const charges = await chargesOf(setup.context.database, account.id)
      assert.equal(text.includes('message_stop'), charges.size === 1)
      await assertClean(setup)
      // The gateway finds its new server by itself.
      const next: Ask = { format: 'chat', isStream: false }
      await eventually(
        'an answer with its end',
        () => sendAsk(gateway.url, account.key, next),
        (answer) => hasEnd(answer, next),
      )
    })
  })
