/**
 * kill -9 of the gateway at every step of an exchange, on PostgreSQL, where holds outlive the process
 * that placed them. Goal: the same as on SQLite, and the dead one's hold expires, once: by the gateway
 * that is started in its place, or by one that was there all along and is the only one left.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { Client } from 'pg'
import { hasTerminalEvent } from '../support/answers.ts'
import { assertClean, chargesOf, vendorPrice, whileChargesWait } from '../support/money.ts'
import { type Ask, formats, openAsk } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { type ProcessScenario, scenario } from '../support/scenario.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { variants } from '../support/variants.ts'
import {
  content,
  leavesHold,
  maxTokens,
  oneRequest,
  pointsOf,
  testCrashes,
  type CrashPoint,
} from './crash-scenario.ts'

/**
 * Short, so that the tests need not wait long; with a peer, long enough that no living node
 * passes for dead.
 */
const leaseAlone = '1s'
const leaseWithPeer = '2s'

/** Gateways say nothing of a hold that has expired, so the store does. */
const notifyOfDeletedHolds = `
  CREATE FUNCTION notify_of_deleted_holds() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN NOTIFY hold_deleted; RETURN NULL; END';
  CREATE TRIGGER hold_deleted AFTER DELETE ON hold
    FOR EACH STATEMENT EXECUTE FUNCTION notify_of_deleted_holds()`

describe('a gateway killed, on PostgreSQL', () => {
  let server: PostgresServer
  before(async () => {
    server = await startPostgres()
  })
  after(() => server.close())
  const open = async (): Promise<ProcessScenario> => {
    const setup = await scenario({ process: 'own', storeUrl: await server.createDatabase() })
    await server.run(notifyOfDeletedHolds, new URL(setup.storeUrl).pathname.slice(1))
    return setup
  }

  // Most of the time of both is waiting for a lease to end.
  describe('in the middle of an exchange', { concurrency: 2 }, () => {
    describe('and restarted', { concurrency: 2 }, () => {
      // Of the other operations only this one leaves something in the store but its charge.
      for (const format of [...formats, 'responses'] as const)
        describe(`while it serves ${format}`, { concurrency: 1 }, () => {
          const settings = { node_lease: leaseAlone }
          testCrashes({ format, points: pointsOf(format), open, settings, untilFree })
        })
    })

    describe('beside a second one', { concurrency: 2 }, () => {
      // Each point with one of the formats: what a peer frees does not depend on it. A peer also knows
      // the state of the answers.
      const served = [
        ['messages', true],
        ['chat', false],
        ['responses', false],
      ] as const
      // In `npm test` with one format: a gateway leaves the same behind for the next one and for a peer.
      for (const [format, isStream] of variants(served, ([one]) => one === 'messages'))
        describe(`while it serves ${format}`, { concurrency: 1 }, () => {
          const settings = { node_lease: leaseWithPeer }
          const points = variants(pointsOf(format), differsForPeer).filter(
            (point) => point.isStream === isStream,
          )
          testCrashes({ format, points, open, settings, hasPeer: true, untilFree })
        })
    })
  })

  describe('while the server is busy with the charge', { concurrency: 1 }, () => {
    for (const isStream of [true, false])
      it(`has charged the answer once, ${isStream ? 'streamed' : 'whole'}`, async () => {
        const setup = await open()
        try {
          const settings = { node_lease: leaseWithPeer }
          const gateway = await setup.start(settings)
          await setup.start(settings)
          const account = await setup.createAccount(oneRequest)
          const ask: Ask = { format: 'messages', isStream, maxTokens, marker: 'busy' }
          const client = openAsk(gateway.url, account.key, { ...ask, sandbox: content })
          const ended = client.ended.catch(() => ({ text: '', isComplete: false }))
          await whileChargesWait(setup.context.database, async () => {
            await untilChargeWaits(server)
            gateway.signal('SIGKILL')
            await gateway.ended
          })
          const { text, isComplete } = await ended
          assert.ok(!isComplete && !hasTerminalEvent(text, ask.format))
          // The server finishes its statement, although its client is gone.
          assert.equal(await expiredWhenFree(setup, account), 0n)
          const [record] = setup.sandbox.log.forMarker('busy')
          assert.ok(record !== undefined)
          const charges = await chargesOf(setup.context.database, account.id)
          assert.deepEqual([...charges.values()], [vendorPrice(record)])
          await assertClean(setup)
        } finally {
          await setup.close()
        }
      })
  })
})

/** The first and the last step that leave a hold, and both that leave a charge. */
function differsForPeer({ name }: CrashPoint): boolean {
  return [
    'after the hold',
    'before the charge',
    'after the charge',
    'after the last bytes',
  ].includes(name)
}

/** Of a dead node's hold there is one record, and where there was none there is none. */
async function untilFree(
  setup: ProcessScenario,
  account: TestAccount,
  point: CrashPoint,
): Promise<void> {
  assert.equal(await expiredWhenFree(setup, account), leavesHold(point) ? 1n : 0n)
}

/** Once nothing is set aside for the account any more: how many of its holds have expired. */
async function expiredWhenFree(setup: ProcessScenario, account: TestAccount): Promise<unknown> {
  const listener = new Client({ connectionString: setup.storeUrl })
  await listener.connect()
  try {
    await listener.query('LISTEN hold_deleted')
    for (;;) {
      const deleted = once(listener, 'notification')
      const [row] = await setup.context.database.query(
        `SELECT held_picos, (SELECT COUNT(*) FROM hold WHERE account_id = a.id) AS holds,
                (SELECT COUNT(*) FROM expired_hold WHERE account_id = a.id) AS expired
           FROM account a WHERE id = $1`,
        [account.id],
      )
      if (row?.['held_picos'] === 0n && row['holds'] === 0n) return row['expired']
      await deleted
    }
  } finally {
    await listener.end()
  }
}

/** Resolves when a statement that wants to write entries waits for its turn. */
async function untilChargeWaits(server: PostgresServer): Promise<void> {
  const waiting = `SELECT count(*) FROM pg_stat_activity
    WHERE wait_event_type = 'Lock' AND query LIKE '%settle_%'`
  while ((await server.run(waiting)) === '0');
}
