/**
 * Two gateways on one PostgreSQL are one: what is charged, limited, changed on one holds on the other
 * at once. Real sockets, a real server, the simulated vendors' own log as judge.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { bodyFormats, sendAsk } from '../support/requests.ts'
import { type Scenario, scenario } from '../support/scenario.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { usage } from '../support/http-client.ts'

describe('two gateways on one PostgreSQL', () => {
  let server: PostgresServer
  let one: Scenario
  let other: Scenario
  before(async () => {
    server = await startPostgres()
    const storeUrl = await server.createDatabase()
    one = await scenario({ storeUrl })
    other = await scenario({ storeUrl, catalogue: () => one.catalogueText })
  })
  after(async () => {
    await one.close()
    await other.close()
    await server.close()
  })

  it('charge every answer once, and both show the charge at once', async () => {
    const account = await one.createAccount()
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        sendAsk(index % 2 === 0 ? one.url : other.url, account.key, {
          format: bodyFormats[index % bodyFormats.length] ?? 'chat',
          isStream: index % 4 < 2,
        }),
      ),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    const shown = await Promise.all([one, other].map(({ url }) => usage(url, account.token)))
    assert.deepEqual(shown[0], shown[1])
    assert.match(JSON.stringify(shown[0]), /"requests":40,/)
    const audit = await one.audit()
    assert.deepEqual(audit.differences, [])
    assert.equal(audit.counts.charges, 40)
  })
})
