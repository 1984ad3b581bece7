/**
 * The live feed of the admin API on real connections: which lists it says have changed, and what ends it.
 * Nothing waits for a time: each test waits for the event, or for the end of a connection.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { eventFeeds } from '../../src/operations/events/endpoints.ts'
import { listenersMax, listenersPerTokenMax } from '../../src/operations/events/feed.ts'
import { watchedLists, watchLists, type WatchedList } from '../../src/operations/events/lists.ts'
import { alertEndpoints } from '../../src/operations/alerts/endpoints.ts'
import { applyObservation } from '../../src/operations/alerts/raise.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { runOf, saveRun } from '../../src/operations/store/audit-runs.ts'
import type { Database } from '../../src/storage/database.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { eventually } from '../support/eventually.ts'
import { openEvents, saysChanged, type EventConnection } from '../support/event-reader.ts'
import {
  changeAccount,
  createAdminToken,
  creditAccount,
  revokeKey,
  switchChannel,
} from '../support/operations.ts'
import { scenario, type Scenario } from '../support/scenario.ts'
import { openNewStore } from '../support/test-store.ts'

let gateway: Scenario
let token: { readonly id: string; readonly secret: string }
let opened: EventConnection[] = []

async function start(): Promise<void> {
  gateway = await scenario({ channels: { every: { check: 'none' } } })
  const { key, secret } = await createAdminToken(gateway.context, {
    name: 'reader',
    role: 'viewer',
  })
  token = { id: key.id, secret }
  opened = []
}

async function follow(
  query = '',
  { secret }: { readonly secret: string } = token,
): Promise<EventConnection> {
  const connection = await openEvents(`${gateway.adminUrl}/admin/v1/events${query}`, {
    authorization: `Bearer ${secret}`,
  })
  opened.push(connection)
  return connection
}

async function stop(): Promise<void> {
  for (const connection of opened) connection.close()
  await gateway.close()
}

/** Changes each list as a gateway, an operator or a command does. */
const changes: Readonly<Record<WatchedList, () => Promise<unknown>>> = {
  requests: () => gateway.ask({ format: 'messages', isStream: false }),
  channels: () => switchChannel(gateway.context, { channel: 'alpha-main', override: 'disabled' }),
  actions: () => changeAccount(gateway.context, { account: gateway.account.name, note: 'new' }),
  alerts: () => raiseAlert(gateway.context.database),
  audits: () => saveFailedAudit(gateway.context.database),
  keys: () => createAdminToken(gateway.context, { name: 'another' }),
  accounts: () => changeAccount(gateway.context, { account: gateway.account.name, rpm: 60 }),
  balances: () =>
    creditAccount(gateway.context, {
      account: gateway.account.name,
      amount_usd: '1',
      reference: 'new',
    }),
  catalogue: () => gateway.context.database.query('UPDATE channel SET weight = weight + 1'),
}

/** Of a kind that no look of the gateway ends. */
function raiseAlert(database: Database): Promise<void> {
  const about = { subject: 'node', title: 'No store', text: 'Look at it.', facts: {} }
  const finding = { kind: 'store.outage', ...about } as const
  const observation = { kinds: [finding.kind], findings: [finding] }
  return applyObservation({ database, onNotice: () => undefined }, observation, Date.now())
}

function saveFailedAudit(database: Database): Promise<unknown> {
  const error = new Error('no disk')
  const when = { startedAtMs: Date.now(), durationMs: 1 }
  return saveRun(database, runOf({ scope: 'recent', actor: 'gateway:test', ...when, error }))
}

