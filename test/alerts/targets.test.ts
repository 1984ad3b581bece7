/** Which messages a target gets: from a severity on, how many may wait, the contacts of accounts. */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, test } from 'node:test'
import type { Mail } from '../../src/operations/alerts/mailer.ts'
import { alertEndpoints } from '../../src/operations/alerts/endpoints.ts'
import { alertDeliveries } from '../../src/operations/alerts/log.ts'
import { valueOf } from '../../src/operations/operation.ts'
import { changeAccount, createAccount } from '../support/operations.ts'
import { alertKindNames } from '../../src/operations/alerts/alert-kind.ts'
import { applyObservation } from '../../src/operations/alerts/raise.ts'
import { dataOf, openBench, startReceiver, type AlertBench, type Receiver } from './harness.ts'

describe('a target', () => {
  let bench: AlertBench
  let receiver: Receiver
  beforeEach(async () => {
    bench = await openBench('2026-11-21T21:00:00Z')
    receiver = await startReceiver()
  })
  afterEach(async () => {
    assert.deepEqual(bench.faults, [])
    await receiver.close()
    await bench.close()
  })

  const typesOf = (): readonly string[] =>
    receiver.received.map(({ body }) => (JSON.parse(body) as { type: string }).type)

  it('gets each alert as a message of its own, however many begin at the same moment', async () => {
    await bench.addWebhook('pager', receiver.url)
    const node = bench.node()
    const subjects = Array.from({ length: 150 }, (_, index) => `c${index}`)
    await bench.observe('channel.off', subjects)
    await bench.pass(4, [node])
    assert.deepEqual(new Set(typesOf()), new Set(['channel.off']))
    assert.equal(receiver.received.length, subjects.length)
    const told = receiver.received.map((one) => dataOf(one)['subject'])
    assert.deepEqual(new Set(told), new Set(subjects))
    await node.close()
  })

  it('gets the alerts of its severity, and nothing after it was deleted', async () => {
    await bench.addWebhook('critical', receiver.url, { min_severity: 'critical' })
    const node = bench.node()
    await bench.observe('channel.off', ['a'])
    await bench.observe('model.reserve_only', ['m'])
    await bench.observe('channel.no_credit', ['a'])
    await bench.pass(2, [node])
    assert.deepEqual(typesOf(), ['channel.no_credit'])
    valueOf(await alertEndpoints.remove.operation(bench.context, { target: 'critical' }))
    await bench.observe('channel.no_credit', [])
    await bench.pass(2, [node])
    assert.equal(receiver.received.length, 1)
    await node.close()
  })

  it('gets a test message whatever its severity', async () => {
    await bench.addWebhook('pager', receiver.url, { min_severity: 'critical' })
    const node = bench.node()
    valueOf(await alertEndpoints.test.operation(bench.context, { target: 'pager' }))
    await bench.pass(2, [node])
    assert.deepEqual(typesOf(), ['alert.test'])
    const [line] = valueOf(await alertDeliveries(bench.context, { target: 'pager' })).items
    assert.equal(line?.state, 'delivered')
    assert.equal(valueOf(await alertEndpoints.firing.operation(bench.context, {})) !== null, true)
    await node.close()
  })

  it('keeps at most a thousand messages waiting, and says what it dropped', async () => {
    await bench.addWebhook('pager', 'http://127.0.0.1:1/')
    for (let batch = 1; batch <= 3; batch++)
      await bench.observe(
        'channel.off',
        Array.from({ length: batch * 400 }, (_, at) => `c${at}`),
      )
    const rows = await bench.database.query(
      'SELECT state, COUNT(*) AS lines FROM alert_delivery GROUP BY state ORDER BY state',
    )
    assert.deepEqual(
      rows.map(({ state, lines }) => [state, Number(lines)]),
      [
        ['dropped', 200],
        ['waiting', 1_000],
      ],
    )
  })
})

