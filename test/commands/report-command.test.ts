/**
 * `turnpike report` on a store with charges, a refund and an operator's hostile names: on the store itself,
 * through a server, and as the API's own CSV. report-command-on-postgres.long.test.ts runs it on PostgreSQL.
 */
import assert from 'node:assert/strict'
import { parse } from 'csv-parse/sync'
import { after, before, test } from 'node:test'
import { makeSecret } from '../../src/access/key.ts'
import { parseUsd } from '../../src/base/money.ts'
import { startSandbox } from '../../sandbox/sandbox.ts'
import { newFolder, run, type Ran } from '../support/command-line.ts'
import { send } from '../support/http-client.ts'
import { openProgram, type Program, type Serving } from '../support/program.ts'
import { newStoreUrl } from '../support/test-store.ts'

const adminToken = makeSecret('admin')
const hostileName = '=cmd|calc'

const catalogue = (url: string): string => `
vendors:
  alpha:
    format: messages
    credential: x-api-key
    version_header: anthropic-version
    default_version: "2023-06-01"
models:
  large-1: { vendor: alpha, max_output_tokens: 8192, price: { input: 3.00, output: 15.00 } }
  small-1: { vendor: alpha, max_output_tokens: 8192, price: { input: 1.00, output: 5.00 } }
channels:
  paid: { vendor: alpha, url: "${url}/alpha-main", credential: vendor-canary, models: [large-1], cost: { factor: 0.5 } }
  other: { vendor: alpha, url: "${url}/alpha-reserve", credential: vendor-canary, models: [small-1] }
`

type Row = Readonly<Record<string, string | number | null>>

let sandbox: Awaited<ReturnType<typeof startSandbox>>
let program: Program
let serving: Serving
let folder: string
let onStore: Readonly<Record<string, string>>
let onServer: Readonly<Record<string, string>>
const keyIds: string[] = []
/** Less refunds, as the usage of the accounts says. */
let chargedPicos = 0n

before(async () => {
  sandbox = await startSandbox()
  folder = newFolder({ 'catalog.yaml': catalogue(sandbox.url) })
  onStore = {
    TURNPIKE_STORE: await newStoreUrl(folder),
    TURNPIKE_MASTER_KEY: '5'.repeat(64),
    TURNPIKE_ADMIN_TOKEN: adminToken,
  }
  // Before the gateway starts: a running one follows a moment later.
  await ok('apply -f catalog.yaml')
  program = await openProgram(onStore)
  serving = await program.serve()
  onServer = { TURNPIKE_SERVER: serving.adminUrl, TURNPIKE_TOKEN: adminToken }
  const ids: string[] = []
  for (const name of [hostileName, 'north']) {
    await ok(`account create ${name} --balance 25`)
    const { key, id } = JSON.parse(await ok(`key create ${name} --json`)) as Record<string, string>
    keyIds.push(String(id))
    for (const model of ['large-1', 'small-1']) ids.push(await ask(String(key), model))
  }
  await ok(`account refund ${ids[0]} --usd 0.000001`)
  for (const name of [hostileName, 'north']) {
    const text = await ok(`usage ${name} --period total --json`)
    chargedPicos += parseUsd(String((JSON.parse(text) as { usage: Row }).usage['cost_usd'])) ?? 0n
  }
})

after(async () => {
  await program.close()
  await sandbox.close()
})

async function ok(line: string): Promise<string> {
  const { code, out, error } = await run(folder, line.split(' '), onStore)
  assert.equal(code, 0, `${line}: ${error}`)
  return out
}

async function ask(key: string, model: string): Promise<string> {
  const answer = await send(`${serving.url}/alpha/v1/messages`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ model, max_tokens: 20, messages: [{ role: 'user', content: 'hi' }] }),
  })
  assert.equal(answer.status, 200, answer.body.toString())
  return String(answer.headers['x-turnpike-request-id'])
}

/** Runs `report` on the store and through the server, and expects the same. */
async function report(words: string): Promise<Ran> {
  const line = `report ${words}`.trim().split(' ')
  const [direct, remote] = await Promise.all([
    run(folder, line, onStore),
    run(folder, line, onServer),
  ])
  assert.deepEqual(remote, direct)
  return direct
}

async function rowsOf(words: string): Promise<readonly Row[]> {
  const { out, error } = await report(`${words} --json`)
  assert.equal(error, '')
  return JSON.parse(out) as readonly Row[]
}

async function csvOf(words: string): Promise<readonly Row[]> {
  const { out, error } = await report(`${words} --csv`)
  assert.equal(error, '')
  return parse(out, { columns: true })
}

