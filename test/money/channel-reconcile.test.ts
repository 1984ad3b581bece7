/**
 * A channel's books beside its vendor's: the sandbox vendors' own log, which shares no counting with
 * the gateway, is written as the CSV a vendor's console gives, and reconciled by the command. Then
 * the vendor's counts are changed, and each change has to show.
 */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parseUsd } from '../../src/base/money.ts'
import { removeOldExchanges } from '../../src/ledger/exchange-retention.ts'
import type { Reconciliation } from '../../src/operations/reconcile/reconcile.ts'
import { billedParts } from '../../sandbox/served-record.ts'
import { runCommand, type Ran } from '../support/command-hosts.ts'
import { bodyFormats, formats, formsOf, places, sendAsk } from '../support/requests.ts'
import type { TestAccount } from '../support/accounts.ts'
import { listReconciliations, recentActions } from '../support/operations.ts'
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

function exactUsd(text: string | null): bigint {
  return parseUsd(text ?? '') ?? assert.fail(`${text} is no amount`)
}

function vendorFile(): string {
  return join(gateway.folder, 'vendor.csv')
}

type Model = Reconciliation['models'][number]

/** What the vendor counted more of each figure that it names, where it counted otherwise. */
function differencesOf({ counts }: Model): Counts {
  const compared = counts.flatMap(({ figure, vendor, expected }) =>
    vendor === null || vendor === expected ? [] : [[figure, vendor - expected] as const],
  )
  return Object.fromEntries(compared)
}

function modelOf({ models }: Reconciliation, name: string): Model {
  const model = models.find((one) => one.model === name)
  return model ?? assert.fail(`there is no ${name}`)
}

