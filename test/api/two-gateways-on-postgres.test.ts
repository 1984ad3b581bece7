/** Two gateways on one PostgreSQL store: a change by the API of one acts on the other within a second. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { allEndpoints } from '../../src/operations/all-endpoints.ts'
import { eventually } from '../support/eventually.ts'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { post, type WireAnswer } from '../support/http-client.ts'
import { createAdminToken } from '../support/operations.ts'
import { messagesRequest } from '../support/requests.ts'
import { scenario, type ProcessScenario } from '../support/scenario.ts'
import { useStoresOnPostgres } from '../support/test-store.ts'
import { callRow } from './world.ts'

await useStoresOnPostgres()

let cluster: ProcessScenario
let one: GatewayProcess
let two: GatewayProcess
let headers: Record<string, string>

async function change(id: string, input: Record<string, unknown>) {
  const row = allEndpoints.find((each) => each.id === id)
  assert.ok(row !== undefined)
  const answer = await callRow(one.adminUrl, row, input, headers)
  assert.ok(answer.status < 300, `${id}: ${answer.body.toString()}`)
  return JSON.parse(answer.body.toString()) as Record<string, unknown>
}

/** Asks the other gateway until it answers with this status. */
async function assertOtherAnswers(secret: string, status: number): Promise<void> {
  const ask = (): Promise<WireAnswer> =>
    post(`${two.url}/alpha/v1/messages`, secret, messagesRequest())
  await eventually(`status ${status}`, ask, (answer) => answer.status === status)
}

describe('two gateways', () => {
  before(async () => {
    cluster = await scenario({ process: 'own' })
    one = await cluster.start({ node_name: 'one' })
    two = await cluster.start({ node_name: 'two' })
    const { secret } = await createAdminToken(cluster.context, { name: 'test' })
    headers = { authorization: `Bearer ${secret}` }
  })

  after(() => cluster.close())

  test('keys, accounts and limits that change on one gateway act on the other', async () => {
    const account = cluster.account.name
    const { key, secret } = (await change('keys.create', { account })) as {
      key: { id: string }
      secret: string
    }
    await assertOtherAnswers(secret, 200)
    await change('accounts.change', { account, status: 'suspended' })
    await assertOtherAnswers(secret, 403)
    await change('accounts.change', { account, status: 'active' })
    await assertOtherAnswers(secret, 200)
    await change('accounts.change', { account, rpm: 1 })
    await assertOtherAnswers(secret, 429)
    await change('accounts.change', { account, rpm: 0 })
    await assertOtherAnswers(secret, 200)
    await change('keys.revoke', { id: key.id })
    await assertOtherAnswers(secret, 401)
  })
})
