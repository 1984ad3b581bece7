/**
 * Gateways behind PgBouncer in transaction mode, where no session is anybody's own: money, changes
 * of keys and balances on every node, and the lease of a node that was killed all work.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { hasEnd } from '../support/answers.ts'
import { eventually } from '../support/eventually.ts'
import { assertClean, chargesOf } from '../support/money.ts'
import { type Ask, sendAsk } from '../support/requests.ts'
import { type ProcessScenario, scenario } from '../support/scenario.ts'
import { startPgBouncer, type PgBouncer } from '../support/pgbouncer.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { startNodes, type Nodes } from './nodes.ts'
import { report } from './report.ts'
import { torture, tortureRandom } from './torture.ts'
import { createClientKey, revokeKey } from '../support/operations.ts'

describe('behind PgBouncer in transaction mode', () => {
  let server: PostgresServer
  let pooler: PgBouncer
  let setup: ProcessScenario
  let nodes: Nodes
  const random = tortureRandom()
  before(async () => {
    server = await startPostgres()
    pooler = await startPgBouncer(server, 'transaction')
    const storeUrl = pooler.urlOf(await server.createDatabase())
    setup = await scenario({ process: 'own', storeUrl })
    const settings = { node_lease: '2s' }
    nodes = await startNodes({ setup, random, settings: [settings, settings] })
  })
  after(async () => {
    await nodes.end()
    await setup.close()
    await pooler.close()
    await server.close()
  })

  it('two nodes are charged exactly, one of them killed', async (context) => {
    const faults = [{ name: 'kill -9', inject: () => nodes.kill() }]
    const volume = await torture({
      setup,
      nodes,
      random,
      faults,
      endsPerFault: 40,
      name: 'pgbouncer',
    })
    report(context, volume)
  })

  it('a key that is revoked is refused on every node', async () => {
    const account = await setup.createAccount()
    const key = await createClientKey(setup.context, { account: account.name, name: 'lost' })
    const ask: Ask = { format: 'chat', isStream: false }
    assert.ok(hasEnd(await sendAsk(await nodes.findUrl(), key.secret, ask), ask))
    assert.equal((await chargesOf(setup.context.database, account.id)).size, 1)
    await revokeKey(setup.context, { kind: 'client', id: key.key.id })
    // No notification passes a pooler, so the nodes look by themselves.
    for (const url of nodes.urls())
      await eventually(
        'the key is refused',
        () => sendAsk(url, key.secret, ask),
        ({ status }) => status === 401,
      )
    await assertClean(setup)
  })
})
