/**
 * Gateways on one store, each with a connection and a clock of its own: what they publish, who makes
 * the checks, what they hear of each other, and what becomes of it all while the store is out. A
 * node that dies is one whose clock nobody moves any more.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { ManualClock } from '../support/manual-clock.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import type { Database } from '../../src/storage/database.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { parsePostgresUrl } from '../../src/storage/postgres-location.ts'
import { openPostgres } from '../../src/storage/postgres.ts'
import { openSqliteThread } from '../../src/storage/sqlite-thread.ts'
import { readStoreTime } from '../../src/storage/store-time.ts'
import type { ChannelChange } from '../../src/channels/channel-change.ts'
import { appendChanges, listChanges } from '../../src/channels/channel-change-store.ts'
import { createChannelJournal } from '../../src/channels/channel-journal.ts'
import { listStates } from '../../src/channels/channel-state-store.ts'
import type { HealthLine } from '../../src/channels/health-line.ts'
import { createNodeRound, type NodeRound } from '../../src/channels/node-round.ts'
import { askForCheck, listNodes } from '../../src/channels/node-store.ts'
import { appendCosts } from '../../src/channels/operator-cost-store.ts'
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
  folder = await mkdtemp(join(tmpdir(), 'turnpike-round-'))
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
  readonly round: NodeRound
  readonly journal: ReturnType<typeof createChannelJournal>
  readonly lines: HealthLine[]
  /** What it has heard of others and of operators. */
  readonly heard: string[]
  readonly errors: unknown[]
  isStoreOut: boolean
  end(): Promise<void>
}

function line(change: Partial<HealthLine> = {}): HealthLine {
  return {
    channel: 'main',
    model: 'm',
    vendor: 'alpha',
    rank: 0,
    mode: 'on',
    isUsable: true,
    sinceMs: startMs,
    why: 'start',
    share: 1,
    wakeAtMs: undefined,
    restUntilMs: undefined,
    lastOkAtMs: undefined,
    running: 0,
    firstEventMs: undefined,
    usualFirstEventMs: undefined,
    failures: [],
    ...change,
  }
}

async function startNode(name: string, agedMs = 0): Promise<Node> {
  const connection = await openConnection()
  const clock = new ManualClock(startMs + agedMs)
  const journal = createChannelJournal(() => undefined)
  let hasEnded = false
  const node = { name, clock, journal, lines: [line()], heard: [], errors: [], isStoreOut: false }
  const heard: string[] = node.heard
  const errors: unknown[] = node.errors
  const round = createNodeRound({
    clock,
    database: failingWhere(connection, () => made.isStoreOut),
    node: name,
    nodeName: `host of ${name}`,
    region: 'test',
    readStoreTime: () => Promise.resolve(clock.now()),
    journal,
    lines: () => made.lines,
    save: () => [],
    onOffElsewhere: ({ channel, model }) => heard.push(`off ${channel}/${model}`),
    onAskedCheck: (channel) => heard.push(`check ${channel}`),
    onError: (error) => errors.push(error),
  })
  const made: Node = {
    ...node,
    round,
    async end() {
      if (hasEnded) return
      hasEnded = true
      made.isStoreOut = false
      await round.close()
      await connection.close()
    },
  }
  nodes.push(made)
  await round.write()
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
      await node.round.write()
    }
}

async function published(): Promise<readonly string[]> {
  const states = await listStates(database)
  return states.map(({ node, line: one }) => `${node} ${one.channel}/${one.model} ${one.mode}`)
}

