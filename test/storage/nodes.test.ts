/** The gateways of a store as operators see them, from their start to a clean or an unclean stop. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Secret } from '../../src/base/secret.ts'
import { listNodes } from '../../src/operations/store/nodes.ts'
import { valueOf, type OperationContext } from '../../src/operations/operation.ts'
import { noCheck } from '../../src/operations/channels/run-check.ts'
import { openMembership, type Membership } from '../../src/storage/membership.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { openSqlite } from '../../src/storage/sqlite/sqlite.ts'
import { ManualClock } from '../support/manual-clock.ts'

const startMs = Date.parse('2026-11-21T12:00:00Z')

test('show their program and state: running, draining, stopped, missing', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-nodes-'))
  const database = openSqlite(join(folder, 'store.db'))
  try {
    await migrate(database)
    const clock = new ManualClock(startMs)
    const context: OperationContext = {
      database,
      clock,
      actor: 'test',
      masterKey: () => new Secret('5'.repeat(64)),
      environment: () => undefined,
      runCheck: noCheck,
    }
    const start = async (name: string, commit: string | null): Promise<Membership> => {
      const membership = await openMembership({
        clock,
        database,
        name,
        region: 'north',
        build: { version: '1.2.3', commit },
        onError: (error) => assert.fail(String(error)),
      })
      membership.join({
        tasks: [],
        exchange: (round) =>
          round.isHeartbeat ? round.transact(() => Promise.resolve()) : Promise.resolve(),
      })
      await membership.exchange()
      return membership
    }
    const states = async (): Promise<string> => {
      const { nodes } = valueOf(await listNodes(context, {}))
      return nodes.map(({ name, state }) => `${name} ${state}`).join(', ')
    }
    const one = await start('one', 'abc1234')
    clock.advance(1_000)
    await one.exchange()
    const [shown] = valueOf(await listNodes(context, {})).nodes
    assert.deepEqual(shown, {
      id: one.node,
      name: 'one',
      region: 'north',
      version: '1.2.3',
      commit: 'abc1234',
      state: 'running',
      started_at: '2026-11-21T12:00:00.000Z',
      seen_at: '2026-11-21T12:00:00.000Z',
      age_ms: 1_000,
      stopped_at: null,
    })
    one.noteDraining()
    await one.exchange()
    const two = await start('two', null)
    assert.equal(await states(), 'one draining, two running')
    await one.leave()
    assert.equal(await states(), 'one stopped, two running')
    await two.leave()
    // A process that is killed sends no heartbeat and says nothing.
    await database.query("UPDATE gateway_node SET ended_at_ms = NULL WHERE name = 'two'")
    clock.advance(15_000)
    const { nodes, unclean_stops: stops } = valueOf(await listNodes(context, {}))
    assert.deepEqual(
      nodes.map(({ name, state, version }) => [name, state, version]),
      [
        ['one', 'stopped', '1.2.3'],
        ['two', 'missing', '1.2.3'],
      ],
    )
    assert.deepEqual(stops, [{ node: 'two', from: '2026-11-21T12:00:01.000Z', to: null }])
  } finally {
    await database.close()
    rmSync(folder, { recursive: true })
  }
})
