/**
 * A channel's books beside its vendor's: the sandbox vendors' own log, which shares no counting with
 * the gateway, is written as the CSV a vendor's console gives, and reconciled by the command. Then
 * the vendor's counts are changed, and each change has to show.
 */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { removeOldExchanges } from '../../src/ledger/exchange-retention.ts'
import type { Reconciliation } from '../../src/operations/reconcile/reconcile.ts'
import { billedParts } from '../../sandbox/served-record.ts'
import { runCommand, type Ran } from '../support/command-hosts.ts'
import { only, usd, vendorPrice } from '../support/money.ts'
import { bodyFormats, formats, formsOf, places, sendAsk } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { scenario, type Scenario } from '../support/scenario.ts'

const classes = {
  input: 'input',
  output: 'output',
  cacheRead: 'cache_read',
  cacheWrite5m: 'cache_write_5m',
} as const

const behaviours: readonly string[] = [
  'output=8',
  'output=20; event_delay_ms=0',
  'cached=40; output=5',
  'refusal=empty',
  'output=0',
  'error=400',
  'status=500',
  'error=429; retry_after=1',
  'cut_event=4',
]

let gateway: Scenario
let account: TestAccount

before(async () => {
  gateway = await scenario()
  account = await gateway.createAccount()
  let asked = 0
  for (const format of bodyFormats)
    for (const isStream of formsOf(format))
      for (const sandbox of behaviours) {
        await sendAsk(gateway.url, account.key, { format, isStream, sandbox })
        asked++
      }
  await gateway.ended(account, asked)
})
after(() => gateway.close())

type Counts = Record<string, number>

/** What the vendor's console would show: by model, of one channel or of all. */
function vendorCounts(channel: string): Map<string, Counts> {
  const byModel = new Map<string, Counts>()
  for (const record of gateway.sandbox.log.records) {
    const parts = billedParts(record)
    if (parts.length === 0 || (channel !== 'all' && record.channel !== channel)) continue
    const counts = byModel.get(record.model) ?? { requests: 0 }
    byModel.set(record.model, counts)
    counts['requests'] = (counts['requests'] ?? 0) + 1
    for (const part of parts)
      for (const [theirs, ours] of Object.entries(classes))
        counts[ours] = (counts[ours] ?? 0) + part.counts[theirs as keyof typeof classes]
  }
  return byModel
}

async function reconcile(
  channel: string,
  counts: ReadonlyMap<string, Counts>,
): Promise<{ readonly code: number; readonly result: Reconciliation }> {
  const columns = ['requests', ...Object.values(classes)]
  const rows = [...counts].map(([model, row]) =>
    [model, ...columns.map((column) => row[column] ?? 0)].join(','),
  )
  await writeFile(vendorFile(), [`model,${columns.join(',')}`, ...rows].join('\r\n'))
  const ran = await runReconcile(channel, '--json')
  assert.equal(ran.error, '')
  return { code: ran.code, result: JSON.parse(ran.out) as Reconciliation }
}

/** With the vendor's counts that were written last. */
function runReconcile(channel: string, ...more: readonly string[]): Promise<Ran> {
  return compareCounts(channel, '--vendor-file', vendorFile(), ...more)
}

function compareCounts(channel: string, ...more: readonly string[]): Promise<Ran> {
  const day = (offset: number): string =>
    new Date(gateway.context.clock.now() + offset * 86_400_000).toISOString().slice(0, 10)
  const words = ['channel', 'reconcile', channel, '--from', day(-1), '--to', day(1)]
  return runCommand([...words, ...more], {
    cwd: gateway.folder,
    env: { TURNPIKE_STORE: `sqlite:${gateway.folder}/turnpike.db` },
  })
}

function vendorFile(): string {
  return join(gateway.folder, 'vendor.csv')
}

