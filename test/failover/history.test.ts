/**
 * What an operator reads afterwards: an outage from its first failure to the last line of its history,
 * live state as `channel list` and `channel show` tell it, what checks cost, the events and counters
 * beside it, and that nothing private is in any of it.
 */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { type ChannelHealthView } from '../../src/operations/channels/model-health.ts'
import { demoCredentials } from '../../sandbox/demo.ts'
import { send } from '../support/http-client.ts'
import { namesOperator } from '../support/answers.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { failoverDefaults, type Scenario, scenario } from '../support/scenario.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import {
  createAdminToken,
  channelHistory,
  showChannel,
  switchChannel,
  listChannels,
} from '../support/operations.ts'

const second = 1_000
const main = 'alpha-main'
const model = 'large-1'
const format = 'messages'

let clock: ManualClock
let gateway: Scenario
let lines: Record<string, unknown>[]

async function start(storeUrl?: string): Promise<void> {
  clock = new ManualClock()
  lines = []
  gateway = await scenario({
    ...failoverDefaults,
    clock,
    onLogLine: (line) => lines.push(line),
    channels: {},
    // Regular checks far apart: every probe of these tests has a reason in the story.
    settings: { check_interval: '1d' },
    ...(storeUrl === undefined ? {} : { storeUrl }),
  })
}

let server: PostgresServer
before(async () => {
  server = await startPostgres()
})
after(() => server.close())
afterEach(() => gateway.close())

/** Time passes a second at a time, and every probe ends before the next one begins. */
async function passUntil(what: string, isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (let passed = 0; !(await isSo()); passed++) {
    assert.ok(passed < 600, `${what} has not come in ten minutes`)
    clock.advance(second)
    do await gateway.health()
    while (
      gateway.app
        .snapshot()
        .channels.keys()
        .some((name) => gateway.app.health.probing(name) > 0)
    )
  }
}

/** What the gateway writes a little later is looked for until it is there; each look lets it work. */
async function read<Found>(
  what: string,
  look: () => Promise<Found>,
  fits: (found: Found) => boolean,
): Promise<Found> {
  let found = await look()
  for (let looks = 0; !fits(found); looks++) {
    assert.ok(looks < 20_000, `${what}: ${JSON.stringify(found)}`)
    found = await look()
  }
  return found
}

async function history(channel = main): Promise<readonly string[]> {
  const changes = await channelHistory(gateway.context, { channel })
  return changes
    .map(({ model: of, from, to, why }) => `${of ?? 'all'} ${from} → ${to}: ${why}`)
    .toReversed()
}

async function healthOf(name: string): Promise<ChannelHealthView | undefined> {
  const channels = await listChannels(gateway.context)
  return channels
    .find((channel) => channel.name === name)
    ?.health.find((health) => health.model === model)
}

function linesOf(message: string): readonly Record<string, unknown>[] {
  return lines.filter((line) => line['msg'] === message)
}

async function fail(): Promise<void> {
  gateway.sandbox.faults.set(main, 'reset=before_head')
  for (let index = 0; index < 3; index++) await gateway.ask({ format, isStream: true })
  await passUntil('off', () => gateway.grade(main, model) === 'off')
}

async function metrics(): Promise<string> {
  const { secret } = await createAdminToken(gateway.context, { name: 'metrics' })
  const answer = await send(`${gateway.adminUrl}/metrics`, {
    headers: { authorization: `Bearer ${secret}` },
  })
  return answer.body.toString()
}

