/**
 * Gateways on one store, each with its own connection and clock: heartbeat, task leases, eviction,
 * and what the publisher exchanges with the store, also while the store is out. A dead node is one
 * whose clock the test no longer advances.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { healthLine } from '../support/health-line.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import type { Database } from '../../src/storage/database.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { parsePostgresUrl } from '../../src/storage/location.ts'
import { openPostgres } from '../../src/storage/postgres/postgres.ts'
import { openSqliteThread } from '../../src/storage/sqlite/thread.ts'
import { listNodes, listUncleanStops, readStoreTime } from '../../src/storage/node-store.ts'
import {
  appendChanges,
  type ChannelChange,
  listChanges,
} from '../../src/channels/cluster/channel-history.ts'
import { listStates, requestCheck } from '../../src/channels/cluster/channel-states.ts'
import type { HealthLine } from '../../src/channels/health/health-line.ts'
import { createChannelJournal, Publisher } from '../../src/channels/cluster/publisher.ts'
import { openMembership } from '../../src/storage/membership.ts'
import { appendCosts } from '../../src/channels/cluster/operator-cost-store.ts'
import { picos } from '../../src/base/money.ts'

const second = 1_000
const startMs = Date.parse('2026-11-21T12:00:00Z')

type Engine = Database['dialect']
const engines: readonly Engine[] = ['sqlite', 'postgres']

let server: PostgresServer
let folder: string
let openConnection: () => Promise<Database>
let database: Database
let nodes: Node[]
/** Names of this file by the ids of its nodes. */
const names = new Map<string, string>()
before(async () => {
  server = await startPostgres()
})
after(() => server.close())
afterEach(async () => {
  for (const node of nodes) await node.end()
  await database.close()
  await rm(folder, { recursive: true })
})

async function prepare(engine: Engine): Promise<void> {
  folder = await mkdtemp(join(tmpdir(), 'turnpike-membership-'))
  if (engine === 'sqlite') openConnection = () => openSqliteThread(join(folder, 'store.db'))
  else {
    const location = parsePostgresUrl(await server.createDatabase())
    openConnection = () => openPostgres(location, { connectionsMax: 1 })
  }
  database = await openConnection()
  await migrate(database)
  nodes = []
}

interface Node {
  readonly name: string
  readonly clock: ManualClock
  readonly publisher: Publisher
  readonly journal: ReturnType<typeof createChannelJournal>
  readonly lines: HealthLine[]
  /** What it has seen of other nodes and of operators. */
  readonly seen: string[]
  readonly errors: unknown[]
  isStoreOut: boolean
  end(): Promise<void>
}

function line(change: Partial<HealthLine> = {}): HealthLine {
  return healthLine({ sinceMs: startMs, ...change })
}

async function startNode(name: string, agedMs = 0): Promise<Node> {
  const connection = await openConnection()
  const clock = new ManualClock(startMs + agedMs)
  const journal = createChannelJournal(() => undefined)
  let hasEnded = false
  const node = { name, clock, journal, lines: [line()], seen: [], errors: [], isStoreOut: false }
  const seen: string[] = node.seen
  const errors: unknown[] = node.errors
  const faulty = failingWhere(connection, () => made.isStoreOut)
  const membership = await openMembership({
    clock,
    database: faulty,
    name: `host of ${name}`,
    region: 'test',
    build: { version: '1.2.3', commit: 'abc1234' },
    readTime: () => clock.now(),
    onError: (error) => errors.push(error),
  })
  names.set(membership.node, name)
  const publisher = new Publisher({
    database: faulty,
    membership,
    monotonic: () => clock.monotonic(),
    journal,
    lines: () => made.lines,
    save: () => [],
    onOffElsewhere: ({ channel, model }) => seen.push(`off ${channel}/${model}`),
    onCheckRequest: ({ channel }) => seen.push(`check ${channel}`),
  })
  publisher.start()
  const made: Node = {
    ...node,
    publisher,
    async end() {
      if (hasEnded) return
      hasEnded = true
      made.isStoreOut = false
      await publisher.close()
      await connection.close()
    },
  }
  nodes.push(made)
  await publisher.write()
  return made
}

