/**
 * A running gateway audits its books by itself: soon after the start, then every interval. Damage
 * is done behind its back, the clock is moved by hand, and each audit is waited for by its log line.
 */
import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { afterEach, test } from 'node:test'
import { pino } from 'pino'
import { createFirstAdminToken } from '../../src/operations/keys.ts'
import { startGateway, type Gateway } from '../support/gateway.ts'
import { send, usage } from '../support/http-client.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { exchangesOf, sendAsk } from './harness.ts'

type LogLine = Readonly<Record<string, unknown>> & { readonly msg: string }

const hourMs = 3_600_000
const clock = new ManualClock(Date.now())
let gateway: Gateway
let lines: LogLine[]
let look: () => void = () => undefined

async function start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
  lines = []
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.push(JSON.parse(chunk.toString()) as LogLine)
      look()
      done()
    },
  })
  const log = pino({ level: 'debug' }, destination)
  gateway = await startGateway({ clock, log, settings })
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

async function metric(name: string): Promise<number> {
  const headers = { authorization: `Bearer ${adminToken ?? ''}` }
  const answer = await send(`${gateway.adminUrl}/metrics`, { headers })
  const line = new RegExp(`^${name.replace(/[{}"]/g, '\\$&')} (\\S+)$`, 'm')
  return Number(line.exec(answer.body.toString())?.[1] ?? Number.NaN)
}
let adminToken: string | undefined

test('audits after the start and every hour, and raises an alarm that stands until it is mended', async () => {
  await start()
  adminToken = (await createFirstAdminToken(gateway.context))?.secret
  const account = await gateway.createAccount()
  assert.equal(await metric('turnpike_audit_time_seconds'), 0)

  clock.advance(20_000)
  await logged('books audited')
  assert.equal(await metric('turnpike_audits_total{result="clean"}'), 1)
  assert.equal(await metric('turnpike_audit_time_seconds'), clock.now() / 1_000)

  await setBalance(9_999_999_999_999n)
  clock.advance(1.1 * hourMs)
  const difference = await logged('the books contradict themselves')
  assert.equal(difference['invariant'], 'I1')
  assert.equal(difference['row'], `account ${account.id}`)
  assert.match(String(difference['message']), /stored 9\.999999999999 USD, derived 10 USD/)
  assert.equal((await logged('operator needed'))['kind'], 'audit')
  assert.equal(await metric('turnpike_audit_differences'), 1)
  assert.equal(await metric('turnpike_alarms_total{kind="audit"}'), 1)

  await setBalance(10_000_000_000_000n)
  clock.advance(1.1 * hourMs)
  await logged('books audited', 2)
  assert.equal(await metric('turnpike_audit_differences'), 0)
})

test('tells an audit that could not be made', async () => {
  await start()
  adminToken = (await createFirstAdminToken(gateway.context))?.secret
  await gateway.context.database.transact((transaction) =>
    transaction.script('DROP TABLE exchange_cut'),
  )
  clock.advance(20_000)
  assert.equal((await logged('fault'))['where'], 'audit')
  assert.equal(await metric('turnpike_audits_total{result="failed"}'), 1)
})

test('lets exchanges go that are older than the setting says, and the books still close', async () => {
  await start({ exchange_retention: '2d' })
  const account = await gateway.createAccount()
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

async function setBalance(balancePicos: bigint): Promise<void> {
  await gateway.context.database.query('UPDATE account SET balance_picos = $1', [balancePicos])
}