for (const engine of ['sqlite', 'postgres'] as const)
  describe(`an outage (${engine})`, () => {
    beforeEach(async () => start(engine === 'postgres' ? await server.createDatabase() : undefined))

    test('shows in the history in order, in the list while it lasts, and in events and counters', async () => {
      await fail()
      const off = await read(
        'off in the list',
        () => healthOf(main),
        (health) => health?.state === 'off',
      )
      assert.equal(off?.why, 'failures_confirmed')
      assert.deepEqual([off.share, off.is_usable], [0, false])
      assert.ok(off.wakes_at !== null && Date.parse(off.wakes_at) > clock.now())
      assert.deepEqual(
        off.failures.map((failure) => failure.class),
        ['hard'],
      )
      // By the clock of the PostgreSQL server the gateway of this test is not running.
      if (engine === 'sqlite') {
        const step = { by: 'gateway', kind: 'probe', text: 'Probe', how: null, at: off.wakes_at }
        assert.deepEqual(off.next_steps, [step])
        const { traffic } = await showChannel(gateway.context, { channel: main })
        const { recent } = traffic.find((one) => one.model === model) ?? {}
        assert.deepEqual([recent?.attempts, recent?.failed], [3, 3])
      }
      assert.equal((await gateway.health()).status, 'degraded')
      assert.match(
        await metrics(),
        /^turnpike_channel_state\{channel="alpha-main",model="large-1",state="off"\} 1$/m,
      )

      gateway.sandbox.faults.clear()
      await passUntil('on', () => gateway.grade(main, model) === 'on')
      // Whatever time has brought about is noted at the next look.
      const expected = [
        `${model} on → off: failures_confirmed`,
        `${model} off → trial: hold_over`,
        `${model} trial → ramp: trial_passed`,
        `${model} ramp → on: ramp_over`,
      ]
      const told = await read('the history', history, (found) => found.length >= expected.length)
      assert.deepEqual(told, expected)
      const [first] = (await channelHistory(gateway.context, { channel: main })).toReversed()
      const [failure] = first?.failures ?? []
      assert.equal(failure?.class, 'hard')
      assert.ok(failure.count >= 5, 'three requests and at least two probes')
      assert.ok(first?.wakes_at !== null)
      assert.deepEqual(await history('alpha-reserve'), [])

      const back = await read(
        'on in the list',
        () => healthOf(main),
        (health) => health?.state === 'on',
      )
      assert.deepEqual([back?.why, back?.share], ['ramp_over', 1])
      const logged = linesOf('channel state changed')
      assert.deepEqual(
        logged.map(({ to }) => to),
        ['off', 'trial', 'ramp', 'on'],
      )
      const [{ level, time: _time, msg: _msg, ...fields } = {}] = logged
      assert.equal(level, 'warn')
      assert.deepEqual(fields, {
        channel: main,
        model,
        from: 'on',
        to: 'off',
        why: 'failures_confirmed',
      })
      const shown = await metrics()
      for (const line of [
        'turnpike_channel_state_changes_total{channel="alpha-main",to="off",why="failures_confirmed"} 1',
        'turnpike_channel_state{channel="alpha-main",model="large-1",state="on"} 1',
        'turnpike_channel_state{channel="alpha-main",model="large-1",state="off"} 0',
        'turnpike_probes_total{channel="alpha-main",outcome="ok"} 3',
        'turnpike_channel_journal_waiting 0',
      ])
        assert.ok(shown.includes(`${line}\n`), line)
    })

    test('costs the operator its probes, at the price book, and no account anything', async () => {
      await fail()
      gateway.sandbox.faults.clear()
      const before = await gateway.context.database.query('SELECT exchange_id FROM exchange')
      await passUntil('on', () => gateway.grade(main, model) === 'on')
      const { check_cost: cost } = await read(
        'three paid checks',
        () => showChannel(gateway.context, { channel: main }),
        (shown) => shown.check_cost.count === 3,
      )
      assert.equal(cost.month, '2026-11')
      const rows = await gateway.context.database.query(
        'SELECT model, kind, usage, amount_picos FROM operator_cost ORDER BY sequence',
      )
      let sum = 0n
      for (const row of rows) {
        const usage = JSON.parse(String(row['usage'])) as { input: number; output: number }
        const picos = BigInt(usage.input) * 3_000_000n + BigInt(usage.output) * 15_000_000n
        assert.deepEqual([row['model'], row['kind'], row['amount_picos']], [model, 'check', picos])
        sum += picos
      }
      assert.ok(sum > 0n)
      assert.equal(cost.usd, `0.${String(sum).padStart(12, '0').replace(/0+$/, '')}`)
      const entries = await gateway.context.database.query('SELECT exchange_id FROM exchange')
      assert.equal(entries.length, before.length)
      assert.equal((await gateway.audit()).clean, true)
    })

    test('and an operator’s word stand in one history, with who said it', async () => {
      await fail()
      clock.advance(1)
      await switchChannel(gateway.context, { channel: main, override: 'disabled' })
      await gateway.app.refresh()
      clock.advance(second)
      const disabled = await read(
        'disabled',
        () => healthOf(main),
        (health) => health?.state === 'disabled',
      )
      assert.equal(disabled?.why, 'operator')
      gateway.sandbox.faults.clear()
      await switchChannel(gateway.context, { channel: main, override: 'enabled' })
      await gateway.app.refresh()
      const told = await read('the history', history, (found) => found.length >= 4)
      assert.deepEqual(told, [
        `${model} on → off: failures_confirmed`,
        'all enabled → disabled: operator',
        'all disabled → enabled: operator',
        `${model} off → on: operator`,
      ])
      const changes = await channelHistory(gateway.context, { channel: main, limit: 2 })
      assert.equal(changes.length, 2)
      assert.deepEqual(
        [changes[1]?.actor, changes[1]?.node, changes[1]?.model],
        ['test', null, null],
      )
    })
  })