/** The real store, but for the times when it does not answer. */
function failingWhere(connection: Database, isOut: () => boolean): Database {
  const out = (): Promise<never> => Promise.reject(new Error('the store is out'))
  return {
    dialect: connection.dialect,
    query: (sql, parameters) => (isOut() ? out() : connection.query(sql, parameters)),
    transact: (work) => (isOut() ? out() : connection.transact(work)),
    snapshot: (work) => (isOut() ? out() : connection.snapshot(work)),
    close: () => connection.close(),
  }
}

/** Time passes for these nodes, and for them alone. */
async function pass(durationMs: number, ...alive: readonly Node[]): Promise<void> {
  for (let passedMs = 0; passedMs < durationMs; passedMs += second)
    for (const node of alive) {
      node.clock.advance(second)
      await node.publisher.write()
    }
}

async function published(): Promise<readonly string[]> {
  const states = await listStates(database, names.keys())
  return states
    .map(({ node, line: one }) => `${names.get(node)} ${one.channel}/${one.model} ${one.mode}`)
    .sort()
}

async function publishedAt(): Promise<number | undefined> {
  const [state] = await listStates(database, names.keys())
  return state === undefined ? undefined : state.publishedAtMs - startMs
}

function change(number: number): ChannelChange {
  const states = { from: 'on', to: 'off', why: 'failures_in_a_row' }
  const place = { node: 'a', channel: 'main', model: 'm' }
  return { id: `evt_${number}`, atMs: number, ...place, ...states, actor: undefined, detail: {} }
}

async function history(): Promise<readonly string[]> {
  return (await listChanges(database, { countMax: 100 })).map(({ id }) => id).toReversed()
}

