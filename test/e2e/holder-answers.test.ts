/**
 * Long answers to account holders: complete for any length, never taken for complete when they are not, and
 * at the pace of their clients, which keep neither each other nor operators waiting. Runs on either store.
 */
import assert from 'node:assert/strict'
import { text as readText } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { utcDay } from '../../src/base/clock.ts'
import { newId } from '../../src/base/id.ts'
import { reportAmountColumns, reportCountColumns } from '../../src/ledger/report-day.ts'
import { readsPerMinuteMax, runningPerAccountMax } from '../../src/api/usage/reads-under-way.ts'
import type { TestAccount } from '../support/accounts.ts'
import { openUnread, send, usage, type WireAnswer } from '../support/http-client.ts'
import { createAdminToken } from '../support/operations.ts'
import { failoverDefaults, scenario, type Scenario } from '../support/scenario.ts'

/** About 7 MB as JSON: more than the sockets of one connection take. */
const chargesCount = 30_000

let gateway: Scenario
let account: TestAccount
let tail: TestAccount

function headersOf({ token }: TestAccount): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}` }
}

function ask(path: string, of = account, method = 'GET'): Promise<WireAnswer> {
  return send(`${gateway.url}/v1/usage${path}`, { method, headers: headersOf(of) })
}

/** Charges of a pico-dollar each, with their balance and the report of the day. */
async function chargeMany({ id }: TestAccount): Promise<void> {
  const nowMs = Date.now()
  await gateway.context.database.transact(async (transaction) => {
    await transaction.query(
      `INSERT INTO entry (account_id, kind, reference, amount_picos, created_at_ms)
       WITH RECURSIVE number (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM number WHERE value < ${chargesCount})
       SELECT $1, 'charge', CAST($2 AS TEXT) || CAST(1000000 + value AS TEXT), -1, $3 FROM number`,
      [id, newId('ex', nowMs).slice(0, 13), nowMs],
    )
    await transaction.query('UPDATE account SET balance_picos = balance_picos - $2 WHERE id = $1', [
      id,
      chargesCount,
    ])
    await transaction.query(
      'UPDATE report_day SET revenue_picos = revenue_picos + $2 WHERE account_id = $1',
      [id, chargesCount],
    )
  })
}

const figureColumns = [...reportCountColumns, ...reportAmountColumns]
const insertDays = `INSERT INTO report_day (account_id, day, key_id, model, channel, label, ${figureColumns.join(', ')})`
const ones = figureColumns.map(() => 1).join(', ')

interface Statement {
  readonly opening_balance: string
  readonly closing_balance: string
  readonly balance_usd: number
  readonly entries: readonly { readonly amount: string; readonly kind: string }[]
  readonly totals: { readonly requests: number }
}

describe('long answers to account holders', () => {
  before(async () => {
    gateway = await scenario(failoverDefaults)
    account = gateway.account
    tail = await gateway.createAccount()
    for (const { key } of [account, tail])
      assert.equal((await gateway.ask({ format: 'messages', isStream: false, key })).status, 200)
    await chargeMany(account)
  })
  after(() => gateway.close())

  test('a statement of any length is complete, as JSON and as CSV', async () => {
    const answer = await ask('/statement')
    assert.ok(answer.isComplete)
    const statement = JSON.parse(answer.text) as Statement
    assert.equal(statement.totals.requests, chargesCount + 1)
    const { balance_usd: balance } = await usage(gateway.url, account.token)
    assert.equal(Number(statement.closing_balance), balance)
    assert.equal(statement.balance_usd, balance)
    const csv = await ask('/statement?format=csv')
    assert.ok(csv.isComplete)
    const rows = csv.text.trim().split('\r\n')
    assert.equal(rows.length, 1 + 1 + statement.entries.length + 1)
    assert.match(rows.at(-1) ?? '', /,closing,,/)
    const head = await ask('/statement?format=csv', account, 'HEAD')
    assert.deepEqual([head.status, head.body.length], [200, 0])
    assert.equal(head.headers['content-type'], 'text/csv; charset=utf-8')
  })

  test('the event loop writes no line of a statement', async () => {
    const { stringify } = JSON
    let lineCount = 0
    JSON.stringify = (value: unknown, ...rest: never[]): string => {
      if (typeof value === 'object' && value !== null && 'sequence' in value) lineCount++
      return stringify(value, ...rest)
    }
    const answer = await ask('/statement').finally(() => {
      JSON.stringify = stringify
    })
    assert.ok(answer.isComplete && answer.body.length > 1_000_000)
    assert.equal(lineCount, 0)
  })

  test('an account that asks too often is told when to ask again, and others are not', async () => {
    const often = await gateway.createAccount()
    const answers = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const statuses = new Map<number, WireAnswer>()
        // A minute may begin between.
        for (let count = 0; count < 2 * readsPerMinuteMax && !statuses.has(429); count++) {
          const answer = await ask('/prices', often)
          statuses.set(answer.status, answer)
        }
        return statuses
      }),
    )
    for (const statuses of answers) {
      const refused = statuses.get(429)
      assert.ok(refused !== undefined)
      assert.match(refused.text, /Ask less often/)
      assert.match(String(refused.headers['retry-after']), /^[1-9]\d?$/)
    }
    assert.equal((await ask('/prices', tail)).status, 200)
  })

  test('a statement that is read slowly shows the moment at which it began', async () => {
    const before = await usage(gateway.url, account.token)
    const unread = await openUnread(`${gateway.url}/v1/usage/statement`, {
      headers: headersOf(account),
    })
    assert.equal((await gateway.ask({ format: 'messages', isStream: false })).status, 200)
    const statement = JSON.parse(await readText(unread)) as Statement
    assert.ok(unread.complete)
    assert.equal(Number(statement.closing_balance), before['balance_usd'])
    assert.equal(statement.balance_usd, before['balance_usd'])
    const { usage: later } = await usage(gateway.url, account.token)
    assert.equal((later as { requests: number }).requests, 2)
    assert.equal(statement.totals.requests, chargesCount + 1)
  })

  test('unread statements keep other accounts, operators and the disk free', async () => {
    const unread = await Promise.all(
      Array.from({ length: runningPerAccountMax }, () =>
        openUnread(`${gateway.url}/v1/usage/statement`, { headers: headersOf(account) }),
      ),
    )
    let isAnswered = false
    const waiting = ask('/days').finally(() => (isAnswered = true))
    for (const path of ['', '/days', '/statement', '/requests'])
      assert.equal((await ask(path, tail)).status, 200, path)
    const { database } = gateway.context
    if (database.dialect === 'sqlite') {
      // A snapshot that lasts would keep pages in the log.
      const [checkpoint] = await database.query('PRAGMA wal_checkpoint(TRUNCATE)')
      assert.equal(checkpoint?.['busy'], 0n)
    }
    assert.equal(isAnswered, false, 'it waits for one of the statements')
    unread[0]?.destroy()
    assert.equal((await waiting).status, 200)
    unread[1]?.destroy()
  })

  test('an operator who waits for the store keeps no account holder waiting', async () => {
    const { secret } = await createAdminToken(gateway.context, { name: 'waits' })
    await ask('/days', tail)
    const created = await gateway.context.database.transact(async () => {
      let isAnswered = false
      const answer = send(`${gateway.adminUrl}/admin/v1/accounts`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'waits for the lock' }),
      }).finally(() => (isAnswered = true))
      for (let count = 0; count < 20; count++) {
        assert.equal((await ask('/days', tail)).status, 200)
        assert.equal(isAnswered, false, 'the operator still waits')
      }
      return { answer }
    })
    assert.equal((await created.answer).status, 201)
  })

  test('a large answer is whole, however slowly it is read', async () => {
    await gateway.context.database.query(
      `${insertDays}
     WITH RECURSIVE number (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM number WHERE value < 9000)
     SELECT $1, $2, 'key_' || value, 'größe-' || value, '', '', ${ones} FROM number`,
      [tail.id, utcDay(Date.now())],
    )
    for (const by of ['key', 'model']) {
      const unread = await openUnread(`${gateway.url}/v1/usage/days?by=${by}`, {
        headers: headersOf(tail),
      })
      const text = await readText(unread)
      assert.ok(unread.complete)
      const { days } = JSON.parse(text) as { days: readonly { requests: number; model?: string }[] }
      assert.equal(days.length, 9001)
      if (by === 'model') assert.ok(days.some(({ model }) => model === 'größe-9000'))
    }
    await gateway.context.database.query(
      `${insertDays}
     WITH RECURSIVE number (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM number WHERE value < 2000)
     SELECT $1, '2026-01-01', 'key_' || value, 'large-1', '', '', ${ones} FROM number`,
      [tail.id],
    )
    const tooLong = await ask('/days?by=key&from=2026-01-01&to=2026-01-31', tail)
    assert.equal(tooLong.status, 200)
    const today = utcDay(Date.now())
    const yearBefore = utcDay(Date.now() - 365 * 86_400_000)
    const whole = await ask(`/days?by=key&from=${yearBefore}&to=${today}`, tail)
    assert.equal(whole.status, 400)
    assert.match(whole.text, /more than 10000 lines. Ask for fewer days/)
  })

  test('a statement that cannot go on never looks complete', async () => {
    const { database } = gateway.context
    const unread = await openUnread(`${gateway.url}/v1/usage/statement?format=csv`, {
      headers: headersOf(account),
    })
    await database.transact((transaction) =>
      transaction.script('ALTER TABLE exchange RENAME TO exchange_away'),
    )
    const rest = readText(unread)
    await assert.rejects(rest, /aborted/)
    assert.equal(unread.complete, false)
    await database.transact((transaction) =>
      transaction.script('ALTER TABLE exchange_away RENAME TO exchange'),
    )
    assert.equal((await ask('/statement', tail)).status, 200)
  })
})
