/** Audits as rows: who ran each, what it found, one full audit at a time, and how long rows are kept. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../src/base/random.ts'
import { channelEndpoints } from '../../src/operations/channels/endpoints.ts'
import { storeEndpoints } from '../../src/operations/store/endpoints.ts'
import { runOf, saveRun } from '../../src/operations/store/audit-runs.ts'
import { startBookkeeping, type Bookkeeping } from '../../src/operations/store/bookkeeping.ts'
import { valueOf, type OperationContext } from '../../src/operations/operation.ts'
import { showOverview } from '../../src/operations/reports/overview.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { createAdminToken, recentActions } from '../support/operations.ts'
import { callRow } from './world.ts'
import { withScenario } from '../support/scenario.ts'

function open(store: string): Bookkeeping {
  return startBookkeeping({
    clock: new ManualClock(),
    random: seededRandom(1),
    store,
    auditIntervalMs: 3_600_000,
    requestRetentionMs: 86_400_000,
    onAudit: () => undefined,
    onRetention: () => undefined,
    onError: () => undefined,
  })
}

test('an audit leaves a row with its differences, under the token that ran it', () =>
  withScenario({}, async ({ context, adminUrl, account }) => {
    const { key, secret } = await createAdminToken(context, { name: 'auditor' })
    const headers = { authorization: `Bearer ${secret}` }
    const setBalance = (picos: string): Promise<unknown> =>
      context.database.query('UPDATE account SET balance_picos = $1 WHERE id = $2', [
        BigInt(picos),
        account.id,
      ])
    const [row] = await context.database.query('SELECT balance_picos FROM account')
    await setBalance('17')
    const answer = await callRow(adminUrl, storeEndpoints.audit, {}, headers)
    await setBalance(String(row?.['balance_picos']))
    assert.equal(answer.status, 200, answer.text)
    const { is_recorded: isRecorded, ...done } = JSON.parse(answer.text) as Record<string, unknown>
    assert.equal(isRecorded, true)
    assert.deepEqual([done['scope'], done['result'], done['actor']], ['full', 'failed', key.id])

    const shown = await callRow(adminUrl, storeEndpoints.showAudit, { id: done['id'] }, headers)
    assert.deepEqual(JSON.parse(shown.text), done)
    const [difference] = done['differences'] as readonly { readonly row: string }[]
    assert.equal(difference?.row, `account ${account.id}`)
    const { differences: _, ...line } = done
    const { items } = valueOf(await storeEndpoints.audits.operation(context, {}))
    assert.deepEqual(items, [line])
    const { last_audit: last } = valueOf(await showOverview(context, {}))
    assert.deepEqual([last?.id, last?.result, last?.differences], [done['id'], 'failed', 1])
    const none = await callRow(adminUrl, storeEndpoints.showAudit, { id: 'aud_none' }, headers)
    assert.equal(none.status, 404)
  }))

test('a second full audit on a gateway is refused while one runs, and leaves no row', () =>
  withScenario({}, async ({ context, storeUrl }) => {
    const bookkeeping = open(storeUrl)
    const gateway: OperationContext = {
      ...context,
      auditInBackground: () => bookkeeping.auditFully(),
    }
    const first = storeEndpoints.audit.operation(gateway, {})
    const second = await storeEndpoints.audit.operation(gateway, {})
    assert.equal(second.kind === 'refusal' && second.code, 'operations.conflict')
    assert.equal(valueOf(await first).clean, true)
    assert.equal(valueOf(await storeEndpoints.audit.operation(gateway, {})).clean, true)
    assert.equal((await fullAudits(context)).length, 2)

    // A stopped audit has not run, and the list says so.
    const stopped = assert.rejects(
      storeEndpoints.audit.operation(gateway, {}),
      /ended before its work was over/,
    )
    await bookkeeping.close()
    await stopped
    const [last] = await fullAudits(context)
    assert.equal(last?.result, 'not_run')
  }))

/** Newest first. The gateway of the scenario makes short audits meanwhile. */
async function fullAudits(context: OperationContext) {
  const { items } = valueOf(await storeEndpoints.audits.operation(context, {}))
  return items.filter(({ scope }) => scope === 'full')
}

test('an audit of a store that does not answer fails as any other work on it', () =>
  withScenario({}, async ({ context }) => {
    const bookkeeping = open('postgres://someone@127.0.0.1:1/none')
    const gateway = { ...context, auditInBackground: () => bookkeeping.auditFully() }
    const failed = storeEndpoints.audit.operation(gateway, {})
    await assert.rejects(failed, { name: 'GatewayError', code: 'ledger.unavailable' })
    const [last] = await fullAudits(context)
    assert.deepEqual([last?.result, last?.clean], ['not_run', false])
    await bookkeeping.close()
  }))

test('rows are removed after 90 days, but the last result of each kind of audit stays', () =>
  withScenario({}, async ({ context }) => {
    const dayMs = 86_400_000
    const audit = {
      clean: true,
      exchanges_from: null,
      counts: { accounts: 1, entries: 1, exchanges: 0, charges: 0, differences: 0 },
      differences: [],
    }
    const record = (scope: 'full' | 'recent', ageDays: number): Promise<void> =>
      saveRun(
        context.database,
        runOf({
          scope,
          actor: 'gateway:a',
          startedAtMs: Date.now() - ageDays * dayMs,
          durationMs: 5,
          audit,
        }),
      )
    await record('full', 200)
    await record('full', 199)
    await record('recent', 198)
    await record('recent', 89)
    await record('recent', 0)
    const { items } = valueOf(await storeEndpoints.audits.operation(context, {}))
    const ages = items.map(({ scope, at }) => [
      scope,
      Math.round((Date.now() - Date.parse(at)) / dayMs),
    ])
    assert.deepEqual(ages, [
      ['recent', 0],
      ['recent', 89],
      ['full', 199],
    ])
  }))

test('the log of actions has the name of the token beside its id, and checks of channels', () =>
  withScenario({ channels: { every: { check: 'none' } } }, async ({ context, adminUrl }) => {
    const { key, secret } = await createAdminToken(context, { name: 'ada', role: 'operator' })
    const answer = await callRow(
      adminUrl,
      channelEndpoints.check,
      { channel: 'alpha-main' },
      {
        authorization: `Bearer ${secret}`,
      },
    )
    assert.equal(answer.status, 200, answer.text)
    const [last, ...before] = await recentActions(context)
    assert.deepEqual(
      [last?.action, last?.subject, last?.actor, last?.actor_name],
      ['channel.check', 'alpha-main', key.id, 'ada'],
    )
    assert.deepEqual([before[0]?.actor, before[0]?.actor_name], ['test', null])
  }))
