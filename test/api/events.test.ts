/**
 * The live feed of the admin API on real connections: its events, from where a reader goes on, and what
 * ends it. Nothing waits for a time: each test waits for the event, or for the end of a connection.
 */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { eventFeeds } from '../../src/operations/events/endpoints.ts'
import { formatCursor, parseCursor } from '../../src/operations/events/event.ts'
import { runOf, saveRun } from '../../src/operations/store/audit-runs.ts'
import { listenersMax } from '../../src/operations/events/feed.ts'
import { applyObservation } from '../../src/operations/alerts/raise.ts'
import { eventually } from '../support/eventually.ts'
import { openEvents, type EventConnection, type ReadEvent } from '../support/event-reader.ts'
import {
  changeAccount,
  createAdminToken,
  recentActions,
  revokeKey,
  switchChannel,
} from '../support/operations.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

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
  headers: Readonly<Record<string, string>> = {},
): Promise<EventConnection> {
  const connection = await openEvents(`${gateway.adminUrl}/admin/v1/events${query}`, {
    authorization: `Bearer ${token.secret}`,
    ...headers,
  })
  opened.push(connection)
  return connection
}

async function stop(): Promise<void> {
  for (const connection of opened) connection.close()
  await gateway.close()
}

const named =
  (name: string, id?: unknown) =>
  (event: ReadEvent): boolean =>
    event.name === name && (id === undefined || event.data['id'] === id)

async function request(): Promise<string> {
  const answer = await gateway.ask({ format: 'messages', isStream: false })
  return String(answer.headers['x-turnpike-request-id'])
}

describe('a reader', () => {
  before(start)
  after(stop)
  afterEach(() => {
    for (const connection of opened.splice(0)) connection.close()
  })

  test('gets every kind of event in the form of its list', async () => {
    const { context } = gateway
    const feed = await follow()
    assert.equal(feed.status, 200)
    assert.match(String(feed.headers['content-type']), /^text\/event-stream/)
    assert.equal(feed.headers['cache-control'], 'no-store')
    const id = await request()
    await feed.next(named('request', id))
    await changeAccount(context, { account: gateway.account.name, rpm: 60 })
    await feed.next(({ data }) => data['action'] === 'account.limits')
    await feed.next(({ name, data }) => name === 'changed' && data['area'] === 'accounts')
    await switchChannel(context, { channel: 'alpha-main', override: 'disabled' })
    await feed.next(({ name, data }) => name === 'channel' && data['to'] === 'disabled')
    await switchChannel(context, { channel: 'alpha-main', override: 'enabled' })
    const finding = {
      kind: 'backup.too_old',
      subject: '',
      title: 'There is no backup',
      text: 'Make one.',
      facts: { hours: null },
    } as const
    const observe = (findings: readonly (typeof finding)[], firing: unknown[]): Promise<void> =>
      applyObservation(
        context.database,
        { kinds: ['backup.too_old'], findings, firing: firing as never },
        Date.now(),
      )
    await observe([finding], [])
    const fired = await feed.next(({ data }) => data['event'] === 'firing')
    await context.database.query('UPDATE alert SET resolved_at_ms = $1', [Date.now()])
    await feed.next(({ data }) => data['event'] === 'resolved' && data['id'] === fired.data['id'])
    const run = runOf({
      scope: 'recent',
      actor: 'gateway:test',
      startedAtMs: Date.now(),
      durationMs: 1,
      error: new Error('no disk'),
    })
    await saveRun(context.database, run)
    await feed.next(({ name, data }) => name === 'audit' && data['error'] === 'no disk')

    for (const { name, data } of feed.events) {
      const shape = eventFeeds.follow.events[name as keyof typeof eventFeeds.follow.events]
      const parsed = shape.safeParse(data)
      assert.ok(parsed.success, `${name}: ${parsed.error?.message}`)
    }
    assert.equal(feed.events.filter(named('request', id)).length, 1)
  })

  test('gets only the kinds that it names', async () => {
    const feed = await follow('?kinds=action,changed')
    const id = await request()
    const { context, account } = gateway
    await changeAccount(context, { account: account.name, rpm: 90 })
    await feed.next(({ data }) => data['action'] === 'account.limits')
    await feed.next(named('changed'))
    const all = await follow('?kinds=request')
    const later = await request()
    await all.next(named('request', later))
    assert.deepEqual(new Set(feed.events.map(({ name }) => name)), new Set(['action', 'changed']))
    assert.ok(!all.events.some(named('request', id)), 'it begins at the moment it connects')
  })

  test('goes on where it stopped, and misses nothing', async () => {
    const feed = await follow()
    await feed.next(named('request', await request()))
    feed.close()
    const missed = [await request(), await request(), await request()]
    const again = await follow('', { 'last-event-id': feed.lastId })
    for (const id of missed) await again.next(named('request', id))
    const order = again.events.filter(named('request')).map(({ data }) => data['id'])
    assert.deepEqual(order.slice(-3), missed)
    const byQuery = await follow(`?after=${feed.lastId}&kinds=request`)
    for (const id of missed) await byQuery.next(named('request', id))
    // Once each, also where the next round looks at them again.
    const last = await request()
    await again.next(named('request', last))
    for (const id of [...missed, last])
      assert.equal(again.events.filter(named('request', id)).length, 1)
  })

  test('hears of a gap where it has missed too much, and gets the newest', async () => {
    const { context } = gateway
    const feed = await follow()
    feed.close()
    await context.database.transact(async (transaction) => {
      for (let count = 0; count < 700; count++)
        await transaction.query(
          `INSERT INTO operator_action (at_ms, actor, action, subject)
           VALUES (1, 'test', 'test.made', $1)`,
          [String(count)],
        )
    })
    const again = await follow(`?after=${feed.lastId}`)
    const gap = await again.next(named('gap'))
    assert.deepEqual(gap.data, { kind: 'action', skipped: 200 })
    await again.next(({ data }) => data['subject'] === '699')
    const subjects = again.events
      .filter(({ data }) => data['action'] === 'test.made')
      .map(({ data }) => Number(data['subject']))
    assert.deepEqual(
      subjects,
      Array.from({ length: 500 }, (_, index) => 200 + index),
    )
  })

  test('hears of gaps where the store is an older one', async () => {
    const feed = await follow()
    const positions = parseCursor(feed.lastId)
    assert.ok(positions !== undefined)
    const ahead = formatCursor({ ...positions, ledger_audit: 1e6, operator_action: 1e6 })
    const again = await follow(`?after=${ahead}`)
    await again.next(({ name, data }) => name === 'gap' && data['kind'] === 'audit')
    await again.next(({ name, data }) => name === 'gap' && data['kind'] === 'action')
  })

  test('hears of a gap where it has missed too many bytes, and goes on', async () => {
    const { database } = gateway.context
    const feed = await follow()
    feed.close()
    const detail = JSON.stringify({ text: 'x'.repeat(900_000) })
    for (const subject of ['one', 'two', 'three'])
      await database.query(
        `INSERT INTO operator_action (at_ms, actor, action, subject, detail)
         VALUES (1, 'test', 'test.made', $1, $2)`,
        [subject, detail],
      )
    const again = await follow(`?after=${feed.lastId}&kinds=action,request`)
    await again.next(named('request', await request()))
    const gap = { name: 'gap', data: { kind: 'action', skipped: null } }
    assert.deepEqual(again.events[0], gap)
    assert.ok(!again.events.some(({ data }) => data['action'] === 'test.made'))
    const next = await follow(`?after=${again.lastId}&kinds=action`)
    await changeAccount(gateway.context, { account: gateway.account.name, note: 'later' })
    await next.next(({ data }) => data['action'] === 'account.edit')
    assert.equal(next.events.filter(named('gap')).length, 0)
  })

  test('hears of a gap where the newest requests are gone, and of those that come', async () => {
    const feed = await follow('?kinds=request')
    for (let count = 0; count < 3; count++) await feed.next(named('request', await request()))
    await gateway.context.database.query('DELETE FROM exchange')
    await feed.next(named('gap'))
    const later = await request()
    await feed.next(named('request', later))
    assert.equal(feed.events.filter(named('request', later)).length, 1)
  })

  test('is refused with a wrong id, kind or field', async () => {
    for (const query of ['?after=nonsense', '?kinds=request,money', '?kinds=', '?since=now'])
      assert.equal((await follow(query)).status, 400, query)
    assert.equal((await follow('', { 'last-event-id': '0' })).status, 400)
  })
})