for (const format of formats) {
  const channel = places[format].main
  test(`${channel}: the vendor counted what was charged, and answers without a charge beside it`, async () => {
    const { code, result } = await reconcile(channel, vendorCounts(channel))
    assert.equal(code, 0)
    const [model] = result.models.filter(({ vendor_models }) => vendor_models.length > 0)
    assert.ok(model !== undefined && model.models.length === 1)
    const differences = Object.entries(differencesOf(model))
    assert.ok(differences.some(([figure]) => figure === 'requests'))
    assert.ok(differences.every(([, difference]) => difference > 0))
    assert.ok(Number(model.expected_usd) > Number(model.charged_usd), 'answers without a charge')
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
  const model = modelOf(result, 'small-1')
  assert.deepEqual(differencesOf(model), {})
  assert.deepEqual(model.counts[0], { figure: 'requests', vendor: 1, expected: 1 })
})

const changes: readonly [figure: string, change: (count: number) => number][] = [
  ['output', (count) => count + 1_000_000],
  ['requests', (count) => count + 1_000],
  ['input', () => 0],
]
for (const [figure, change] of changes)
  test(`shows the difference of ${figure}`, async () => {
    const counts = vendorCounts('alpha-main')
    const before = modelOf((await reconcile('alpha-main', counts)).result, 'large-1')
    const changed = counts.get('large-1')
    assert.ok(changed !== undefined)
    const old = changed[figure] ?? 0
    changed[figure] = change(old)
    const { code, result } = await reconcile('alpha-main', counts)
    assert.equal(code, 0)
    const differences = differencesOf(modelOf(result, 'large-1'))
    const changedBy = changed[figure] - old
    assert.equal(differences[figure], (differencesOf(before)[figure] ?? 0) + changedBy)
  })

test('shows a model that only the vendor knows, and one that only the gateway knows', async () => {
  const counts = new Map([
    ['never-1', { requests: 1 }],
    ['unused-1', { requests: 0 }],
  ])
  const { result } = await reconcile('all', counts)
  const stranger = modelOf(result, 'never-1')
  assert.deepEqual([stranger.models, stranger.vendor_models], [[], ['never-1']])
  assert.deepEqual(differencesOf(stranger)['requests'], 1)
  assert.ok(result.models.every(({ model }) => model !== 'unused-1'))
  const ours = modelOf(result, 'chat-1')
  assert.deepEqual(ours.vendor_models, [])
  assert.ok(ours.counts.every(({ vendor, expected }) => vendor === null && expected > 0))
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
  const result = JSON.parse(ran.out) as Reconciliation
  assert.deepEqual(
    result.models.flatMap(({ model, vendor_usd: usd }) => (usd === null ? [] : [[model, usd]])),
    [
      ['large-1', '1.234'],
      [null, '0.05'],
    ],
  )
  assert.deepEqual(result.fields_not_compared, ['mystery'])
  const billed = modelOf(result, 'large-1')
  assert.equal(
    billed.counts.find(({ figure }) => figure === 'input')?.vendor,
    usage[0]?.['uncached_input_tokens'],
  )
  const { out } = await runReconcile('alpha-main', `${vendorFile()}.cost`)
  assert.match(out, /^– .* 0 +0\.05 +0 +0\.05$/m)
  assert.match(out, /^fields_not_compared +mystery$/m)
  assert.match(out, /^vendor bills 1\.284, expected 0\.\d+, 1\.2\d+ unexplained$/m)
  assert.equal(result.vendor_usd, '1.284')
  assert.equal(
    exactUsd(result.difference_usd),
    exactUsd(result.vendor_usd) - exactUsd(result.expected_usd),
  )
})

test('says what it expects where no file names a bill', async () => {
  const { out } = await compareCounts('alpha-main')
  assert.match(out, /^expected 0\.\d+; no file names what the vendor bills$/m)
})

test('compares a model once when the vendor counts it under several names', async () => {
  const counts = vendorCounts('alpha-main')
  counts.set('large-1-20260115', { requests: 0 })
  const { result } = await reconcile('alpha-main', counts)
  assert.deepEqual(
    result.models
      .filter(({ models }) => models.includes('large-1'))
      .map(({ vendor_models }) => vendor_models),
    [['large-1', 'large-1-20260115']],
  )
  const { out } = await runReconcile('alpha-main')
  assert.match(out, /^large-1 +large-1 +large-1, large-1-20260115 /m)
})

test('each run with a file is kept with its result, and acceptance with a note and its operator', async () => {
  const { result } = await reconcile('alpha-main', vendorCounts('alpha-main'))
  const accepted = await runReconcile(
    'alpha-main',
    '--accept',
    '--note',
    'answers without a charge',
  )
  assert.equal(accepted.code, 0, accepted.error)
  assert.ok(accepted.out.trimEnd().endsWith(result.result))
  const kept = await recentActions(gateway.context, { action: 'reconciliation', limit: 2 })
  const runs = await listReconciliations(gateway.context, { limit: 2 })
  assert.deepEqual(
    runs.map(({ files, accepted_by: by }) => [files.map(({ name }) => name), by === null]),
    [
      [['vendor.csv'], false],
      [['vendor.csv'], true],
    ],
  )
  const { from, to } = result
  const about = (index: number, note: string): object => {
    const { id: reconciliation } = runs[index] ?? {}
    return { reconciliation, from, to, result: result.result, note }
  }
  assert.deepEqual(
    kept.map(({ action, subject, actor, detail }) => [
      action,
      subject,
      actor.startsWith('cli:'),
      detail,
    ]),
    [
      ['reconciliation.accept', 'alpha-main', true, about(0, 'answers without a charge')],
      ['reconciliation.run', 'alpha-main', true, about(1, '')],
    ],
  )
  const nothing = await compareCounts('alpha-main', '--accept')
  assert.notEqual(nothing.code, 0)
  assert.match(nothing.error, /needs the vendor's files/)
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
  assert.match(shown.out, new RegExp(`^explained_from +${since}$`, 'm'))
  const refused = await runReconcile('alpha-main')
  assert.notEqual(refused.code, 0)
  assert.ok(refused.error.includes(`exchanges before ${since} are no longer kept`), refused.error)
})
