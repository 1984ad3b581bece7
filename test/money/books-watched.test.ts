/**
 * A running gateway audits its books by itself: soon after the start, then every interval. Damage
 * is done behind its back, the clock is moved by hand, and each audit is waited for by its log line.
 */
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { createFirstAdminToken } from '../../src/operations/keys/first-admin-token.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { exchangesOf } from '../support/money.ts'
import { sendAsk } from '../support/requests.ts'
import { type LogLine, type Scenario, scenario } from '../support/scenario.ts'
import { post, send, usage } from '../support/http-client.ts'

const hourMs = 3_600_000
const clock = new ManualClock(Date.now())
let gateway: Scenario
let lines: LogLine[]
let look: () => void = () => undefined

async function start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
  lines = []
  gateway = await scenario({
    clock,
    settings,
    account: { balance_usd: '10' },
    onLogLine(line) {
      lines.push(line)
      look()
    },
  })
}
afterEach(() => gateway.close())

/** The next line with this message, from the `count`-th on. */
function logged(message: string, count = 1): Promise<LogLine> {
  return new Promise((resolve) => {
    look = () => {
      const line = lines.filter(({ msg }) => msg === message)[count - 1]
      if (line !== undefined) resolve(line)
    }
    look()
  })
}

/** Moves the clock until the next audit has ended: a round that is not over yet skips the one that is due. */
async function auditedAgain(message: string, count = 1): Promise<LogLine> {
  for (let hour = 0; hour < 2_000; hour++) {
    const line = lines.filter(({ msg }) => msg === message)[count - 1]
    if (line !== undefined) return line
    clock.advance(1.1 * hourMs)
    await metric('turnpike_audits_total')
  }
  assert.fail(`no audit logged: ${message}`)
}

async function metric(name: string): Promise<number> {
  const headers = { authorization: `Bearer ${adminToken ?? ''}` }
  const answer = await send(`${gateway.adminUrl}/metrics`, { headers })
  const line = new RegExp(`^${name.replace(/[{}"]/g, '\\$&')} (\\S+)$`, 'm')
  return Number(line.exec(answer.body.toString())?.[1] ?? Number.NaN)
}
let adminToken: string | undefined

test('audits after the start and every hour, and raises an alarm that stays until the ledger is repaired', async () => {
  await start()
  adminToken = (await createFirstAdminToken(gateway.context))?.secret
  const { account } = gateway
  assert.equal(await metric('turnpike_audit_time_seconds'), 0)

  clock.advance(20_000)
  await logged('ledger audit passed')
  assert.equal(await metric('turnpike_audits_total{result="clean"}'), 1)
  assert.equal(await metric('turnpike_audit_time_seconds'), clock.now() / 1_000)

  await setBalance(9_999_999_999_999n)
  const difference = await auditedAgain('ledger audit failed')
  assert.equal(difference['invariant'], 'I1')
  assert.equal(difference['row'], `account ${account.id}`)
  assert.match(String(difference['message']), /stored 9\.999999999999 USD, derived 10 USD/)
  assert.equal((await logged('operator needed'))['kind'], 'audit')
  assert.equal(await metric('turnpike_audit_differences'), 1)
  assert.equal(await metric('turnpike_alarms_total{kind="audit"}'), 1)

  await setBalance(10_000_000_000_000n)
  await auditedAgain('ledger audit passed', 2)
  assert.equal(await metric('turnpike_audit_differences'), 0)
})

test('reports an audit that could not run', async () => {
  await start()
  adminToken = (await createFirstAdminToken(gateway.context))?.secret
  await gateway.context.database.transact((transaction) =>
    transaction.script('DROP TABLE exchange_cut'),
  )
  clock.advance(20_000)
  assert.equal((await logged('fault'))['where'], 'audit')
  assert.equal(await metric('turnpike_audits_total{result="failed"}'), 1)
})

test('removes exchanges older than the setting, and the audit still passes', async () => {
  await start({ request_retention: '2d' })
  const { account } = gateway
  const ask = { format: 'messages', isStream: false } as const
  assert.equal((await sendAsk(gateway.url, account.key, ask)).status, 200)
  const beforehand = await usage(gateway.url, account.token, 'total')
  clock.jumpWallTime(4 * 24 * hourMs)
  assert.equal((await sendAsk(gateway.url, account.key, ask)).status, 200)
  clock.advance(20_000)
  const line = await logged('old exchanges removed')
  assert.equal(line['removed'], 1)
  assert.equal((await exchangesOf(gateway.context.database)).length, 1)
  const audit = await gateway.audit()
  assert.deepEqual([audit.clean, audit.counts.entries, audit.counts.exchanges], [true, 3, 1])
  assert.equal(audit.exchanges_from?.slice(0, 10), line['keptFrom'])
  const afterwards = await usage(gateway.url, account.token, 'total')
  const requests = (figures: Record<string, unknown>): number =>
    (figures['usage'] as { requests: number }).requests
  assert.deepEqual([requests(beforehand), requests(afterwards)], [1, 2])
})

test('removes what the gateway knows of answers that the vendor keeps no longer', async () => {
  await start()
  const respond = async (): Promise<string> => {
    const body = { model: 'chat-1', input: 'x', max_output_tokens: 16 }
    const answer = await post(`${gateway.url}/beta/v1/responses`, gateway.account.key, body)
    return (JSON.parse(answer.text) as { id: string }).id
  }
  const show = async (id: string): Promise<number> => {
    const headers = { authorization: `Bearer ${gateway.account.key}` }
    return (await send(`${gateway.url}/beta/v1/responses/${id}`, { headers })).status
  }
  const old = await respond()
  clock.jumpWallTime(30 * 24 * hourMs - 1)
  assert.equal(await show(old), 200)
  const young = await respond()
  clock.jumpWallTime(1)
  assert.equal(await show(old), 404)
  clock.advance(20_000)
  await logged('ledger audit passed')
  const rows = await gateway.context.database.query(
    "SELECT id FROM answer_state WHERE kind = 'response'",
  )
  assert.deepEqual(
    rows.map((row) => row['id']),
    [young],
  )
})

async function setBalance(balancePicos: bigint): Promise<void> {
  await gateway.context.database.query('UPDATE account SET balance_picos = $1', [balancePicos])
}