test('a refused credential is reported without the vendor’s words, its account or the credential', async () => {
  await start()
  for (const channel of ['alpha-main', 'beta-main'])
    gateway.sandbox.faults.set(channel, 'error=401; message=canary-of-the-vendor')
  for (const one of ['messages', 'chat'] as const)
    for (const isStream of [false, true])
      await gateway.ask({ format: one, isStream, marker: `canary-of-a-client-${one}` })
  await read('the history', history, (found) => found.length >= 2)
  assert.deepEqual(
    linesOf('operator needed').map(({ channel, why }) => [channel, why]),
    [
      ['alpha-main', 'credential_refused'],
      ['beta-main', 'credential_refused'],
    ],
  )
  const written = []
  for (const table of ['channel_change', 'channel_state', 'channel_health', 'operator_cost'])
    written.push(...(await gateway.context.database.query(`SELECT * FROM ${table}`)))
  const shown = [
    JSON.stringify(written, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    ),
    JSON.stringify(await listChannels(gateway.context)),
    JSON.stringify(await showChannel(gateway.context, { channel: main })),
    JSON.stringify(lines),
  ]
  assert.ok(written.length >= 10, `${written.length} rows`)
  for (const text of shown) {
    assert.ok(!namesOperator(text))
    assert.doesNotMatch(text, /canary/)
    for (const credential of Object.values(demoCredentials)) assert.ok(!text.includes(credential))
  }
})

test('a start serves on channels that were off, before a probe has shown that they work', async () => {
  const storeUrl = await server.createDatabase()
  await start(storeUrl)
  gateway.sandbox.faults.set('*', 'error=401')
  await gateway.ask({ format, isStream: false })
  assert.equal(gateway.grade(main, model), 'off')
  await gateway.close()

  await start(storeUrl)
  assert.equal((await gateway.ask({ format, isStream: false })).status, 200)
  assert.equal(gateway.app.health.find({ channel: main, model })?.why, 'restarted')
  gateway.sandbox.faults.set('*', 'error=502')
  await passUntil('off', () => gateway.grade(main, model) === 'off')
  gateway.sandbox.faults.clear()
  await passUntil('on', () => gateway.grade(main, model) === 'on')
})

test('probes that a stopping gateway cuts count as no failure', async () => {
  await start()
  const failures = Array.from({ length: 3 }, () => 'reset=before_head')
  const checks = Array.from({ length: 10 }, () => 'hold=check@before_head')
  gateway.sandbox.faults.set(main, [...failures, ...checks])
  for (const _ of failures) await gateway.ask({ format, isStream: true })
  while (gateway.app.health.probing(main) === 0) {
    clock.advance(second)
    await gateway.health()
  }
  await gateway.sandbox.faults.reached('check')
  assert.equal(gateway.app.health.state(main, model).mode, 'on')
  await gateway.app.close()
  assert.deepEqual(await history(), [])
  assert.deepEqual(linesOf('channel state changed'), [])
  const [saved] = await gateway.context.database.query(
    'SELECT mode FROM channel_health WHERE channel = $1 AND model = $2',
    [main, model],
  )
  assert.notEqual(saved?.['mode'], 'off')
})