describe('a watch of the lists', () => {
  before(start)
  after(stop)

  for (const list of watchedLists)
    test(`finds that the list ${list} has changed`, async () => {
      const findChanged = await watchLists(gateway.context.database)
      await changes[list]()
      await eventually(list, findChanged, (found) => found.includes(list))
    })

  test('finds requests that the gateway has refused', async () => {
    const findChanged = await watchLists(gateway.context.database)
    const answer = await gateway.ask({ format: 'messages', isStream: false, model: 'none-such' })
    assert.equal(answer.status, 404)
    await eventually('the refusal', findChanged, (found) => found.includes('requests'))
  })

  test('finds that an alert is acknowledged, and that it is over', async () => {
    const { database } = gateway.context
    await raiseAlert(database)
    const findChanged = await watchLists(database)
    const { items } = valueOf(
      await alertEndpoints.firing.operation(gateway.context, { limit: 100 }),
    )
    const alert = items.find(({ kind }) => kind === 'store.outage')?.id
    valueOf(await alertEndpoints.acknowledge.operation(gateway.context, { alert }))
    await eventually('that it is acknowledged', findChanged, (found) => found.includes('alerts'))
    // A change is told once more after it was seen.
    await findChanged()
    const observation = { kinds: ['store.outage'], findings: [] } as const
    await applyObservation({ database, onNotice: () => undefined }, observation, Date.now())
    await eventually('its end', findChanged, (found) => found.includes('alerts'))
  })

  test('finds a change twice, because PostgreSQL numbers rows before it commits', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'turnpike-lists-'))
    const database = await openNewStore(folder)
    try {
      await migrate(database)
      const findChanged = await watchLists(database)
      assert.deepEqual(await findChanged(), [])
      await saveFailedAudit(database)
      assert.deepEqual(await findChanged(), ['audits'])
      assert.deepEqual(await findChanged(), ['audits'])
      assert.deepEqual(await findChanged(), [])
    } finally {
      await database.close()
      await rm(folder, { recursive: true })
    }
  })
})

describe('a feed', () => {
  beforeEach(start)
  afterEach(stop)

  test('names the lists that have changed, and nothing else', async () => {
    const feed = await follow()
    assert.equal(feed.status, 200)
    assert.match(String(feed.headers['content-type']), /^text\/event-stream/)
    assert.equal(feed.headers['cache-control'], 'no-store')
    await changes.requests()
    await feed.next(saysChanged('requests'))
    await changes.accounts()
    await feed.next(saysChanged('accounts'))
    await feed.next(saysChanged('actions'))
    for (const { name, data } of feed.events) {
      assert.equal(name, 'changed')
      assert.ok(eventFeeds.follow.events.changed.safeParse(data).success, JSON.stringify(data))
    }
  })

  test('takes no fields', async () => {
    for (const query of ['?kinds=request', '?after=1', '?since=now'])
      assert.equal((await follow(query)).status, 400, query)
  })

  test('ends with its token', async () => {
    const feed = await follow()
    const { secret } = await createAdminToken(gateway.context, { name: 'another' })
    const other = await follow('', { ...token, secret })
    await revokeKey(gateway.context, { id: token.id, kind: 'admin' })
    assert.equal(await feed.ended, true)
    assert.equal((await follow()).status, 401)
    await changes.balances()
    await other.next(saysChanged('balances'))
  })

  test('ends completely when the gateway stops', async () => {
    const feed = await follow()
    const drained = gateway.app.drain(1_000)
    assert.equal(await feed.ended, true)
    await drained
  })

  test('has a bounded number of readers of a token, and others of another', async () => {
    const readers: EventConnection[] = []
    for (let count = 0; count < listenersPerTokenMax; count++) readers.push(await follow())
    assert.ok(readers.every(({ status }) => status === 200))
    const refused = await follow()
    assert.equal(refused.status, 429)
    assert.equal(refused.headers['content-type'], 'application/problem+json')
    const another = await createAdminToken(gateway.context, { name: 'another', role: 'viewer' })
    assert.equal((await follow('', another)).status, 200)
    readers[0]?.close()
    await eventually(
      'a free place',
      () => follow(),
      ({ status }) => status === 200,
    )
  })

  test('has a bounded number of readers of all tokens', async () => {
    const tokens = await Promise.all(
      Array.from({ length: listenersMax / listenersPerTokenMax + 1 }, (_, index) =>
        createAdminToken(gateway.context, { name: `reader-${index}`, role: 'viewer' }),
      ),
    )
    for (const one of tokens.slice(1))
      for (let count = 0; count < listenersPerTokenMax; count++)
        assert.equal((await follow('', one)).status, 200)
    const refused = await follow('', tokens[0])
    assert.equal(refused.status, 503)
    assert.equal(refused.headers['retry-after'], '5')
  })
})