for (const format of formats) {
  const channel = places[format].main
  test(`${channel}: what its vendor counted beyond the charges was lost by the operator`, async () => {
    const { code, result } = await reconcile(channel, vendorCounts(channel))
    const { comparison } = result
    assert.ok(comparison !== null)
    assert.deepEqual(comparison.unknown_models, [])
    const [verdict] = comparison.verdicts
    assert.deepEqual(verdict?.reasons, [])
    assert.equal(code, 0)
    assert.equal(verdict.verdict, 'possible', 'broken streams never told their counts')
    assert.ok(Number(verdict.difference_usd) > Number(verdict.explained_up_to_usd))
    const requests = comparison.figures.find(({ figure }) => figure === 'requests')
    const row = result.models.find((one) => one.channel === channel)
    assert.ok(requests !== undefined && row !== undefined)
    assert.ok(row.uncharged_requests > 0 && row.charged_requests > 0)
    assert.ok(requests.difference > 0 && requests.difference <= row.uncharged_requests)
  })
}

test('a model without other costs agrees to the token', async () => {
  const counts = new Map<string, Counts>()
  const plain = await gateway.createAccount()
  const from = gateway.sandbox.log.records.length
  await sendAsk(gateway.url, plain.key, { format: 'messages', isStream: true, model: 'small-1' })
  await gateway.ended(plain, 1)
  for (const record of gateway.sandbox.log.records.slice(from))
    for (const part of billedParts(record))
      counts.set(record.model, {
        requests: 1,
        input: part.counts.input,
        output: part.counts.output,
        cache_read: part.counts.cacheRead,
        cache_write_5m: part.counts.cacheWrite5m,
      })
  const { result } = await reconcile('alpha-main', counts)
  const figures = result.comparison?.figures ?? []
  assert.deepEqual(
    figures.map(({ difference }) => difference),
    figures.map(() => 0),
  )
  assert.equal(figures[0]?.vendor, 1)
  assert.equal(result.comparison?.verdicts[0]?.verdict, 'explained')
})

test('shows what implausible counts would have cost beyond their hold', async () => {
  const strange = await gateway.createAccount()
  const from = gateway.sandbox.log.records.length
  await sendAsk(gateway.url, strange.key, {
    format: 'messages',
    isStream: true,
    model: 'small-1',
    sandbox: 'output_tokens=5000',
  })
  const { amountPicos, marks } = only(await gateway.ended(strange, 1))
  assert.deepEqual(marks, ['implausible'])
  const [record] = gateway.sandbox.log.records.slice(from)
  assert.ok(record !== undefined)
  const lost = usd(vendorPrice(record) - amountPicos)
  assert.ok(lost > 0)

  const { result } = await reconcile('alpha-main', vendorCounts('alpha-main'))
  const row = result.models.find(({ model }) => model === 'small-1')
  assert.deepEqual([row?.capped_requests, Number(row?.not_charged_usd)], [1, lost])
  const verdict = result.comparison?.verdicts.find(({ model }) => model === 'small-1')
  assert.deepEqual([verdict?.verdict, Number(verdict?.not_charged_usd)], ['explained', lost])
  const others = result.models.filter(({ model }) => model !== 'small-1')
  assert.ok(others.every((one) => one.capped_requests === 0 && one.not_charged_usd === '0'))

  const text = await runReconcile('alpha-main')
  assert.match(text.out, /capped +not charged USD/)
  assert.match(
    text.out,
    new RegExp(`small-1: explained: .*; ${row?.not_charged_usd} USD was not charged`),
  )
})

const changes: readonly [title: string, change: (counts: Counts) => void, reason: RegExp][] = [
  [
    'tokens that were not charged',
    (counts) => (counts['output'] = (counts['output'] ?? 0) + 1_000_000),
    /the vendor counted tokens worth .* USD that are not explained/,
  ],
  [
    'a request too many',
    (counts) => (counts['requests'] = (counts['requests'] ?? 0) + 1_000),
    /requests that are not explained/,
  ],
  [
    'tokens that were charged and not served',
    (counts) => (counts['input'] = 0),
    /the gateway charged \d+ input\S* more than the vendor counted/,
  ],
]
for (const [title, change, reason] of changes)
  test(`finds ${title}`, async () => {
    const counts = vendorCounts('alpha-main')
    const changed = counts.get('large-1')
    assert.ok(changed !== undefined)
    change(changed)
    const { code, result } = await reconcile('alpha-main', counts)
    assert.equal(code, 1)
    const verdict = result.comparison?.verdicts.find(({ model }) => model === 'large-1')
    assert.equal(verdict?.verdict, 'unexplained')
    assert.match(verdict.reasons.join('; '), reason)
  })

