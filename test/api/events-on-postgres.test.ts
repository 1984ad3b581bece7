/** The live feed on PostgreSQL: the same tests, and two gateways on one store; each tells of both. */
import { after, before, describe, test } from 'node:test'
import { watchLists } from '../../src/operations/events/lists.ts'
import { eventually } from '../support/eventually.ts'
import { openEvents, saysChanged, type EventConnection } from '../support/event-reader.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { post } from '../support/http-client.ts'
import { createAdminToken } from '../support/operations.ts'
import { messagesRequest } from '../support/requests.ts'
import { scenario, type ProcessScenario } from '../support/scenario.ts'
import { useStoresOnPostgres } from '../support/test-store.ts'

await useStoresOnPostgres()
await import('./events.test.ts')

describe('two gateways', () => {
  let cluster: ProcessScenario
  let one: GatewayProcess
  let two: GatewayProcess
  let feeds: EventConnection[]

  before(async () => {
    cluster = await scenario({ process: 'own' })
    one = await cluster.start({ node_name: 'one' })
    two = await cluster.start({ node_name: 'two' })
    const { secret } = await createAdminToken(cluster.context, { name: 'test' })
    const headers = { authorization: `Bearer ${secret}` }
    feeds = []
    for (const { adminUrl } of [one, two])
      feeds.push(await openEvents(`${adminUrl}/admin/v1/events`, headers))
  })
  after(async () => {
    for (const feed of feeds) feed.close()
    await cluster.close()
  })

  test('each tells what the other has served and refused', async () => {
    const { url } = one
    const refused = { model: 'no-such-model', max_tokens: 1, messages: [] }
    for (const body of [messagesRequest(), refused]) {
      const findChanged = await watchLists(cluster.context.database)
      await post(`${url}/alpha/v1/messages`, cluster.account.key, body)
      await eventually('its record', findChanged, (lists) => lists.includes('requests'))
    }
    for (const feed of feeds) await feed.next(saysChanged('requests'))
  })

  test('each tells what a command has changed', async () => {
    await createAdminToken(cluster.context, { name: 'another' })
    for (const feed of feeds) await feed.next(saysChanged('keys'))
  })
})
