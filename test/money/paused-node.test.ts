/**
 * Two gateways on one PostgreSQL, and one of them is paused for longer than its lease while it serves.
 * The other one admits the same money again. Goal: the money pays once. What the paused one can no longer
 * charge has no end, and no balance passes zero.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { hasTerminalEvent } from '../support/answers.ts'
import { eventually } from '../support/eventually.ts'
import { assertClean, exchangesOf } from '../support/money.ts'
import { showRequest } from '../support/operations.ts'
import { openAsk, sendAsk, type Ask } from '../support/requests.ts'
import { scenario, type ProcessScenario } from '../support/scenario.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'

const funds = 10
/** Each request holds about 0.0079 USD, at most as much as its bytes allow, and costs 0.0075 USD. */
const account = { balance_usd: '0.0800', holds: 'most' as const }
const full = 'input=2000; output=3; output_tokens=100'
const settings = { node_lease: '2s' }

let server: PostgresServer
let setup: ProcessScenario
before(async () => {
  server = await startPostgres()
  const storeUrl = await server.createDatabase()
  setup = await scenario({ process: 'own', storeUrl, account })
})
after(async () => {
  await setup.close()
  await server.close()
})

async function countOf(table: 'hold' | 'expired_hold'): Promise<number> {
  const [row] = await setup.context.database.query(`SELECT COUNT(*) AS count FROM ${table}`)
  return Number(row?.['count'])
}

test('a gateway that was paused completes no answer whose money another one has spent', async () => {
  const paused = await setup.start(settings)
  const other = await setup.start(settings)
  const { key, id } = setup.account
  const ask: Ask = { format: 'messages', isStream: true, maxTokens: 100, sandbox: full }
  const slow = { ...ask, sandbox: `${full}; hold=gate@first_event` }
  const clients = Array.from({ length: funds }, () => openAsk(paused.url, key, slow))
  for (const client of clients) await client.until((text) => text !== '')
  assert.equal(await countOf('hold'), funds)
  assert.equal((await sendAsk(paused.url, key, ask)).status, 402, 'there is money for ten')

  paused.signal('SIGSTOP')
  await eventually(
    'the holds are freed',
    () => countOf('expired_hold'),
    (count) => count === funds,
  )
  for (let index = 0; index < funds; index++) {
    const { body } = await sendAsk(other.url, key, ask)
    assert.ok(hasTerminalEvent(body.toString(), ask.format), body.toString())
  }
  paused.signal('SIGCONT')
  setup.sandbox.faults.release('gate')
  for (const { ended } of clients) {
    const { text, isComplete } = await ended
    assert.ok(!isComplete && !hasTerminalEvent(text, ask.format), text)
  }

  const exchanges = await exchangesOf(setup.context.database, id)
  const charged = exchanges.filter(({ amountPicos }) => amountPicos > 0n)
  assert.equal(charged.length, funds)
  const withheld = exchanges.filter(({ marks }) => marks.includes('hold_expired'))
  assert.equal(withheld.length, funds)
  for (const { amountPicos, operatorCostPicos, ending } of withheld) {
    assert.deepEqual({ amountPicos, ending }, { amountPicos: 0n, ending: 'failed' })
    assert.equal(operatorCostPicos, charged[0]?.amountPicos)
  }
  for (const { exchangeId } of withheld) {
    const shown = await showRequest(setup.context, { request: exchangeId })
    assert.deepEqual([shown.outcome, shown.code], ['failed', 'ledger.unavailable'])
  }
  const [row] = await setup.context.database.query('SELECT balance_picos FROM account')
  assert.ok(BigInt(String(row?.['balance_picos'])) >= 0n)
  await assertClean(setup)
})
