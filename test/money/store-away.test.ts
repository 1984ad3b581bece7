/**
 * A PostgreSQL that goes away and comes back under a running gateway: every client gets an
 * error that says so, none gets a fault of the gateway, and it goes on by itself.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { sendAsk } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { send } from '../support/http-client.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'

let server: PostgresServer
let gateway: Scenario
let account: TestAccount
before(async () => {
  server = await startPostgres()
  gateway = await scenario({ storeUrl: await server.createDatabase() })
  account = await gateway.createAccount()
})
after(async () => {
  await gateway.close()
  await server.close()
})

async function ask(key: string, format: 'messages' | 'chat'): Promise<number> {
  return (await sendAsk(gateway.url, key, { format, isStream: false })).status
}

async function askUsage(): Promise<{ readonly status: number; readonly text: string }> {
  const answer = await send(`${gateway.url}/v1/usage`, {
    headers: { authorization: `Bearer ${account.token}` },
  })
  return { status: answer.status, text: answer.body.toString() }
}

test('a store outage is a 503 for cached and unknown keys, for figures and for health', async () => {
  assert.equal(await ask(account.key, 'messages'), 200)
  await server.stop('immediate')
  for (const format of ['messages', 'chat'] as const) {
    // Known keys are remembered, and a secret of another form is refused without the store.
    assert.equal(await ask(account.key, format), 503)
    assert.equal(await ask('cr_mistyped', format), 401)
  }
  // This one must be looked up, which can be done neither way.
  const stranger = await send(`${gateway.url}/alpha/v1/models`, {
    headers: { authorization: `Bearer ${account.token}` },
  })
  assert.equal(stranger.status, 503)
  const figures = await askUsage()
  assert.equal(figures.status, 503)
  assert.match(figures.text, /"type":"ledger\.unavailable"/)
  assert.equal((await send(`${gateway.url}/health`)).status, 503)

  await server.start()
  while ((await ask(account.key, 'chat')) !== 200);
  // Figures are read over connections of their own, which come back in their own time.
  while ((await askUsage()).status !== 200);
  assert.match((await askUsage()).text, /"requests":2,/)
  assert.equal((await send(`${gateway.url}/health`)).status, 200)
  assert.equal((await gateway.audit()).clean, true)
})