async function publishedAt(): Promise<number | undefined> {
  const [state] = await listStates(database)
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

    test('a state is published when it changes, figures every few seconds, nothing without news', async () => {
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

    test('one node at a time makes the checks; a dead one is followed within two lease lengths', async () => {
      const a = await startNode('a')
      const b = await startNode('b')
      for (let passed = 0; passed < 60; passed++) {
        await pass(second, a, b)
        assert.deepEqual([a.round.mayCheck(), b.round.mayCheck()], [true, false])
      }
      let waitedMs = 0
      for (; !b.round.mayCheck(); waitedMs += second) await pass(second, b)
      assert.ok(waitedMs > 10 * second && waitedMs <= 30 * second, `${waitedMs} ms`)
      // It was only asleep. Before it can ask anybody it knows that its time is over.
      a.clock.advance(waitedMs)
      assert.equal(a.round.mayCheck(), false)
      await pass(10 * second, a, b)
      assert.deepEqual([a.round.mayCheck(), b.round.mayCheck()], [false, true])
    })

    test('a node that ends leaves the checks to the next, and its last word until somebody else speaks', async () => {
      const a = await startNode('a')
      await pass(6 * second, a)
      await a.end()
      assert.deepEqual(await published(), ['a main/m on'])
      assert.equal((await listNodes(database))[0]?.endedAtMs, startMs + 6 * second)
      const b = await startNode('b', 6 * second)
      assert.deepEqual(await published(), ['b main/m on'])
      assert.equal(b.round.mayCheck(), true)
    })

    test('what a dead node had published is cleared away, and published again where it was only asleep', async () => {
      const a = await startNode('a')
      const b = await startNode('b')
      await pass(10 * second, b)
      assert.deepEqual(await published(), ['a main/m on', 'b main/m on'])
      await pass(10 * second, b)
      assert.deepEqual(await published(), ['b main/m on'])
      await pass(20 * second, a)
      assert.deepEqual(await published(), ['a main/m on', 'b main/m on'])
    })

    test('an off is heard once by every other node, as long as its node lives', async () => {
      const a = await startNode('a')
      const b = await startNode('b')
      a.lines[0] = line({ mode: 'off', sinceMs: startMs + 500 })
      await pass(10 * second, a, b)
      assert.deepEqual([a.heard, b.heard], [[], ['off main/m']])
      a.lines[0] = line({ mode: 'trial', sinceMs: startMs + 11_000 })
      await pass(2 * second, a, b)
      a.lines[0] = line({ mode: 'off', sinceMs: startMs + 13_000 })
      await pass(5 * second, a, b)
      assert.deepEqual(b.heard, ['off main/m', 'off main/m'])
      // A node that starts now learns what the others know; of the dead nobody speaks.
      const late = await startNode('late', 17 * second)
      assert.deepEqual(late.heard, ['off main/m'])
      await pass(20 * second, b, late)
      const later = await startNode('later', 37 * second)
      assert.deepEqual(later.heard, [])
    })

    test('a check that an operator asks for is heard once by every node that runs', async () => {
      const a = await startNode('a')
      const b = await startNode('b')
      await pass(3 * second, a, b)
      await database.transact((transaction) =>
        askForCheck(transaction, { id: 'evt_1', channel: 'main', askedAtMs: startMs + 3 * second }),
      )
      await pass(5 * second, a, b)
      assert.deepEqual([a.heard, b.heard], [['check main'], ['check main']])
      const late = await startNode('late', 10 * second)
      await pass(70 * second, a, late)
      assert.deepEqual([a.heard, late.heard], [['check main'], []])
      assert.deepEqual(await database.query('SELECT id FROM channel_check'), [])
    })

    test('while the store is out lines wait, one fault is told, and then all of them are written once', async () => {
      const a = await startNode('a')
      a.isStoreOut = true
      for (let number = 0; number < 3; number++) {
        a.journal.addChange(change(number))
        await pass(20 * second, a)
      }
      assert.equal(a.errors.length, 1)
      assert.equal(a.round.mayCheck(), false)
      assert.deepEqual(await history(), [])
      a.isStoreOut = false
      await pass(second, a)
      assert.deepEqual(await history(), ['evt_0', 'evt_1', 'evt_2'])
      assert.equal(a.journal.waitingCount, 0)
      assert.equal(a.round.mayCheck(), true)
      // A write whose answer was lost is repeated, and adds nothing.
      a.journal.addChange(change(2))
      a.journal.addChange(change(3))
      await pass(second, a)
      assert.deepEqual(await history(), ['evt_0', 'evt_1', 'evt_2', 'evt_3'])
    })

    test('many lines are written in their order, the last ones when the node ends', async () => {
      const a = await startNode('a')
      for (let number = 0; number < 1_200; number++) a.journal.addChange(change(number))
      await a.round.write()
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

    test('history and costs are append-only: the store refuses everything else', async () => {
      const cost = {
        id: 'evt_9',
        atMs: startMs,
        node: 'a',
        channel: 'main',
        model: 'm',
        kind: 'check',
        usage: { input: 8, output: 1 },
        amountPicos: picos(39n),
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

    test('the time of the store is its own: of the server, or of the machine an embedded one is on', async () => {
      const clock = new ManualClock(startMs)
      const nowMs = await readStoreTime(database, clock)
      if (engine === 'sqlite') assert.equal(nowMs, startMs)
      else assert.ok(Number.isInteger(nowMs) && nowMs !== startMs)
    })
  })
