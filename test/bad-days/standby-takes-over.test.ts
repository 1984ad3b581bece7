/**
 * The primary of two PostgreSQL servers dies, its synchronous standby takes over, and later the former
 * primary comes back alone and takes writes. Goal: every acknowledged charge is there once, what ran is
 * settled once, gateways go on without a restart, and no gateway writes to the former primary, not even one
 * that starts now and finds it first in its URL. (Under load: test/torture/standby.long.test.ts.)
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { assertOwnError, hasEnd } from '../support/answers.ts'
import { eventually } from '../support/eventually.ts'
import { send } from '../support/http-client.ts'
import { assertClean, chargesOf } from '../support/money.ts'
import { startPair, type Pair } from '../support/postgres-pair.ts'
import { openAsk, sendAsk, type Ask } from '../support/requests.ts'
import { scenario, type LogLine, type Scenario } from '../support/scenario.ts'

const ask: Ask = { format: 'messages', isStream: true }
const lines: LogLine[] = []
let pair: Pair
let gateway: Scenario
before(async () => {
  pair = await startPair()
  gateway = await scenario({
    storeUrl: pair.storeUrl,
    onLogLine: (line) => lines.push(line),
  })
})
after(async () => {
  await gateway.close()
  await pair.close()
})

const charges = () => chargesOf(gateway.context.database, gateway.account.id)

async function untilServed({ url }: Scenario): Promise<void> {
  const askOnce = () => sendAsk(url, gateway.account.key, ask)
  await eventually('an answer with its end', askOnce, (answer) => hasEnd(answer, ask))
}

test('a standby takes over: all that was acknowledged is there, what runs is settled once, and requests go on', async () => {
  const ended = await Promise.all(Array.from({ length: 4 }, () => gateway.ask(ask)))
  assert.ok(ended.every((answer) => hasEnd(answer, ask)))
  const acknowledged = await charges()
  assert.equal(acknowledged.size, 4)
  const held = { ...ask, sandbox: 'hold=failover@mid' }
  const running = openAsk(gateway.url, gateway.account.key, held)
  await gateway.sandbox.faults.reached('failover')

  await pair.primary.stop('immediate')
  const health = () => send(`${gateway.url}/health`)
  await eventually('health 503', health, ({ status }) => status === 503)
  const refused = await gateway.ask({ format: 'chat', isStream: false })
  assertOwnError(refused, 'chat', 503, 'no store')
  assert.match(refused.headers['retry-after'] ?? '', /^\d+$/)

  await pair.standby.run('SELECT pg_promote()')
  await untilServed(gateway)
  await eventually('health 200', health, ({ status }) => status === 200)
  gateway.sandbox.faults.release('failover')
  assert.ok((await running.ended).text.includes('message_stop'))
  const now = await charges()
  for (const [exchange, picos] of acknowledged) assert.equal(now.get(exchange), picos)
  assert.equal(now.size, 4 + 1 + 1)
  await assertClean(gateway)
  const outages = lines.filter(({ msg, code }) => msg === 'fault' && code === 'ledger.unavailable')
  assert.ok(outages.length > 0)
  for (const { reason } of outages) assert.match(String(reason), /PostgreSQL.*127\.0\.0\.1:\d+/)
  const recovered = () => lines.filter(({ msg }) => msg === 'ledger recovered').length
  await eventually('the log says that it is over', health, () => recovered() === 1)
})

test('a former primary that comes back and takes writes gets none', async (context) => {
  const { primary, standby: promoted } = pair
  await primary.start()
  await primary.run(`ALTER SYSTEM RESET synchronous_standby_names`)
  await primary.run('SELECT pg_reload_conf()')
  const written = () =>
    primary.run('SELECT (SELECT count(*) FROM entry), (SELECT count(*) FROM hold)', 'turnpike_1')
  const former = await written()
  assert.equal(await primary.run('SELECT pg_is_in_recovery()'), 'f', 'it takes writes')

  await promoted.terminateBackends()
  await untilServed(gateway)
  // The URL names the former primary first.
  const another = await scenario({
    storeUrl: pair.storeUrl,
    fill: () => Promise.resolve(gateway.account),
  })
  context.after(() => another.close())
  assert.ok(hasEnd(await another.ask(ask), ask))

  const from = lines.length
  await promoted.stop('immediate')
  const refused = () => gateway.ask({ format: 'messages', isStream: false })
  const isRefused = ({ status }: { readonly status: number }): boolean => status === 503
  await eventually('a refused request', refused, isRefused)
  const isNamed = ({ reason }: LogLine): boolean => /former primary/.test(String(reason))
  await eventually('a line names it', refused, () => lines.slice(from).some(isNamed))
  assert.equal(await written(), former)
  await promoted.start()
  await untilServed(gateway)
  await untilServed(another)
  assert.equal(await written(), former)
  await assertClean(gateway)
})
