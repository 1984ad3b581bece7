/** The live feed on PostgreSQL: the same tests, and two gateways on one store, each of which shows both. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { openEvents, type EventConnection } from '../support/event-reader.ts'
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
  let headers: Record<string, string>

  before(async () => {
    cluster = await scenario({ process: 'own' })
    one = await cluster.start({ node_name: 'one' })
    two = await cluster.start({ node_name: 'two' })
    const { secret } = await createAdminToken(cluster.context, { name: 'test' })
    headers = { authorization: `Bearer ${secret}` }
    feeds = []
    for (const { adminUrl } of [one, two])
      feeds.push(await openEvents(`${adminUrl}/admin/v1/events`, headers))
  })
  after(async () => {
    for (const feed of feeds) feed.close()
    await cluster.close()
  })

  async function ask({ url }: GatewayProcess, body: string | object): Promise<string> {
    const answer = await post(`${url}/alpha/v1/messages`, cluster.account.key, body)
    return String(answer.headers['x-turnpike-request-id'])
  }

  test('each shows what the other has served and refused, once', async () => {
    const ids: string[] = []
    for (let count = 0; count < 10; count++)
      for (const node of [one, two]) ids.push(await ask(node, messagesRequest()))
    ids.push(await ask(one, { model: 'no-such-model', max_tokens: 1, messages: [] }))
    for (const feed of feeds) for (const id of ids) await feed.next(({ data }) => data['id'] === id)
    for (const feed of feeds)
      for (const id of ids)
        assert.equal(feed.events.filter(({ data }) => data['id'] === id).length, 1)
  })

  test('a reader goes on at the other gateway', async () => {
    const [first] = feeds
    first?.close()
    const missed = [await ask(one, messagesRequest()), await ask(two, messagesRequest())]
    const feed = await openEvents(`${two.adminUrl}/admin/v1/events`, {
      ...headers,
      'last-event-id': first?.lastId ?? '',
    })
    for (const id of missed) await feed.next(({ data }) => data['id'] === id)
    feed.close()
  })
})
