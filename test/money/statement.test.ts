/**
 * `turnpike account statement` beside a running gateway: exchanges of each operation, streamed and
 * not, cached, cut short and refused, then the command in a process of its own. Every line is worked
 * out again here from its counts and prices, and the totals are compared with `/v1/usage`.
 */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { picosPerUsd } from '../../src/base/money.ts'
import {
  statementForm,
  type StatementEnd,
  type StatementHead,
  type StatementLine,
} from '../../src/operations/reports/statement-form.ts'
import { charge, holdRequest, makeAccount, mustPlace, recordOf } from '../storage/ledger-harness.ts'
import { openEmbedded } from '../storage/embedded-harness.ts'
import { runCommand } from '../support/command-hosts.ts'
import { readStatement } from '../support/statement.ts'
import { type Ask, bodyFormats, formsOf, sendAsk } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario } from '../support/scenario.ts'
import { usage } from '../support/http-client.ts'
import { creditAccount } from '../support/operations.ts'

type Statement = StatementHead & StatementEnd & { readonly entries: readonly StatementLine[] }

let gateway: Awaited<ReturnType<typeof scenario>>
let account: TestAccount
let statement: Statement
let asked = 0

const asks: readonly Pick<Ask, 'sandbox' | 'isStream'>[] = [
  { isStream: false, sandbox: 'output=8' },
  { isStream: true, sandbox: 'output=20; event_delay_ms=0' },
  { isStream: true, sandbox: 'cached=40; output=5' },
  { isStream: true, sandbox: 'usage=none; output=9' },
  { isStream: false, sandbox: 'error=400' },
]

before(async () => {
  gateway = await scenario()
  account = await gateway.createAccount()
  await creditAccount(gateway.context, {
    account: account.name,
    amount_usd: '2.5',
    reference: '=cmd()',
    note: 'ab;cd',
  })
  for (const format of bodyFormats)
    for (const ask of asks) {
      if (ask.isStream && !formsOf(format).includes(true)) continue
      await sendAsk(gateway.url, account.key, { format, ...ask })
      asked++
    }
  await gateway.ended(account, asked)
  const ran = await statementOf(account.name, '--json')
  statement = JSON.parse(ran) as Statement
})
after(() => gateway.close())

async function statementOf(...words: readonly string[]): Promise<string> {
  const ran = await runCommand(['account', 'statement', ...words], {
    cwd: gateway.folder,
    env: { TURNPIKE_STORE: `sqlite:${gateway.folder}/turnpike.db` },
  })
  assert.equal(ran.code, 0, ran.error)
  return ran.out
}

test('the lines add up to the difference of the balances, line by line', () => {
  let balance = exact(statement.opening_balance)
  for (const line of statement.entries) {
    balance += exact(line.amount)
    assert.equal(exact(line.balance), balance, line.reference)
  }
  assert.equal(exact(statement.closing_balance), balance)
  assert.equal(exact(statement.sum), balance - exact(statement.opening_balance))
  assert.equal(statement.balance_usd, Number(statement.closing_balance))
})

test('it has the fields that the OpenAPI document describes, and no others', () => {
  assert.deepEqual(statementForm.parse(statement), statement)
})

test('each charge is its counts times its prices', () => {
  const charges = statement.entries.filter(({ kind }) => kind === 'charge')
  assert.equal(charges.length, asked - bodyFormats.length, 'the refused ones cost nothing')
  for (const line of charges) {
    const { exchange } = line
    assert.ok(exchange !== null, line.reference)
    let sum = exact(exchange.fee)
    for (const { lines, factors } of exchange.parts) {
      assert.deepEqual(factors, [])
      for (const one of lines) {
        const amount = BigInt(one.count) * exact(one.price)
        assert.equal(exact(one.amount), amount)
        assert.ok(exchange.calculation.includes(`${one.count} ${one.class} × ${one.price}`))
        sum += amount
      }
    }
    assert.equal(exact(line.amount), 0n - sum)
    assert.equal(exchange.key, 'test')
    assert.match(exchange.channel ?? '', /^(alpha|beta)-main$/)
    assert.equal(exchange.outcome, 'completed')
  }
  const estimated = charges.filter(({ exchange }) => exchange?.estimated === true)
  const most = bodyFormats.filter((format) => formsOf(format).includes(true)).length
  assert.ok(estimated.length >= 1 && estimated.length <= most, `${estimated.length} are estimated`)
})