describe('a feed', () => {
  beforeEach(start)
  afterEach(stop)

  test('ends with its token', async () => {
    const feed = await follow()
    const { secret } = await createAdminToken(gateway.context, { name: 'another' })
    const other = await openEvents(`${gateway.adminUrl}/admin/v1/events`, {
      authorization: `Bearer ${secret}`,
    })
    opened.push(other)
    await revokeKey(gateway.context, { id: token.id, kind: 'admin' })
    assert.equal(await feed.ended, true)
    assert.equal((await follow()).status, 401)
    await changeAccount(gateway.context, { account: gateway.account.name, note: 'go on' })
    await other.next(({ data }) => data['action'] === 'account.edit')
  })

  test('ends completely when the gateway stops', async () => {
    const feed = await follow()
    const drained = gateway.app.drain(1_000)
    assert.equal(await feed.ended, true)
    await drained
  })

  test('has a bounded number of readers', async () => {
    const readers = await Promise.all(Array.from({ length: listenersMax }, () => follow()))
    assert.ok(readers.every(({ status }) => status === 200))
    const refused = await follow()
    assert.equal(refused.status, 503)
    assert.equal(refused.headers['retry-after'], '5')
    readers[0]?.close()
    await eventually(
      'a free place',
      () => follow(),
      ({ status }) => status === 200,
    )
  })

  test('closes a reader that does not read, and serves the others', async () => {
    const { database } = gateway.context
    const readers = await Promise.all(
      Array.from({ length: listenersMax }, () => follow('?kinds=action')),
    )
    const [slow, fast] = readers
    slow?.pause()
    const detail = JSON.stringify({ text: 'x'.repeat(1_500_000) })
    const write = (subject: string): Promise<unknown> =>
      database.query(
        `INSERT INTO operator_action (at_ms, actor, action, subject, detail)
         VALUES (1, 'test', 'test.made', $1, $2)`,
        [subject, detail],
      )
    let count = 0
    await eventually(
      'the place of the slow reader',
      async () => {
        await write(String(++count))
        await fast?.next(({ data }) => data['subject'] === String(count))
        return follow('?kinds=action')
      },
      ({ status }) => status === 200,
    )
    assert.ok(count * 1_500_000 > 2 * 1024 * 1024, `${count} events of 1.5 MB`)
    const actions = await recentActions(gateway.context, { limit: 1 })
    assert.equal(actions[0]?.subject, String(count))
  })
})
