/**
 * A PostgreSQL that goes away and comes back under a running gateway: every client gets an
 * error that says so, none gets a fault of the gateway, and it goes on by itself.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { bodyFormats, type BodyFormat, sendAsk } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario, type LogLine, type Scenario } from '../support/scenario.ts'
import { send } from '../support/http-client.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'

let server: PostgresServer
let gateway: Scenario
let account: TestAccount
before(async () => {
  server = await startPostgres()
  gateway = await scenario({ storeUrl: await server.createDatabase(), onLogLine })
  account = await gateway.createAccount()
})
after(async () => {
  await gateway.close()
  await server.close()
})

const lines: LogLine[] = []
let onNews: () => void = () => undefined
function onLogLine(line: LogLine): void {
  lines.push(line)
  onNews()
}

/** Resolves with the first line of this message from the given place in the log on. */
function logged(message: string, from = 0): Promise<LogLine> {
  return new Promise((resolve) => {
    onNews = () => {
      const line = lines.slice(from).find(({ msg }) => msg === message)
      if (line !== undefined) resolve(line)
    }
    onNews()
  })
}

/** Every line of an outage says why, and of which server. */
function assertExplained(since: readonly LogLine[]): void {
  const faults = since.filter(({ msg }) => msg === 'fault')
  const outages = faults.filter((line) => line['code'] === 'ledger.unavailable')
  assert.ok(outages.length > 0)
  for (const { reason } of outages) assert.match(String(reason), /127\.0\.0\.1:\d+/)
  assert.ok(since.filter(({ msg }) => msg === 'ledger recovered').length >= 1)
}

async function ask(key: string, format: BodyFormat): Promise<number> {
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
  for (const format of bodyFormats) {
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
  await logged('ledger recovered')
  assertExplained(lines)
})

test('an outage and its end are in the log of a gateway without requests, with reason and host', async () => {
  const from = lines.length
  await server.stop('immediate')
  const { level, code, reason } = await logged('fault', from)
  assert.deepEqual([level, code], ['error', 'ledger.unavailable'])
  assert.match(String(reason), /PostgreSQL.*127\.0\.0\.1:\d+/)
  await server.start()
  await logged('ledger recovered', from)
  assertExplained(lines.slice(from))
})
