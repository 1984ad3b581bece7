/**
 * The clock of the machine is set forwards and back by hours, and two gateways of one store have clocks
 * that are apart. Goal: waits and limits per minute keep to the time that really passes, days and months
 * follow the clock and count nothing twice, keys expire and come back with it, sealed hours stay intact, and
 * no money is lost or doubled.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hourMs, systemClock, type Clock } from '../../src/base/clock.ts'
import { sealHours } from '../../src/ledger/proof/sealing.ts'
import { assertOwnError, hasEnd } from '../support/answers.ts'
import { usage } from '../support/http-client.ts'
import { advanceUntil, ManualClock } from '../support/manual-clock.ts'
import { assertClean, chargesOf } from '../support/money.ts'
import { createClientKey } from '../support/operations.ts'
import { startPostgres } from '../support/postgres.ts'
import { openAsk, places, sendAsk, type Ask } from '../support/requests.ts'
import { failoverDefaults, scenario, withScenario, type Scenario } from '../support/scenario.ts'

const ask: Ask = { format: 'messages', isStream: false }
/** From noon into the next day, into the day before, and from there back. */
const jumpsHours = [14, -30, 16] as const

test('running answers, charges and sealed hours survive jumps in both directions', async () => {
  const clock = new ManualClock()
  await withScenario({ clock }, async (gateway) => {
    const { database, masterKey } = gateway.context
    const seal = (): Promise<unknown> =>
      sealHours(database, {
        nowMs: clock.now(),
        masterKey: masterKey(),
        pause: () => Promise.resolve(),
      })
    let ends = 0
    for (const [index, hours] of jumpsHours.entries()) {
      const gate = `jump-${index}`
      const held = { ...ask, isStream: true, sandbox: `hold=${gate}@mid` }
      const running = openAsk(gateway.url, gateway.account.key, held)
      await gateway.sandbox.faults.reached(gate)
      clock.jumpWallTime(hours * hourMs)
      clock.advance(2_000)
      assert.ok(hasEnd(await gateway.ask(ask), ask))
      gateway.sandbox.faults.release(gate)
      assert.ok((await running.ended).text.includes('message_stop'))
      ends += 2
      await seal()
      await assertClean(gateway)
    }
    const charges = await chargesOf(database, gateway.account.id)
    assert.equal(charges.size, ends)
    // All is sealed once the clock has passed every hour in which something was booked.
    clock.jumpWallTime(48 * hourMs)
    await seal()
    const [row] = await database.query(
      'SELECT count(*) AS left FROM entry WHERE NOT EXISTS (SELECT 1 FROM sealed_entry s WHERE s.sequence = entry.sequence)',
    )
    assert.equal(Number(row?.['left']), 0)
  })
})

test('a daily limit follows the calendar of the clock, and a jump back forgets nothing', async () => {
  const clock = new ManualClock()
  await withScenario({ clock }, async (gateway) => {
    const account = await gateway.createAccount({ balance_usd: '100', daily_usd: '0.005' })
    const askOnce = () => sendAsk(gateway.url, account.key, ask)
    await advanceUntil(clock, 200_000, async () => (await askOnce()).status === 429)
    clock.jumpWallTime(24 * hourMs)
    assert.ok(hasEnd(await askOnce(), ask), 'the next day is new')
    clock.jumpWallTime(-24 * hourMs)
    const refused = await askOnce()
    assertOwnError(refused, 'messages', 429, 'the day before is still used up')
    assert.equal(refused.headers['x-should-retry'], 'false')
    const day = await usage(gateway.url, account.token)
    assert.ok((day['usage'] as { cost_usd: number }).cost_usd <= 0.005)
  })
})

test('limits per minute and the way back of a channel keep to the time that passes', async () => {
  const clock = new ManualClock()
  await withScenario({ clock, ...failoverDefaults, channels: {} }, async (gateway) => {
    const { main, model } = places.messages
    const account = await gateway.createAccount({ balance_usd: '100', rpm: 1 })
    const askOnce = () => sendAsk(gateway.url, account.key, ask)
    for (const hours of jumpsHours) {
      assert.ok(hasEnd(await askOnce(), ask))
      clock.jumpWallTime(hours * hourMs)
      const refused = await askOnce()
      assertOwnError(refused, 'messages', 429, `${hours} hours`)
      assert.ok(Number(refused.headers['retry-after']) <= 60)
      clock.advance(60_000)
    }
    gateway.sandbox.faults.set(main, 'error=401')
    assert.ok(hasEnd(await gateway.ask(ask), ask))
    assert.equal(gateway.grade(main, model), 'off')
    gateway.sandbox.faults.clear()
    clock.jumpWallTime(-10 * hourMs)
    await advanceUntil(clock, 900_000, async () => {
      await gateway.health()
      return gateway.grade(main, model) === 'on'
    })
  })
})

test('a key expires with the clock, and is valid again where the clock is set back', async () => {
  const clock = new ManualClock()
  await withScenario({ clock }, async (gateway) => {
    const expires = new Date(clock.now() + 2 * hourMs).toISOString()
    const input = { account: gateway.account.id, expires }
    const { secret } = await createClientKey(gateway.context, input)
    const askOnce = async () => (await sendAsk(gateway.url, secret, ask)).status
    assert.equal(await askOnce(), 200)
    clock.jumpWallTime(3 * hourMs)
    assert.equal(await askOnce(), 401)
    clock.jumpWallTime(-3 * hourMs)
    assert.equal(await askOnce(), 200)
  })
})

test('two gateways on one store whose clocks are a day apart free no hold of each other and lose no charge', async () => {
  await using opened = new AsyncDisposableStack()
  const server = await startPostgres()
  opened.defer(() => server.close())
  const storeUrl = await server.createDatabase()
  const shared = { storeUrl, hasServerTime: true, settings: { node_lease: '2s' } }
  const ahead: Clock = {
    now: () => systemClock.now() + 25 * hourMs,
    monotonic: () => systemClock.monotonic(),
    after: (ms, action) => systemClock.after(ms, action),
    onTick: (ms, action) => systemClock.onTick(ms, action),
  }
  const here = await scenario(shared)
  opened.defer(() => here.close())
  const { account } = here
  const there = await scenario({ ...shared, clock: ahead, fill: () => Promise.resolve(account) })
  opened.defer(() => there.close())
  const hold = async (gateway: Scenario, gate: string) => {
    const held: Ask = { format: 'messages', isStream: true, sandbox: `hold=${gate}@mid` }
    const running = openAsk(gateway.url, account.key, held)
    // The channels of both lead to the vendors of the first.
    await here.sandbox.faults.reached(gate)
    return running
  }
  const running = [await hold(here, 'here'), await hold(there, 'there')]
  for (let round = 0; round < 3; round++)
    for (const gateway of [here, there])
      assert.ok(hasEnd(await sendAsk(gateway.url, account.key, ask), ask))
  const [row] = await here.context.database.query('SELECT count(*) AS holds FROM hold')
  assert.equal(Number(row?.['holds']), 2)
  for (const gate of ['here', 'there']) here.sandbox.faults.release(gate)
  for (const { ended } of running) assert.ok((await ended).text.includes('message_stop'))
  assert.equal((await chargesOf(here.context.database, account.id)).size, 8)
  const total = await usage(here.url, account.token, 'total')
  assert.equal((total['usage'] as { requests: number }).requests, 8)
  await assertClean(here)
})