test('finds a model that only the vendor knows, and one that only the gateway knows', async () => {
  const counts = new Map([
    ['never-1', { requests: 1 }],
    ['unused-1', { requests: 0 }],
  ])
  const { code, result } = await reconcile('all', counts)
  assert.equal(code, 1)
  assert.deepEqual(result.comparison?.unknown_models, ['never-1'])
  const verdict = result.comparison.verdicts.find(({ model }) => model === 'chat-1')
  assert.deepEqual(verdict?.reasons, ['the gateway charged it, and the vendor counted nothing'])
})

test('reads the usage and cost pages of the vendor’s API together, and names what it cannot compare', async () => {
  const day = (offset: number): string =>
    `${new Date(gateway.context.clock.now() + offset * 86_400_000).toISOString().slice(0, 10)}T00:00:00Z`
  const page = (results: readonly object[]): string =>
    JSON.stringify({
      data: [{ starting_at: day(-1), ending_at: day(2), results }],
      has_more: false,
      next_page: null,
    })
  const usage = [...vendorCounts('alpha-main')].map(([model, counts]) => ({
    model,
    uncached_input_tokens: counts['input'],
    cache_read_input_tokens: counts['cache_read'],
    cache_creation: { ephemeral_5m_input_tokens: counts['cache_write_5m'] },
    output_tokens: counts['output'],
    workspace_id: null,
    mystery: 1,
  }))
  const costs = [
    { model: 'large-1', amount: '123.4', currency: 'USD' },
    { model: null, amount: '5', currency: 'USD' },
  ]
  await writeFile(vendorFile(), page(usage))
  await writeFile(`${vendorFile()}.cost`, page(costs))
  const ran = await runReconcile('alpha-main', `${vendorFile()}.cost`, '--json')
  assert.equal(ran.error, '')
  const { comparison } = JSON.parse(ran.out) as Reconciliation
  assert.ok(comparison !== null)
  assert.deepEqual(
    comparison.verdicts.flatMap(({ reasons }) => reasons),
    [],
  )
  assert.deepEqual(
    comparison.costs.map(({ model, vendor_usd }) => [model, vendor_usd]),
    [
      ['large-1', '1.234'],
      [null, '0.05'],
    ],
  )
  assert.deepEqual(comparison.fields_not_compared, ['mystery'])
  const text = await runReconcile('alpha-main', `${vendorFile()}.cost`)
  assert.match(text.out, /^large-1 +1\.234 +0\.\d+ +– +–$/m)
  assert.match(text.out, /^Not compared: mystery\.$/m)
})

test('compares a model once when the vendor counts it under several names', async () => {
  const counts = vendorCounts('alpha-main')
  counts.set('large-1-20260115', { requests: 0 })
  const { code, result } = await reconcile('alpha-main', counts)
  assert.equal(code, 0)
  const verdicts = result.comparison?.verdicts.filter(({ model }) => model === 'large-1')
  assert.deepEqual(
    verdicts?.map(({ vendor_models }) => vendor_models),
    [['large-1', 'large-1-20260115']],
  )
  const { out } = await runReconcile('alpha-main')
  assert.match(out, /^large-1 \(at the vendor: large-1 \+ large-1-20260115\): possible: /m)
})

test('reports since when exchanges are kept, and compares nothing from before', async () => {
  const { cutMs } = await removeOldExchanges(gateway.context.database, {
    nowMs: gateway.context.clock.now(),
    keepMs: 0,
    pause: () => Promise.resolve(),
  })
  const since = new Date(cutMs).toISOString()
  const shown = await compareCounts('alpha-main')
  assert.equal(shown.code, 0, shown.error)
  assert.ok(shown.out.includes(`From ${since} on only: earlier exchanges are no longer kept.`))
  const refused = await runReconcile('alpha-main')
  assert.notEqual(refused.code, 0)
  assert.ok(refused.error.includes(`exchanges before ${since} are no longer kept`), refused.error)
})
