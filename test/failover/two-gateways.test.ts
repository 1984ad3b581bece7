/**
 * Two gateways on one store and one vendor: what one has switched off the other looks at with probes of
 * its own, and regular checks are made by one of them at a time. Each has its own connection to
 * the store; they share a clock, and one of them dies when it gets no more requests.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { pino } from 'pino'
import { seededRandom } from '../../src/base/random.ts'
import { ChannelKeeper } from '../../src/channels/cluster/channel-keeper.ts'
import type { Channel } from '../../src/channels/channel.ts'
import { listChanges } from '../../src/channels/cluster/channel-history.ts'
import { UpstreamPools } from '../../src/http/client/pool.ts'
import { startSandbox, type Sandbox } from '../../sandbox/sandbox.ts'
import type { Database } from '../../src/storage/database.ts'
import { openMembership } from '../../src/storage/membership.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { openSqliteThread } from '../../src/storage/sqlite/thread.ts'
import { createTelemetry } from '../../src/telemetry/events.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { makeChannel, makeModel, makeSnapshot } from '../support/snapshots.ts'

const second = 1_000
const model = 'large-1'

interface Gateway {
  readonly clock: ManualClock
  readonly keeper: ChannelKeeper
  readonly channel: Channel
  readonly faults: unknown[]
  /** Requests of its own so far. */
  probes(): Promise<number>
  close(): Promise<void>
}

let folder: string
let sandbox: Sandbox
let gateways: Gateway[]
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turnpike-two-'))
  sandbox = await startSandbox()
  gateways = []
})
afterEach(async () => {
  for (const gateway of gateways) await gateway.close()
  await sandbox.close()
  await rm(folder, { recursive: true })
})

async function startGateway(options: { readonly checkIntervalMs: number }): Promise<Gateway> {
  const database: Database = await openSqliteThread(join(folder, 'store.db'))
  await migrate(database)
  const clock = new ManualClock()
  const upstream = new UpstreamPools({ connectTimeoutMs: 5_000, clock })
  const metrics = createMetrics()
  const faults: unknown[] = []
  const channel = makeChannel('main', {
    url: `${sandbox.url}/main`,
    models: new Map([[model, undefined]]),
  })
  const snapshot = makeSnapshot([channel], [makeModel(model)])
  const keeper = await ChannelKeeper.open({
    clock,
    random: seededRandom(1),
    database,
    upstream,
    telemetry: createTelemetry({ log: pino({ level: 'silent' }), metrics, clock }),
    snapshot: () => ({ ...snapshot, outOfService: [], credentialFiles: new Map() }),
    membership: await openMembership({
      clock,
      database,
      name: 'test',
      region: 'test',
      build: { version: '1.2.3', commit: 'abc1234' },
      readTime: () => clock.now(),
      onError: (error) => faults.push(error),
    }),
    checkIntervalMs: options.checkIntervalMs,
    failoverTokensMax: 100,
    onError: (error) => faults.push(error),
  })
  let hasEnded = false
  const gateway: Gateway = {
    clock,
    keeper,
    channel,
    faults,
    async probes() {
      const { values } = await metrics.probes.get()
      return values.reduce((sum, { value }) => sum + value, 0)
    },
    async close() {
      if (hasEnded) return
      hasEnded = true
      await keeper.close()
      await upstream.close()
      await database.close()
    },
  }
  gateways.push(gateway)
  await gateway.keeper.exchanged()
  return gateway
}

/** Time passes a second at a time; what is asked of the vendor and the store is over before the next. */
async function pass(seconds: number, ...alive: readonly Gateway[]): Promise<void> {
  for (let passed = 0; passed < seconds; passed++)
    for (const gateway of alive) {
      gateway.clock.advance(second)
      do await gateway.keeper.exchanged()
      while (gateway.keeper.health.probing('main') > 0)
    }
}

/** Requests of five accounts fail here, whatever the vendor says to others. */
function fail({ keeper, channel }: Gateway): void {
  for (const id of ['a', 'b', 'c', 'd', 'e'])
    keeper.health.end(keeper.health.begin(channel, model), {
      outcome: 'hard',
      caller: { keyId: id, accountId: id },
    })
  assert.equal(keeper.health.grade(channel, model), 'off')
}

const never = 86_400_000

test('what one has switched off the other confirms with probes, and switches off without any traffic', async () => {
  const first = await startGateway({ checkIntervalMs: never })
  const other = await startGateway({ checkIntervalMs: never })
  sandbox.faults.set('main', 'close=before_head')
  fail(first)
  await pass(3, first, other)
  assert.equal(other.keeper.health.grade(other.channel, model), 'off')
  assert.equal(await other.probes(), 3)
  const database = await openSqliteThread(join(folder, 'store.db'))
  try {
    const changes = await listChanges(database, { channel: 'main', countMax: 10 })
    assert.deepEqual(
      changes.toReversed().map(({ node, to, why }) => [node, to, why]),
      [
        [first.keeper.node, 'off', 'failures_in_a_row'],
        [other.keeper.node, 'off', 'failures_confirmed'],
      ],
    )
  } finally {
    await database.close()
  }
  assert.deepEqual([...first.faults, ...other.faults], [])
})

test('what only one cannot reach stays on for the other, whose probes pass', async () => {
  const first = await startGateway({ checkIntervalMs: never })
  const other = await startGateway({ checkIntervalMs: never })
  fail(first)
  await pass(10, first, other)
  assert.equal(first.keeper.health.grade(first.channel, model), 'off')
  assert.equal(other.keeper.health.grade(other.channel, model), 'on')
  assert.equal(await other.probes(), 3, 'one burst, and no more for the same word')
})

test('one at a time makes the regular checks, and the next one goes on when it is gone', async () => {
  const first = await startGateway({ checkIntervalMs: 10 * second })
  const other = await startGateway({ checkIntervalMs: 10 * second })
  await pass(60, first, other)
  assert.ok((await first.probes()) >= 5)
  assert.equal(await other.probes(), 0)
  await pass(45, other)
  assert.ok((await other.probes()) >= 1)
})

test('a channel that was off when a gateway ended is on trial for the next one, and back after its probes', async () => {
  const first = await startGateway({ checkIntervalMs: never })
  sandbox.faults.set('main', 'close=before_head')
  fail(first)
  await pass(2, first)
  await first.close()
  const next = await startGateway({ checkIntervalMs: never })
  const { health } = next.keeper
  assert.equal(health.state('main', model).mode, 'trial')
  assert.equal(health.grade(next.channel, model), 'off')
  sandbox.faults.clear()
  await pass(60, next)
  assert.equal(health.grade(next.channel, model), 'ramp')
  await pass(120, next)
  assert.equal(health.grade(next.channel, model), 'on')
  assert.deepEqual([...first.faults, ...next.faults], [])
})
