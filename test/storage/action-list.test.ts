/** The operators' log, filtered and page by page; operations-on-postgres.test.ts runs it there too. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { Secret } from '../../src/base/secret.ts'
import { recentActions as listActions } from '../../src/operations/store/action-list.ts'
import { valueOf, type OperationContext } from '../../src/operations/operation.ts'
import { noCheck } from '../../src/operations/channels/run-check.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { ManualClock } from '../support/manual-clock.ts'
import {
  createAccount,
  createAdminToken,
  createClientKey,
  createReaderToken,
  recentActions,
  revokeKey,
  setAccountStatus,
} from '../support/operations.ts'
import { openNewStore } from '../support/test-store.ts'

const hourMs = 3_600_000
const folder = mkdtempSync(join(tmpdir(), 'turnpike-actions-'))
const clock = new ManualClock(Date.parse('2026-11-21T00:00:00Z'))
let context: OperationContext
let keyId: string

before(async () => {
  const database = await openNewStore(folder)
  await migrate(database)
  context = {
    database,
    clock,
    actor: 'cli:ada',
    masterKey: () => new Secret('5'.repeat(64)),
    environment: () => undefined,
    runCheck: noCheck,
  }
  const { key: token } = await createAdminToken(context, { name: 'night shift' })
  const byToken = { ...context, actor: token.id }
  await createAccount(context, { name: 'acme' })
  clock.advance(hourMs)
  await createAccount(byToken, { name: 'other' })
  clock.advance(hourMs)
  const { key } = await createClientKey(byToken, { account: 'acme', name: 'ci' })
  keyId = key.id
  await createReaderToken(context, { account: 'acme' })
  clock.advance(22 * hourMs)
  await revokeKey(context, { id: keyId, kind: 'client' })
  await setAccountStatus(byToken, { account: 'acme', status: 'suspended' })
})

after(async () => {
  await context.database.close()
  rmSync(folder, { recursive: true, force: true })
})

async function found(filter: object): Promise<string> {
  return (await recentActions(context, filter)).map(({ action }) => action).join(' ')
}

test('are found by action, by area, by actor and by subject', async () => {
  assert.equal(await found({ action: 'key.revoke' }), 'key.revoke')
  assert.equal(await found({ action: 'account' }), 'account.suspend account.create account.create')
  assert.equal(await found({ action: 'acc' }), '')
  assert.equal(await found({ actor: 'cli:ada', action: 'account' }), 'account.create')
  assert.equal(await found({ actor: 'night shift' }), 'account.suspend key.create account.create')
  const [suspended] = await recentActions(context, { limit: 1 })
  assert.equal(
    await found({ actor: suspended?.actor }),
    'account.suspend key.create account.create',
  )
  assert.equal(await found({ subject: keyId }), 'key.revoke key.create')
  assert.equal(await found({ subject: 'acme' }), 'account.suspend account.create')
  assert.equal(await found({ action: 'session.end-all' }), '')
})

test('of an account are found with those of its keys and tokens', async () => {
  assert.equal(
    await found({ account: 'acme' }),
    'account.suspend key.revoke key.create key.create account.create',
  )
  assert.equal(await found({ account: 'other' }), 'account.create')
  assert.equal(await found({ account: 'acme', subject: keyId }), 'key.revoke key.create')
  assert.equal(await found({ account: 'other', subject: keyId }), '')
  assert.equal(await found({ account: 'other', subject: 'acme' }), '')
})

test('are found by time, and page by page with a filter', async () => {
  assert.equal(await found({ from: '2026-11-22' }), 'account.suspend key.revoke')
  assert.equal(
    await found({ from: '2026-11-21T01:00:00Z', to: '2026-11-21T02:00:00Z' }),
    'account.create',
  )
  const filter = { account: 'acme', limit: 2 }
  const first = valueOf(await listActions(context, filter))
  const second = valueOf(await listActions(context, { ...filter, cursor: first.next_cursor }))
  const third = valueOf(await listActions(context, { ...filter, cursor: second.next_cursor }))
  assert.deepEqual(
    [first, second, third].map(({ items }) => items.length),
    [2, 2, 1],
  )
  assert.equal(third.next_cursor, null)
})

test('refuse an unknown account and words that are no action', async () => {
  const refusal = async (filter: object): Promise<string> => {
    const outcome = await listActions(context, filter)
    return outcome.kind === 'refusal' ? outcome.message : ''
  }
  assert.match(await refusal({ account: 'nowhere' }), /There is no account nowhere/)
  assert.match(await refusal({ action: 'key.' }), /^action: must be an action such as key.revoke/)
})
