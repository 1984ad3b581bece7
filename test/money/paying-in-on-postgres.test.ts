/**
 * kill -9 of one of two gateways on one PostgreSQL while money comes in: as a statement leaves it, has
 * arrived, or is answered. Goal: see paying-in.ts; the other gateway has it once, and the restarted one too.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type FaultProxy, type Moment, startFaultProxy } from '../support/fault-proxy.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { type ProcessScenario, scenario } from '../support/scenario.ts'
import { stripeSettings } from '../support/stripe-events.ts'
import { deeds, killAndRepeat } from './paying-in.ts'

/** Each deed ends with it, and no other work of an idle gateway has it. */
const logged = 'INSERT INTO operator_action'
const points: readonly (readonly [pattern: string, moment: Moment])[] = [
  ['COMMIT', 'before'],
  ['COMMIT', 'after'],
  [logged, 'answered'],
  ['COMMIT', 'answered'],
]

describe('one of two gateways on PostgreSQL killed', { concurrency: 1 }, () => {
  let server: PostgresServer
  let proxy: FaultProxy
  let setup: ProcessScenario
  let victim: GatewayProcess
  let peer: GatewayProcess
  const startVictim = (): Promise<GatewayProcess> => {
    const store = new URL(setup.storeUrl)
    store.port = String(proxy.port)
    return setup.start({ store: store.href })
  }
  before(async () => {
    server = await startPostgres()
    proxy = await startFaultProxy(server)
    const storeUrl = await server.createDatabase()
    setup = await scenario({ process: 'own', storeUrl, settings: stripeSettings })
    peer = await setup.start()
    victim = await startVictim()
  })
  after(async () => {
    await setup.close()
    await proxy.close()
    await server.close()
  })

  for (const [name, prepare] of Object.entries(deeds))
    describe(`while it ${name}`, { concurrency: 1 }, () => {
      // Where nothing is certain yet, one deed stands for all.
      for (const [pattern, moment] of name === 'redeems a code' ? points : points.slice(2))
        it(`at ${pattern}, ${moment}: both have it once`, async () => {
          const deed = await prepare(setup, peer.url)
          const dying = victim
          const behind = pattern === logged ? {} : { behind: logged }
          const cut = proxy.cutNext({ direction: 'to_server', pattern, moment, ...behind })
          const kill = async (): Promise<void> => {
            await cut
            dying.signal('SIGKILL')
            assert.equal(await dying.ended, 'SIGKILL')
          }
          const living = async (): Promise<readonly string[]> => {
            // The first of them meets a transaction whose client has just died.
            const again = await deed.act(peer.url)
            assert.equal(again.status, 200, again.text)
            victim = await startVictim()
            return [peer.url, victim.url]
          }
          const found = await killAndRepeat(setup, deed, { at: dying.url, kill, living })
          if (moment === 'answered' || moment === 'before')
            assert.equal(found, pattern === 'COMMIT' && moment === 'answered' ? 'all' : 'nothing')
        })
    })
})