test('its totals are the figures of /v1/usage', async () => {
  const figures = await usage(gateway.url, account.token, 'total')
  const shown = figures['usage'] as Record<string, number>
  const { requests, input_tokens, output_tokens, cache_tokens, charged } = statement.totals
  assert.deepEqual(
    { requests, input_tokens, output_tokens, cache_tokens, cost_usd: Number(charged) },
    shown,
  )
  assert.equal(figures['balance_usd'], Number(statement.closing_balance))
})

test('CSV has the same content, and no cell is a formula', async () => {
  const rows = (await statementOf(account.name, '--csv')).split('\r\n').map(splitCsv)
  const [heading, opening, ...lines] = rows
  const column = (row: readonly string[] | undefined, name: string): string =>
    row?.[heading?.indexOf(name) ?? -1] ?? ''
  assert.equal(column(opening, 'balance_usd'), statement.opening_balance)
  const entries = lines.slice(0, statement.entries.length)
  assert.deepEqual(
    entries.map((row) => [column(row, 'amount_usd'), column(row, 'calculation')]),
    statement.entries.map((line) => [line.amount, line.exchange?.calculation ?? '']),
  )
  assert.equal(column(lines[entries.length], 'balance_usd'), statement.closing_balance)
  assert.equal(column(entries[1], 'reference'), "'=cmd()")
  for (const cell of rows.flat()) assert.doesNotMatch(cell, /^[=+@]|^-[^\d]/)
})

test('entries are in the order of the ledger, not in the order in which exchanges began', async () => {
  const harness = await openEmbedded()
  try {
    const accountId = await makeAccount(harness, { balancePicos: 1_000n })
    const long = await mustPlace(harness.ledger, holdRequest(harness, accountId, 5n))
    const references: string[] = []
    for (let index = 0; index < 3; index++) {
      harness.clock.advance(3_600_000)
      references.push((await charge(harness, accountId, 1n)).exchangeId)
    }
    harness.clock.advance(3_600_000)
    await harness.ledger.settle(
      long,
      recordOf(long, 4n, { endedAtMs: harness.clock.now(), priceLines: '{"parts":[]}' }),
    )
    references.push(long.exchangeId)
    await rewritePriceLines(harness)
    const context = { ...gateway.context, database: harness.database, clock: harness.clock }
    const whole = await readStatement(context, { account: accountId })
    assert.deepEqual(
      whole.lines.slice(1).map(({ reference }) => reference),
      references,
    )
    // Each hour of it closes with the next one, also across midnight.
    let closing = '0'
    for (let hour = 11; hour < 20; hour++) {
      const at = (count: number): string => `2026-11-21T${String(count)}:30:00Z`
      const part = await readStatement(context, {
        account: accountId,
        from: at(hour),
        to: at(hour + 1),
      })
      assert.equal(part.head.opening_balance, closing)
      closing = part.end.closing_balance
    }
    const nextDay = await readStatement(context, { account: accountId, from: '2026-11-22' })
    assert.equal(nextDay.head.opening_balance, closing)
    assert.equal(closing, whole.end.closing_balance)
  } finally {
    await harness.close()
  }
})

/** The ledger's own tests keep bare numbers where the relay keeps a bill. */
async function rewritePriceLines(harness: Awaited<ReturnType<typeof openEmbedded>>): Promise<void> {
  await harness.database.transact((transaction) =>
    transaction.script(
      `DROP TRIGGER exchange_is_never_changed; UPDATE exchange SET price_lines = '{"parts":[]}'`,
    ),
  )
}

/** Worked out here once more: decimal text to pico-dollars. */
function exact(text: string): bigint {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d{1,12}))?$/.exec(text) ?? []
  assert.ok(whole !== undefined, text)
  const amount = BigInt(whole) * picosPerUsd + BigInt(fraction.padEnd(12, '0'))
  return sign === '-' ? -amount : amount
}

function splitCsv(row: string): readonly string[] {
  return [...`,${row}`.matchAll(/,(?:"((?:[^"]|"")*)"|([^",]*))/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
  )
}