function api(query: string) {
  return send(`${serving.adminUrl}/admin/v1/reports?${query}`, {
    headers: { authorization: `Bearer ${adminToken}` },
  })
}

function sum(rows: readonly Row[], column: string): bigint {
  return rows.reduce((total, row) => total + (parseUsd(String(row[column])) ?? 0n), 0n)
}

const today = new Date().toISOString().slice(0, 10)

function assertWhole(rows: readonly Row[], count: number): void {
  assert.equal(rows.length, count)
  assert.equal(sum(rows, 'revenue_usd') - sum(rows, 'refunded_usd'), chargedPicos)
  assert.equal(sum(rows, 'refunded_usd'), 1_000_000n)
  assert.equal(
    rows.reduce((total, row) => total + Number(row['requests']), 0),
    4,
  )
}

for (const [by, count] of [
  ['day', 1],
  ['account', 2],
  ['key', 2],
  ['model', 2],
  ['channel', 2],
] as const)
  test(`by ${by} it adds up to what the accounts were charged`, async () =>
    assertWhole(await csvOf(`--by ${by}`), count))

for (const [by, count] of [
  ['total', 1],
  ['model,account', 4],
  ['day,account,key,model,channel', 4],
] as const)
  test(`by ${by} its JSON, its CSV and its table have the same rows`, async () => {
    const json = await rowsOf(`--by ${by}`)
    const csv = await csvOf(`--by ${by}`)
    assertWhole(json, count)
    assertWhole(csv, count)
    for (const [index, row] of csv.entries())
      for (const [column, text] of Object.entries(row)) {
        if (column !== 'account') assert.equal(text, String(json[index]?.[column] ?? ''), column)
      }
    const { out } = await report(`--by ${by}`)
    assert.match(out, /revenue_usd/)
    assert.equal(out.trimEnd().split('\n').length, count + 1)
  })

test('the CSV is the one of the API, byte for byte', async () => {
  const { out } = await report('--by account,model --csv')
  const answer = await api('by=account,model&format=csv')
  assert.deepEqual(
    [answer.status, answer.headers['content-type']],
    [200, 'text/csv; charset=utf-8'],
  )
  assert.equal(answer.body.toString(), out)
  assert.match(out, /^account_id,account,model,requests,.*\r\n/)
  // As text: a spreadsheet would run it as a formula.
  assert.ok(out.includes(`,'${hostileName},`))
})

test('account, key, model and channel limit it', async () => {
  const [first = '', second = ''] = keyIds
  for (const [words, requests] of [
    [`--account ${hostileName} --model large-1`, 1],
    [`--key ${first}`, 2],
    [`--key ${second} --channel paid`, 1],
    ['--key none --model none --channel none', 0],
  ] as const) {
    const [row] = await rowsOf(`--by total ${words}`)
    assert.equal(row?.['requests'], requests, words)
  }
})

test('the own cost of a channel with cost prices is half of its revenue', async () => {
  const [row] = await rowsOf('--by channel --channel paid')
  assert.equal(parseUsd(String(row?.['own_cost_usd'])), sum([row ?? {}], 'revenue_usd') / 2n)
})

test('days without requests are no rows', async () => {
  const period = '--from 2026-01-01 --to 2026-01-31'
  assert.deepEqual(await rowsOf(period), [])
  assert.equal((await report(period)).out, 'No requests in this period.\n')
  assert.match((await report(`${period} --csv`)).out, /^day,requests,[\w,]+\r\n$/)
  const rows = await rowsOf(`--from ${today} --to ${today}`)
  assert.deepEqual(
    rows.map(({ day, requests }) => [day, requests]),
    [[today, 4]],
  )
})

for (const [words, code, message] of [
  ['--by week', 2, /by: must be total, or a list of day, account, key, model, channel/],
  ['--from yesterday', 2, /from: must be a date/],
  ['--from 2026-02-02 --to 2026-02-01', 2, /to: must not be before from/],
  ['--account nowhere', 1, /nowhere/],
  ['--account nowhere --csv', 1, /nowhere/],
] as const)
  test(`report ${words} is refused`, async () => {
    const ran = await report(words)
    assert.deepEqual([ran.code, ran.out], [code, ''])
    assert.match(ran.error, message)
  })

test('CSV has no pages', async () => {
  const { status, body } = await api('format=csv&limit=5')
  assert.equal(status, 400)
  assert.match(body.toString(), /limit: belongs to JSON: CSV has no pages/)
})