for (const engine of engines)
  describe(`gateways on one store (${engine})`, () => {
    beforeEach(() => prepare(engine))

    test('publishes a state when it changes, figures with each heartbeat, and nothing that is not new', async () => {
      const a = await startNode('a')
      assert.deepEqual(await published(), ['a main/m on'])
      assert.equal(await publishedAt(), 0)
      // Times read from two clocks differ by a little; that is no news.
      a.lines[0] = line({ sinceMs: startMs + 0.7 })
      await pass(10 * second, a)
      assert.equal(await publishedAt(), 0)
      a.lines[0] = line({ mode: 'off', why: 'failures_in_a_row', sinceMs: startMs + 10_500 })
      await pass(second, a)
      assert.deepEqual(await published(), ['a main/m off'])
      assert.equal(await publishedAt(), 11 * second)
      a.lines[0] = line({ ...a.lines[0], running: 3 })
      await pass(second, a)
      assert.equal(await publishedAt(), 11 * second)
      await pass(4 * second, a)
      assert.equal(await publishedAt(), 15 * second)
      a.lines.splice(0)
      await pass(second, a)
      assert.deepEqual(await published(), [])
    })

    test('publishes the states of very many models, and others have turns meanwhile', async () => {
      const a = await startNode('a')
      const models = Array.from({ length: 1_050 }, (_, n) => `m${n}`)
      a.lines.splice(0, 1, ...models.map((model) => line({ model })))
      let turns = 0
      const turn = (): void => {
        turns++
        if (turns < 10) setImmediate(turn)
      }
      setImmediate(turn)
      a.clock.advance(second)
      await a.publisher.write()
      assert.equal(turns, 10)
      assert.deepEqual(await published(), models.map((model) => `a main/${model} on`).sort())
      a.lines.splice(0, 1_000)
      await pass(second, a)
      assert.equal((await published()).length, 50)
    })

    test('gives the checks to one node at a time, and to another within two lease terms of its death', async () => {
      const a = await startNode('a')
      const b = await startNode('b')
      for (let passed = 0; passed < 60; passed++) {
        await pass(second, a, b)
        assert.deepEqual([a.publisher.mayCheck(), b.publisher.mayCheck()], [true, false])
      }
      let waitedMs = 0
      for (; !b.publisher.mayCheck(); waitedMs += second) await pass(second, b)
      assert.ok(waitedMs > 10 * second && waitedMs <= 30 * second, `${waitedMs} ms`)
      // It was only asleep. Before it can ask anybody it knows that its time is over.
      a.clock.advance(waitedMs)
      assert.equal(a.publisher.mayCheck(), false)
      await pass(10 * second, a, b)
      assert.deepEqual([a.publisher.mayCheck(), b.publisher.mayCheck()], [false, true])
    })

    test('a node that ends releases the checks at once; its states stay until another node publishes', async () => {
      const a = await startNode('a')
      await pass(6 * second, a)
      await a.end()
      assert.deepEqual(await published(), ['a main/m on'])
      assert.equal((await listNodes(database))[0]?.endedAtMs, startMs + 6 * second)
      const b = await startNode('b', 6 * second)
      assert.deepEqual(await published(), ['b main/m on'])
      assert.equal(b.publisher.mayCheck(), true)
    })

    test('evicts a dead node with its states; a node that was only paused publishes them again', async () => {
      const a = await startNode('a')
      const b = await startNode('b')
      await pass(10 * second, b)
      assert.deepEqual(await published(), ['a main/m on', 'b main/m on'])
      await pass(10 * second, b)
      assert.deepEqual(await published(), ['b main/m on'])
      await pass(20 * second, a)
      assert.deepEqual(await published(), ['a main/m on', 'b main/m on'])
    })

    test('records a node that died, with the time in which it did; not one that ended or was paused', async () => {
      const stops = async (nowMs: number, fromMs = 0): Promise<readonly string[]> =>
        (
          await listUncleanStops(database, {
            fromMs: startMs + fromMs,
            toMs: startMs + 86_400 * second,
            nowMs,
          })
        ).map(
          ({ name, fromMs: from, toMs: to }) =>
            `${name} ${from - startMs} ${to === undefined ? 'missing' : to - startMs}`,
        )
      const paused = await startNode('paused')
      await pass(7 * second, paused)
      const dead = await startNode('dead', 7 * second)
      await pass(second, dead)
      assert.deepEqual(await stops(startMs + 19 * second), [])
      assert.deepEqual(await stops(startMs + 20 * second), ['host of paused 5000 missing'])
      const b = await startNode('b', 30 * second)
      const found = ['host of paused 5000 30000', 'host of dead 7000 30000']
      assert.deepEqual(await stops(startMs + 30 * second), found)
      assert.deepEqual(await stops(startMs + 30 * second, 31 * second), [])
      await pass(30 * second, paused)
      assert.deepEqual(await stops(startMs + 37 * second), ['host of dead 7000 30000'])
      await b.end()
      await paused.end()
      await startNode('c', 90 * second)
      assert.deepEqual(await stops(startMs + 90 * second), ['host of dead 7000 30000'])
    })

    test('every other node sees an off channel once, as long as the node that published it runs', async () => {
      const a = await startNode('a')
      const b = await startNode('b')
      a.lines[0] = line({ mode: 'off', sinceMs: startMs + 500 })
      await pass(10 * second, a, b)
      assert.deepEqual([a.seen, b.seen], [[], ['off main/m']])
      a.lines[0] = line({ mode: 'trial', sinceMs: startMs + 11_000 })
      await pass(2 * second, a, b)
      a.lines[0] = line({ mode: 'off', sinceMs: startMs + 13_000 })
      await pass(5 * second, a, b)
      assert.deepEqual(b.seen, ['off main/m', 'off main/m'])
      // A node that starts now learns what the others know; the dead ones are not reported.
      const late = await startNode('late', 17 * second)
      assert.deepEqual(late.seen, ['off main/m'])
      await pass(20 * second, b, late)
      const later = await startNode('later', 37 * second)
      assert.deepEqual(later.seen, [])
    })

    test('every running node sees a requested check once', async () => {
      const a = await startNode('a')
      const b = await startNode('b')
      await pass(3 * second, a, b)
      await database.transact((transaction) =>
        requestCheck(transaction, {
          id: 'evt_1',
          channel: 'main',
          askedAtMs: startMs + 3 * second,
        }),
      )
      await pass(5 * second, a, b)
      assert.deepEqual([a.seen, b.seen], [['check main'], ['check main']])
      const late = await startNode('late', 10 * second)
      await pass(70 * second, a, late)
      assert.deepEqual([a.seen, late.seen], [['check main'], []])
      assert.deepEqual(await database.query('SELECT id FROM channel_check'), [])
    })

    test('while the store is out, lines wait and one error is reported; then each line is written once', async () => {
      const a = await startNode('a')
      a.isStoreOut = true
      for (let number = 0; number < 3; number++) {
        a.journal.addChange(change(number))
        await pass(20 * second, a)
      }
      assert.equal(a.errors.length, 1)
      assert.equal(a.publisher.mayCheck(), false)
      assert.deepEqual(await history(), [])
      a.isStoreOut = false
      await pass(second, a)
      assert.deepEqual(await history(), ['evt_0', 'evt_1', 'evt_2'])
      assert.equal(a.journal.waitingCount, 0)
      assert.equal(a.publisher.mayCheck(), true)
      // A write whose answer was lost is repeated, and adds nothing.
      a.journal.addChange(change(2))
      a.journal.addChange(change(3))
      await pass(second, a)
      assert.deepEqual(await history(), ['evt_0', 'evt_1', 'evt_2', 'evt_3'])
    })

    test('writes many lines in order, the last ones when the node ends', async () => {
      const a = await startNode('a')
      for (let number = 0; number < 1_200; number++) a.journal.addChange(change(number))
      await a.publisher.write()
      assert.equal(a.journal.waitingCount, 0)
      a.journal.addChange(change(1_200))
      await a.end()
      const [{ count } = { count: 0 }] = await database.query(
        'SELECT COUNT(*) AS count FROM channel_change',
      )
      assert.equal(Number(count), 1_201)
      const newest = await listChanges(database, { countMax: 2 })
      assert.deepEqual(
        newest.map(({ id }) => id),
        ['evt_1200', 'evt_1199'],
      )
    })

    test('the store refuses to change or delete history and costs', async () => {
      const cost = {
        id: 'evt_9',
        atMs: startMs,
        node: 'a',
        channel: 'main',
        model: 'm',
        kind: 'check',
        usage: { input: 8, output: 1 },
        amountPicos: picos(39n),
        isOwnCostKnown: false,
      } as const
      await database.transact(async (transaction) => {
        await appendChanges(transaction, [change(1)])
        await appendCosts(transaction, [cost])
      })
      for (const [sql, message] of [
        ["UPDATE channel_change SET why = 'nothing'", /history of channels is append-only/],
        ['DELETE FROM channel_change', /history of channels is append-only/],
        ['UPDATE operator_cost SET amount_picos = 0', /costs are append-only/],
        ['DELETE FROM operator_cost', /costs are append-only/],
      ] as const)
        await assert.rejects(database.query(sql), (error: Error) =>
          message.test(`${error.message} ${String(error.cause)}`),
        )
      assert.deepEqual(await history(), ['evt_1'])
    })

    test('reads the time of the store: of the server, or of the machine that uses an embedded one', async () => {
      const clock = new ManualClock(startMs)
      const nowMs = await readStoreTime(database, clock)
      if (engine === 'sqlite') assert.equal(nowMs, startMs)
      else assert.ok(Number.isInteger(nowMs) && nowMs !== startMs)
    })
  })