test('the contact of an account gets its own alerts, in words for the account holder', async () => {
  const bench = await openBench()
  const mails: Mail[] = []
  const mail = (one: Mail) => {
    mails.push(one)
    return Promise.resolve({ kind: 'accepted' as const })
  }
  const first = bench.node()
  await first.close()
  const node = bench.node({
    sending: {
      clock: bench.clock,
      masterKey: bench.context.masterKey,
      region: 'test',
      post: () => Promise.reject(new Error('no post')),
      mail,
    },
  })
  const create = { name: 'holders', format: 'email', address: 'contact' }
  valueOf(await alertEndpoints.create.operation(bench.context, create))
  for (const name of ['acme', 'globex', 'silent'])
    await createAccount(bench.context, {
      name,
      balance_usd: '4',
      alert_below_usd: '5',
      ...(name !== 'silent' && { contact: `billing@${name}.example` }),
    })
  await bench.pass(20, [node])
  assert.deepEqual(mails.map(({ to }) => to).toSorted(), [
    'billing@acme.example',
    'billing@globex.example',
  ])
  for (const { to, subject, text } of mails) {
    const own = to.includes('acme') ? 'acme' : 'globex'
    const other = own === 'acme' ? 'globex' : 'acme'
    assert.match(subject, new RegExp(own))
    assert.doesNotMatch(`${subject} ${text}`, new RegExp(`${other}|turnpike|acc_`, 'i'))
  }
  await changeAccount(bench.context, { account: 'acme', alert_below_usd: '1' })
  await bench.pass(20, [node])
  assert.equal(mails.length, 3)
  assert.match(mails[2]?.subject ?? '', /^Resolved: /)
  assert.deepEqual(bench.faults, [])
  await node.close()
  await bench.close()
})

test('the contact of an account gets no kind that is for the operator, and no facts of any kind', async () => {
  const bench = await openBench()
  const mails: Mail[] = []
  const node = bench.node({
    sending: {
      clock: bench.clock,
      masterKey: bench.context.masterKey,
      region: 'test',
      post: () => Promise.reject(new Error('no post')),
      mail(one) {
        mails.push(one)
        return Promise.resolve({ kind: 'accepted' as const })
      },
    },
  })
  const create = { name: 'holders', format: 'email', address: 'contact' }
  valueOf(await alertEndpoints.create.operation(bench.context, create))
  const contact = 'billing@acme.example'
  const { id: accountId } = await createAccount(bench.context, { name: 'acme', contact })
  // Every kind is about this account.
  for (const kind of alertKindNames) {
    const facts = {
      account: 'acme',
      balance_usd: '1',
      hours_left: 9,
      key_name: 'ci',
      limit_of: 'day',
      limit_usd: '2',
      operator: 'operator-fact',
      period: '2026-11',
      step: 50,
      used_usd: '2',
    }
    const text = 'operator-text'
    const finding = { kind, subject: accountId, accountId, title: `Title ${kind}`, text, facts }
    const options = { database: bench.database, onNotice: () => undefined }
    await applyObservation(options, { kinds: [kind], findings: [finding] }, bench.clock.now())
  }
  await bench.pass(2, [node])
  assert.deepEqual(
    // The accounts are looked at too, and nothing is wrong with this one.
    mails.flatMap(({ subject }) => (subject.startsWith('Resolved: ') ? [] : subject)).toSorted(),
    [
      '50 % of the daily limit of acme is used',
      'Balance of acme is low: 1 USD',
      'Balance of acme is used up',
      'Balance of acme lasts about 9 h',
      'Daily limit of acme is reached',
      'Limit of the key ci of acme is reached (2026-11)',
      'Monthly limit of acme is reached',
    ],
  )
  for (const { to, text } of mails) {
    assert.equal(to, contact)
    assert.doesNotMatch(text, /operator-|acc_/)
  }
  assert.deepEqual(bench.faults, [])
  await node.close()
  await bench.close()
})
