/**
 * Applying and exporting catalogues on a real store. Each test has a store of its own; what is
 * asserted is what an operator sees (result, export) or what the gateway would run on (snapshot).
 */
import { noCheck } from '../../src/operations/channels/run-check.ts'
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { ManualClock } from '../support/manual-clock.ts'
import { Secret } from '../../src/base/secret.ts'
import { readCatalogue, setOverride } from '../../src/channels/channel-store.ts'
import { loadSnapshot } from '../../src/channels/snapshot.ts'
import { pricesAt } from '../../src/metering/prices.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { openNewStore } from '../support/test-store.ts'
import { readRevisions } from '../../src/storage/changes.ts'
import { applyCatalogue, type ApplyResult } from '../../src/operations/catalogue/catalogue.ts'
import type { Mistake } from '../../src/operations/catalogue/document.ts'
import { valueOf, type OperationContext } from '../../src/operations/operation.ts'
import { recentActions, exportCatalogue } from '../support/operations.ts'

const masterKey = new Secret('0123456789abcdef'.repeat(4))

type Applied = ApplyResult | { readonly kind: 'mistakes'; readonly list: readonly Mistake[] }

/** Applies a file; a refusal with mistakes is a result here. */
async function applyText(
  context: OperationContext,
  text: string,
  isDryRun = false,
): Promise<Applied> {
  const outcome = await applyCatalogue(context, { text, dry_run: isDryRun })
  const mistakes = outcome.kind === 'refusal' ? outcome.details?.['mistakes'] : undefined
  return mistakes === undefined
    ? valueOf(outcome)
    : { kind: 'mistakes', list: mistakes as readonly Mistake[] }
}

interface Bench {
  readonly clock: ManualClock
  readonly context: OperationContext
  readonly apply: (text: string, dryRun?: boolean) => Promise<Applied>
  readonly snapshot: (key?: Secret) => ReturnType<typeof loadSnapshot>
  readonly revision: () => Promise<number>
}

async function openStore(t: TestContext, clock = new ManualClock()): Promise<Bench> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-catalogue-'))
  const database = await openNewStore(folder)
  t.after(async () => {
    await database.close()
    rmSync(folder, { recursive: true })
  })
  await migrate(database)
  const environment = (name: string): string | undefined =>
    name === 'ALPHA_KEY' ? 'sk-from-environment' : undefined
  const context: OperationContext = {
    database,
    clock,
    actor: 'cli:test',
    masterKey: () => masterKey,
    environment,
    runCheck: noCheck,
  }
  return {
    clock,
    context,
    apply: (text, dryRun = false) => applyText(context, text, dryRun),
    snapshot: (key = masterKey) =>
      loadSnapshot(database, { masterKey: () => key, environment, revision: 1 }),
    revision: async () => (await readRevisions(database)).catalogue,
  }
}

const demo = `
vendors:
  alpha: { format: messages, version_header: anthropic-version, default_version: "2023-06-01", credential: x-api-key }
  beta:  { format: chat, credential: bearer, require_max_tokens: true }
models:
  large-1:
    vendor: alpha
    max_output_tokens: 8192
    price: { input: 3.00, output: 15.00, cache_read: 0.30, cache_write_5m: 3.75, cache_write_1h: 6.00 }
channels:
  alpha-main:
    vendor: alpha
    url: https://vendor.example
    credential: env:ALPHA_KEY
    models: [large-1]
    rank: 0
    weight: 1
    max_concurrent: 500
    check: request
  alpha-reserve: { vendor: alpha, url: https://reserve.example/base/, credential: sk-literal, models: { large-1: vendor-side }, rank: 1 }
`

function mistakesOf(result: Applied): readonly string[] {
  assert.ok(result.kind === 'mistakes', JSON.stringify(result))
  return result.list.map(({ line, path, message }) => `${line} ${path}: ${message}`)
}

function actionsOf(result: Applied): readonly string[] {
  assert.ok(result.kind !== 'mistakes', JSON.stringify(result))
  return result.diff.map(({ action, kind, name }) => `${action} ${kind} ${name}`)
}

test('a first apply adds everything, and the gateway runs on it', async (t) => {
  const { apply, snapshot } = await openStore(t)
  const result = await apply(demo)
  assert.equal(result.kind, 'applied')
  assert.deepEqual(actionsOf(result), [
    'add vendor alpha',
    'add vendor beta',
    'add model large-1',
    'add channel alpha-main',
    'add channel alpha-reserve',
  ])
  const served = await snapshot()
  assert.deepEqual(served.outOfService, [])
  assert.deepEqual(served.vendors.get('alpha'), {
    name: 'alpha',
    format: 'messages',
    credential: 'x-api-key',
    versionHeader: 'anthropic-version',
    defaultVersion: '2023-06-01',
    requireMaxTokens: true,
    allowedFeatures: new Set(),
    storedResponses: 'own',
  })
  assert.equal(served.models.get('large-1')?.maxOutputTokens, 8192)
  assert.equal(pricesAt(served.models.get('large-1')?.prices ?? [], 0)?.classes.output, 15_000_000n)
  const main = served.channels.get('alpha-main')
  assert.equal(main?.credential.reveal(), 'sk-from-environment')
  assert.equal(main?.maxConcurrent, 500)
  const reserve = served.channels.get('alpha-reserve')
  assert.equal(reserve?.credential.reveal(), 'sk-literal')
  assert.equal(reserve?.url, 'https://reserve.example/base')
  assert.equal(reserve?.models.get('large-1'), 'vendor-side')
  assert.deepEqual(
    served.channelsByModel.get('large-1')?.map((channel) => channel.name),
    ['alpha-main', 'alpha-reserve'],
  )
})

test('applying the same file again changes nothing, not even a counter or the log', async (t) => {
  const { apply, revision, context } = await openStore(t)
  await apply(demo)
  const before = await revision()
  const result = await apply(demo)
  assert.equal(result.kind, 'unchanged')
  assert.deepEqual(actionsOf(result), [])
  assert.equal(await revision(), before)
  assert.equal((await recentActions(context, {})).length, 1)
})

test('an applied change raises the counter that running gateways follow', async (t) => {
  const { apply, revision } = await openStore(t)
  await apply(demo)
  const before = await revision()
  await apply(demo.replace('weight: 1', 'weight: 2'))
  assert.ok((await revision()) > before)
})

test('a dry run shows the difference and writes nothing', async (t) => {
  const { apply, snapshot, context } = await openStore(t)
  const result = await apply(demo, true)
  assert.equal(result.kind, 'would_apply')
  assert.equal(actionsOf(result).length, 5)
  assert.equal((await snapshot()).channels.size, 0)
  assert.deepEqual(await recentActions(context, {}), [])
})

test('the difference names each field with its old and new value', async (t) => {
  const { apply } = await openStore(t)
  await apply(demo)
  const result = await apply(
    demo
      .replace('max_output_tokens: 8192', 'max_output_tokens: 4096')
      .replace('output: 15.00', 'output: 16.5')
      .replace('    max_concurrent: 500\n', ''),
  )
  assert.ok(result.kind === 'applied')
  assert.deepEqual(result.diff, [
    {
      action: 'change',
      kind: 'model',
      name: 'large-1',
      changes: [
        { field: 'max_output_tokens', from: '8192', to: '4096' },
        { field: 'price.output', from: '15', to: '16.5' },
      ],
    },
    {
      action: 'change',
      kind: 'channel',
      name: 'alpha-main',
      changes: [{ field: 'max_concurrent', from: '500', to: undefined }],
    },
  ])
})

test('only vendors of the messages format require max_tokens unless the file says otherwise', async (t) => {
  const { apply, snapshot } = await openStore(t)
  const required = async (vendors: string): Promise<readonly unknown[]> => {
    const models = '{ a: { vendor: alpha }, b: { vendor: beta } }'
    await apply(`${vendors}\nmodels: ${models}\nchannels: {}\n`)
    const served = (await snapshot()).vendors
    return ['alpha', 'beta'].map((name) => served.get(name)?.requireMaxTokens)
  }
  const given = (alpha: string, beta: string): string =>
    `vendors: { alpha: { format: messages${alpha} }, beta: { format: chat${beta} } }`
  assert.deepEqual(await required(''), [true, false])
  assert.deepEqual(await required(given('', '')), [true, false])
  const other = [', require_max_tokens: false', ', require_max_tokens: true'] as const
  assert.deepEqual(await required(given(...other)), [false, true])
})

test('what an import fills in stays as stored where the file does not say it', async (t) => {
  const { apply, snapshot, context } = await openStore(t)
  const bare = demo.replace('    max_output_tokens: 8192\n', '')
  const stored = async (): Promise<readonly unknown[]> => {
    const model = (await snapshot()).models.get('large-1')
    return [model?.maxInputTokens, model?.maxOutputTokens, model?.dated, model?.thinks]
  }
  await apply(bare)
  assert.deepEqual(await stored(), [undefined, undefined, undefined, undefined])
  const filled =
    'max_input_tokens: 1000000\n    max_output_tokens: 8192\n    dated: true\n    thinks: true'
  await apply(demo.replace('max_output_tokens: 8192', filled))
  assert.deepEqual(await stored(), [1_000_000, 8192, true, true])
  assert.equal((await apply(bare)).kind, 'unchanged')
  assert.deepEqual(await stored(), [1_000_000, 8192, true, true])
  const exported = await exportCatalogue(context)
  assert.match(exported, /max_input_tokens: 1000000/)
  assert.equal((await apply(exported)).kind, 'unchanged')
  await apply(demo.replace('max_output_tokens: 8192', 'dated: false\n    thinks: false'))
  assert.deepEqual(await stored(), [1_000_000, 8192, false, false])
})

test('a model is no longer dated when an edition of it gets an entry of its own', async (t) => {
  const { apply, snapshot, context } = await openStore(t)
  const price = 'price: { input: 1, output: 2 }'
  const file = (more: string): string => `models: { m: { vendor: beta, ${price} }${more} }`
  await apply(`models: { m: { vendor: beta, dated: true, ${price} } }`)
  assert.equal((await apply(file(''))).kind, 'unchanged')
  const added = await apply(file(`, m-20260115: { vendor: beta, ${price} }`))
  assert.ok(added.kind === 'applied')
  assert.deepEqual(added.diff.find(({ name }) => name === 'm')?.changes, [
    { field: 'dated', from: 'true', to: undefined },
  ])
  assert.equal((await snapshot()).models.get('m')?.dated, undefined)
  assert.equal((await apply(await exportCatalogue(context))).kind, 'unchanged')
})

test('what a model offers is stored, exported, applied again, and part of the snapshot', async (t) => {
  const { apply, snapshot, context } = await openStore(t)
  const file = (offer: string): string =>
    `models: { e: { vendor: beta, ${offer} price: { input: 0.02 } }, c: { vendor: beta, price: { input: 1, output: 2 } } }`
  const first = await apply(file('operations: [embeddings],'))
  assert.ok(first.kind === 'applied')
  const note = 'model e has no output price; it serves nothing but embeddings'
  assert.ok(!first.notes.includes(note))
  const served = (await snapshot()).models
  assert.deepEqual(served.get('e')?.operations, new Set(['embeddings']))
  assert.deepEqual(pricesAt(served.get('e')?.prices ?? [], 0)?.classes, { input: 20_000n })
  assert.equal(served.get('c')?.operations, undefined)
  assert.equal((await apply(await exportCatalogue(context))).kind, 'unchanged')
  const second = await apply(file(''))
  assert.ok(second.kind === 'applied')
  assert.ok(second.notes.includes(note))
  const change = { field: 'operations', from: 'embeddings', to: undefined }
  assert.deepEqual(second.diff[0]?.changes, [change])
  assert.equal((await snapshot()).models.get('e')?.operations, undefined)
})

test('operations that a model cannot offer are errors with their lines', async (t) => {
  const { apply } = await openStore(t)
  const entries = (entry: string): string => `models: { m: { ${entry} } }`
  for (const [entry, mistake] of [
    [
      'vendor: beta, operations: [embeddings, chat], price: { input: 1 }',
      'models.m.operations.1: chat needs an output price',
    ],
    [
      'vendor: beta, operations: [chats]',
      'models.m.operations.0: must be one of chat, responses, embeddings, completions',
    ],
    ['vendor: beta, operations: []', 'models.m.operations: must name at least one operation'],
    [
      'vendor: alpha, operations: [chat]',
      'models.m.operations: is for models of the chat format; leave it out',
    ],
    [
      'vendor: alpha, price: { input: 1 }',
      'models.m.price: output is missing: a model of the messages format needs it',
    ],
  ] as const)
    assert.deepEqual(mistakesOf(await apply(entries(entry))), [`1 ${mistake}`])
})

test('what a vendor refuses is stored, exported and applied again', async (t) => {
  const { apply, snapshot, context } = await openStore(t)
  await apply(
    demo.replace('format: messages,', 'format: messages, allow: [threads, no_server_tools],'),
  )
  const refused = new Set(['no_server_tools', 'threads'])
  assert.deepEqual((await snapshot()).vendors.get('alpha')?.allowedFeatures, refused)
  assert.equal((await apply(await exportCatalogue(context))).kind, 'unchanged')
})

test('whether stored responses are served is stored, exported and applied again', async (t) => {
  const { apply, snapshot, context } = await openStore(t)
  const given = (word: string): string =>
    demo.replace('format: messages,', `format: messages, stored_responses: ${word},`)
  const stored = async (): Promise<string | undefined> =>
    (await snapshot()).vendors.get('alpha')?.storedResponses
  await apply(demo)
  assert.equal(await stored(), 'own')
  assert.doesNotMatch(await exportCatalogue(context), /stored_responses/)
  await apply(given('refuse'))
  assert.equal(await stored(), 'refuse')
  assert.equal((await apply(await exportCatalogue(context))).kind, 'unchanged')
  assert.equal((await apply(given('all'))).kind, 'mistakes')
  await apply(given('own'))
  assert.equal(await stored(), 'own')
})

test('an entry that the file no longer names is retired, and is restored when it is named again', async (t) => {
  const { apply, snapshot, context, clock } = await openStore(t)
  await apply(demo)
  clock.advance(1_000)
  const without = demo.slice(0, demo.indexOf('  alpha-reserve:'))
  assert.deepEqual(actionsOf(await apply(without)), ['retire channel alpha-reserve'])
  assert.equal((await snapshot()).channels.has('alpha-reserve'), false)
  const { channels } = await readCatalogue(context.database)
  assert.equal(channels.find((row) => row.name === 'alpha-reserve')?.retiredAtMs, clock.now())
  assert.equal((await apply(without)).kind, 'unchanged')
  assert.deepEqual(actionsOf(await apply(demo)), ['add channel alpha-reserve'])
  assert.equal((await snapshot()).channels.get('alpha-reserve')?.credential.reveal(), 'sk-literal')
})

test('everything is retired by an explicit empty section, nothing by an empty file', async (t) => {
  const { apply, snapshot } = await openStore(t)
  await apply(demo)
  for (const empty of ['', '# nothing\n', '---\n'])
    assert.match(mistakesOf(await apply(empty))[0] ?? '', /the file is empty/)
  assert.equal(actionsOf(await apply('channels: {}')).length, 5)
  assert.equal((await snapshot()).vendors.size, 0)
})

test("an operator's override of a channel survives every apply", async (t) => {
  const { apply, snapshot, context } = await openStore(t)
  await apply(demo)
  await context.database.transact((transaction) =>
    setOverride(transaction, { channel: 'alpha-main', override: 'disabled' }),
  )
  await apply(demo.replace('weight: 1', 'weight: 7'))
  const main = (await snapshot()).channels.get('alpha-main')
  assert.equal(main?.weight, 7)
  assert.equal(main?.override, 'disabled')
})

test('an export applied again is unchanged, here and on another store with the same master key', async (t) => {
  const first = await openStore(t)
  await first.apply(demo)
  const text = await exportCatalogue(first.context)
  assert.match(text, /sealed:v1\./)
  assert.ok(!text.includes('sk-literal'))
  assert.equal((await first.apply(text)).kind, 'unchanged')
  const second = await openStore(t)
  assert.equal((await second.apply(text)).kind, 'applied')
  assert.equal(await exportCatalogue(second.context), text)
  const reserve = (await second.snapshot()).channels.get('alpha-reserve')
  assert.equal(reserve?.credential.reveal(), 'sk-literal')
})

test('a secret written again is no change, a new one is, and neither shows anywhere', async (t) => {
  const { apply, context, snapshot } = await openStore(t)
  await apply(demo)
  const sealed = /sealed:\S+/.exec(await exportCatalogue(context))?.[0]
  const result = await apply(demo.replace('sk-literal', 'sk-other'))
  assert.ok(result.kind === 'applied')
  assert.deepEqual(result.diff[0]?.changes, [
    { field: 'credential', from: 'sealed', to: 'sealed (new)' },
  ])
  assert.equal((await snapshot()).channels.get('alpha-reserve')?.credential.reveal(), 'sk-other')
  assert.notEqual(/sealed:\S+/.exec(await exportCatalogue(context))?.[0], sealed)
  const rows = await context.database.query('SELECT detail FROM operator_action')
  const { channels } = await readCatalogue(context.database)
  const seen = JSON.stringify([
    result,
    rows,
    channels.map((row) => [...row.models, row.credential]),
  ])
  assert.ok(!seen.includes('sk-other') && !seen.includes('sk-literal'))
})

test('a sealed credential of another channel or another master key is an error with its line', async (t) => {
  const { apply, context } = await openStore(t)
  await apply(demo)
  const text = await exportCatalogue(context)
  const renamed = await apply(text.replace('  alpha-reserve:', '  alpha-spare:'))
  assert.match(
    mistakesOf(renamed)[0] ?? '',
    /channels.alpha-spare.credential: .*sealed for something else/,
  )
  const otherKey = new Secret('f'.repeat(44))
  const foreign = await openStore(t)
  const result = await applyText({ ...foreign.context, masterKey: () => otherKey }, text)
  assert.match(mistakesOf(result)[0] ?? '', /sealed with master key/)
})

test('with a lost master key a new secret replaces the unreadable one', async (t) => {
  const { apply, context, snapshot } = await openStore(t)
  await apply(demo)
  const newKey = new Secret('e'.repeat(44))
  const before = await snapshot(newKey)
  assert.deepEqual(
    before.outOfService.map(({ kind, name }) => `${kind} ${name}`),
    ['channel alpha-reserve'],
  )
  assert.ok(before.channels.has('alpha-main'))
  await applyText({ ...context, masterKey: () => newKey }, demo)
  assert.equal(
    (await snapshot(newKey)).channels.get('alpha-reserve')?.credential.reveal(),
    'sk-literal',
  )
})

test('a change of price adds a version from now on and leaves the old one as it was', async (t) => {
  const { apply, context, clock, snapshot } = await openStore(t)
  await apply(demo)
  clock.advance(60_000)
  const changedAtMs = clock.now()
  await apply(demo.replace('input: 3.00', 'input: 4'))
  clock.advance(60_000)
  await apply(demo.replace('input: 3.00', 'input: 5'))
  const { prices } = await readCatalogue(context.database)
  assert.deepEqual(
    prices.map((row) => row.validFromMs),
    [0, changedAtMs, clock.now()],
  )
  const versions = (await snapshot()).models.get('large-1')?.prices ?? []
  const inputs = [0, changedAtMs, clock.now()].map(
    (atMs) => pricesAt(versions, atMs)?.classes.input,
  )
  assert.deepEqual(inputs, [3_000_000n, 4_000_000n, 5_000_000n])
})

test('two changes of price within one millisecond stay two versions', async (t) => {
  const { apply, context } = await openStore(t)
  for (const input of ['3.00', '4', '5'])
    await apply(demo.replace('input: 3.00', `input: ${input}`))
  assert.equal((await readCatalogue(context.database)).prices.length, 3)
})

test('a future price can be changed and removed until it is in force', async (t) => {
  const { apply, context, clock, snapshot } = await openStore(t)
  await apply(demo)
  const withLater = (input: string): string =>
    demo.replace(
      /price: .*/,
      `price:
      - { input: 3, output: 15, cache_read: 0.3, cache_write_5m: 3.75, cache_write_1h: 6 }
      - { input: ${input}, output: 15, valid_from: 2026-12-01 }`,
    )
  const startMs = Date.parse('2026-12-01')
  const laterInput = async () =>
    pricesAt((await snapshot()).models.get('large-1')?.prices ?? [], startMs)?.classes.input
  const announced = await apply(withLater('4'))
  assert.ok(announced.kind === 'applied')
  assert.ok(
    announced.diff[0]?.changes.some(
      ({ field, to }) => field === 'price from 2026-12-01T00:00:00.000Z.input' && to === '4',
    ),
  )
  assert.equal((await apply(withLater('4'))).kind, 'unchanged')
  assert.equal((await apply(await exportCatalogue(context))).kind, 'unchanged')
  await apply(withLater('4.5'))
  assert.equal(await laterInput(), 4_500_000n)
  await apply(demo)
  assert.equal(await laterInput(), 3_000_000n)
  await apply(withLater('4.5'))
  clock.advance(startMs - clock.now() + 1)
  assert.equal((await apply(withLater('4.5'))).kind, 'unchanged')
  assert.equal((await readCatalogue(context.database)).prices.length, 2)
})

test('removing a future price raises the counter that running gateways follow', async (t) => {
  const { apply, revision } = await openStore(t)
  const later = demo.replace(
    /price: .*/,
    'price: [{ input: 1, output: 1 }, { input: 2, output: 2, valid_from: 2027-01-01 }]',
  )
  await apply(later)
  const before = await revision()
  await apply(demo.replace(/price: .*/, 'price: { input: 1, output: 1 }'))
  assert.ok((await revision()) > before)
})

test('a model whose entry says nothing about prices keeps the stored ones', async (t) => {
  const { apply, snapshot } = await openStore(t)
  await apply(demo)
  assert.equal((await apply(demo.replace(/ {4}price: .*\n/, ''))).kind, 'unchanged')
  assert.equal((await snapshot()).models.has('large-1'), true)
})

test('a model without any price is noted and not served, its channel is', async (t) => {
  const { apply, snapshot } = await openStore(t)
  const result = await apply(demo.replace(/ {4}price: .*\n/, ''))
  assert.ok(result.kind === 'applied')
  assert.deepEqual(result.notes, ['model large-1 has no price; it is served when it has one'])
  const served = await snapshot()
  assert.equal(served.models.size, 0)
  assert.equal(served.channels.get('alpha-main')?.models.size, 0)
  assert.deepEqual(
    served.outOfService.map(({ kind, name }) => `${kind} ${name}`),
    ['model large-1'],
  )
})

test('models that lack limits for their holds are noted until they have them', async (t) => {
  const { apply } = await openStore(t)
  const price = 'price: { input: 1, output: 2 }'
  const file = (limits: string): string => `
vendors: { strict: { format: chat, require_max_tokens: true } }
models:
  a: { vendor: alpha, ${limits} ${price} }
  b: { vendor: beta, ${limits} ${price} }
  s: { vendor: strict, ${limits} ${price} }
  e: { vendor: beta, price: { input: 1 } }
  f: { vendor: beta, operations: [embeddings], ${price} }
  unpriced: { vendor: beta }
`
  const notes = async (text: string): Promise<readonly string[]> => {
    const result = await apply(text)
    assert.notEqual(result.kind, 'mistakes')
    return 'notes' in result ? result.notes.filter((note) => note.startsWith('models ')) : []
  }
  const lacksInput =
    'models without max_input_tokens: a, b, s; a request holds for 200,000 tokens of input at most, and where ' +
    'its bytes do not bound the input the vendor may count 2,000,000; set it, or fill it in with turnpike price import'
  const lacksOutput =
    'models without max_output_tokens: b; a request whose output no field limits holds for 128,000 tokens of output; ' +
    'set it, or fill it in with turnpike price import'
  assert.deepEqual(await notes(file('')), [lacksInput, lacksOutput])
  assert.deepEqual(await notes(file('max_output_tokens: 9,')), [lacksInput])
  assert.deepEqual(await notes(file('max_input_tokens: 9,')), [])
  // What is stored counts, though the file does not say it.
  assert.deepEqual(await notes(file('')), [])
  const channel = 'vendor: alpha, url: "https://vendor.example", credential: k, models: [n]'
  const narrow = (limit: string): string =>
    `models: { n: { vendor: alpha, max_input_tokens: 9, ${price} } }\nchannels: { c: { ${channel}${limit} } }`
  assert.deepEqual(await notes(narrow('')), [])
  assert.deepEqual(await notes(narrow(', output_limit: []')), [lacksOutput.replace('b;', 'n;')])
  const many = 'a b c d e f g'.split(' ').map((id) => `${id}${id}: { vendor: alpha, ${price} }`)
  const [note] = await notes(`models: { ${many.join(', ')} }`)
  assert.match(note ?? '', /^models without max_input_tokens: aa, bb, cc, dd, ee and 2 more; /)
})

test('a variable that is not set is noted on apply and leaves only its channel out of service', async (t) => {
  const { apply, snapshot } = await openStore(t)
  const result = await apply(demo.replace('env:ALPHA_KEY', 'env:MISSING_KEY'))
  assert.ok(result.kind === 'applied')
  assert.match(result.notes.join(), /MISSING_KEY is not set here/)
  const served = await snapshot()
  assert.deepEqual([...served.channels.keys()], ['alpha-reserve'])
  assert.match(served.outOfService[0]?.reason ?? '', /MISSING_KEY .* is not set/)
})

test('mistakes about the way to a vendor are errors with their lines', async (t) => {
  const { apply } = await openStore(t)
  const model = 'models: { m: { vendor: alpha, price: { input: 1, output: 2 } } }'
  const channel = (entry: string): string =>
    `${model}\nchannels: { c: { vendor: alpha, models: [m], ${entry} } }`
  const key = 'credential: env:A'
  for (const [entry, mistake] of [
    [
      'url: "https://a.example", credential: "ENV:ALPHA_KEY"',
      'credential: looks like the name of a variable; write env:ALPHA_KEY',
    ],
    [
      `url: "https://a.example", ${key}, headers: { x-a: "\${WORKSPACE}" }`,
      'headers.x-a: looks like the name of a variable; write env:WORKSPACE',
    ],
    [
      `url: "https://a.example/v1", ${key}`,
      'url: must end before /v1, which the gateway appends; write path: "" for an address that has it',
    ],
    [
      `url: "http://10.1.2.3", ${key}, proxy: "http://p:3128", allow_private: true`,
      'url: must begin with https:// where a proxy is on the way',
    ],
    [
      `url: "https://10.1.2.3", ${key}, proxy: "http://p:3128", allow_private: true`,
      'url: must be on the internet where a proxy is on the way',
    ],
    [
      `url: "https://a.example", ${key}, proxy: "http://user:word@p:3128"`,
      'proxy: must hold no user name or password; write env:NAME or file:/PATH, and the whole address there',
    ],
    [
      `url: "https://a.example", ${key}, chat_path: /v1/chat/completions`,
      'chat_path: must end before the path of the endpoint, which the gateway appends itself',
    ],
    [
      `url: "https://a.example", ${key}, headers: { Host: b.example }`,
      'headers.Host: must be another header: HTTP, the credential or the gateway uses this one',
    ],
  ] as const)
    assert.deepEqual(mistakesOf(await apply(channel(entry))), [`2 channels.c.${mistake}`])
  const whole = await apply(channel(`url: "https://a.example/v1", path: "", ${key}`))
  assert.equal(whole.kind, 'applied')
})

test('a header that refers to a variable which is not set leaves only its channel out of service', async (t) => {
  const { apply, snapshot } = await openStore(t)
  const header = 'credential: env:ALPHA_KEY\n    headers: { x-a: env:MISSING_HEADER }'
  const result = await apply(demo.replace('credential: env:ALPHA_KEY', header))
  assert.ok(result.kind === 'applied', JSON.stringify(result))
  assert.match(result.notes.join(), /MISSING_HEADER is not set here/)
  const { outOfService } = await snapshot()
  assert.match(outOfService[0]?.reason ?? '', /MISSING_HEADER with its header x-a is not set/)
})

test('a credential file is named by its whole path, noted where it is missing, and kept as a reference', async (t) => {
  const { apply, snapshot } = await openStore(t)
  const wrong = await apply(demo.replace('env:ALPHA_KEY', 'file:alpha.key'))
  assert.match(mistakesOf(wrong).join(), /must name a file after file: by its whole path/)
  const path = join(tmpdir(), 'turnpike-no-such-file')
  const applied = await apply(demo.replace('env:ALPHA_KEY', `file:${path}`))
  assert.ok(applied.kind === 'applied')
  assert.deepEqual(
    applied.notes.filter((note) => note.startsWith('channel ')),
    [
      `channel alpha-main: ${path} cannot be read (ENOENT) here; the gateway needs it to use the channel`,
    ],
  )
  const { outOfService } = await snapshot()
  assert.match(outOfService[0]?.reason ?? '', /with its credential cannot be read \(ENOENT\)/)
})

test('without a master key the channels with references still serve', async (t) => {
  const { apply, context } = await openStore(t)
  await apply(demo)
  const served = await loadSnapshot(context.database, {
    masterKey: () => {
      throw new Error('there is no key')
    },
    environment: context.environment,
    revision: 1,
  })
  assert.deepEqual([...served.channels.keys()], ['alpha-main'])
  assert.match(served.outOfService[0]?.reason ?? '', /there is no key/)
})

test('alpha and beta need no entry of their own', async (t) => {
  const { apply, snapshot, context } = await openStore(t)
  const bare = `
models: { m: { vendor: beta, price: { input: 1, output: 2 } } }
channels: { c: { vendor: beta, url: "http://127.0.0.1:9100", credential: k, models: [m] } }
`
  assert.equal((await apply(bare)).kind, 'applied')
  assert.equal((await snapshot()).vendors.get('beta')?.credential, 'bearer')
  assert.equal((await snapshot()).vendors.has('alpha'), false)
  assert.equal((await apply(await exportCatalogue(context))).kind, 'unchanged')
})

test('shared settings can be written once with an anchor and merged', async (t) => {
  const { apply, snapshot } = await openStore(t)
  const result = await apply(`
models: { m: { vendor: alpha, price: { input: 1, output: 2 } } }
channels:
  a: &usual { vendor: alpha, url: https://a.example, credential: k, models: [m] }
  b: { <<: *usual, url: https://b.example }
`)
  assert.equal(result.kind, 'applied')
  assert.equal((await snapshot()).channels.get('b')?.url, 'https://b.example')
})

test('limits for the first event and for pings are applied, shown, exported and served', async (t) => {
  const { apply, context, snapshot } = await openStore(t)
  const plain = `
models: { m: { vendor: alpha, price: { input: 1, output: 2 } } }
channels: { a: { vendor: alpha, url: https://a.example, credential: k, models: [m] } }
`
  const pinned = `
models:
  m: { vendor: alpha, first_event_timeout: 10m, ping_timeout: 20m, price: { input: 1, output: 2 } }
channels:
  a:
    vendor: alpha
    url: https://a.example
    credential: k
    models: [m]
    baselines: { m: { p50: 800ms, p95: 2s } }
`
  await apply(plain)
  const applied = await apply(pinned)
  assert.ok(applied.kind === 'applied')
  assert.deepEqual(
    applied.diff.flatMap(({ changes }) => changes),
    [
      { field: 'first_event_timeout', from: undefined, to: '10m' },
      { field: 'ping_timeout', from: undefined, to: '20m' },
      { field: 'baselines', from: undefined, to: 'm p50 800ms, p95 2s' },
    ],
  )
  const served = await snapshot()
  assert.equal(served.models.get('m')?.firstEventTimeoutMs, 600_000)
  assert.equal(served.models.get('m')?.pingTimeoutMs, 1_200_000)
  assert.deepEqual(
    served.channels.get('a')?.baselines,
    new Map([['m', { p50Ms: 800, p95Ms: 2_000 }]]),
  )
  assert.equal((await apply(await exportCatalogue(context))).kind, 'unchanged')
  assert.equal((await apply(plain)).kind, 'applied')
  const after = await snapshot()
  assert.equal(after.models.get('m')?.firstEventTimeoutMs, undefined)
  assert.equal(after.models.get('m')?.pingTimeoutMs, undefined)
  assert.equal(after.channels.get('a')?.baselines?.size, 0)
})

test('invalid limits for the first event are reported with their lines', async (t) => {
  const { apply } = await openStore(t)
  const result = await apply(`models:
  m: { vendor: alpha, first_event_timeout: 10, price: { input: 1, output: 2 } }
channels:
  a:
    vendor: alpha
    url: https://a.example
    credential: k
    models: [m]
    baselines:
      n: { p50: 800ms, p95: 2s }
      m: { p50: 3s, p95: 2s }
  b: { vendor: alpha, url: https://b.example, credential: k, models: [m], baselines: { m: 2s } }
`)
  const seen = mistakesOf(result)
  for (const expected of [
    /^2 models\.m\.first_event_timeout: must be a duration such as 800ms, 30s or 10m, from 10ms to 1h/,
    /^11 channels\.a\.baselines\.m\.p95: cannot be below p50/,
    /^12 channels\.b\.baselines\.m: must be p50 and p95/,
  ])
    assert.ok(
      seen.some((line) => expected.test(line)),
      `${String(expected)} in ${seen.join('\n')}`,
    )
  const unserved = await apply(`models: { m: { vendor: alpha, price: { input: 1, output: 2 } } }
channels:
  a:
    { vendor: alpha, url: https://a.example, credential: k, models: [m], baselines: { n: { p50: 1s, p95: 2s } } }
`)
  assert.match(
    mistakesOf(unserved).join(),
    /channels\.a\.baselines\.n: this channel does not serve n/,
  )
})

test('all errors are reported at once, each with its line, and nothing is applied', async (t) => {
  const { apply, snapshot } = await openStore(t)
  const result = await apply(`vendors:
  alpha: { format: mesages }
  health: { format: chat }
models:
  large-1:
    vendor: alfa
    max_output_token: 100
    price: { inptu: 3, output: -1 }
  "bad id": { vendor: alpha }
  small-1: { vendor: beta, price: { input: 1, output: 1 } }
channels:
  Main: { vendor: alpha, url: https://ok.example, credential: k, models: [] }
  second:
    vendor: alpha
    url: https://user:pass@vendor.example
    credential: env:not-a-name
    models:
      - large-1
      - small-1
      - larg-1
    rank: -1
    wieght: 2
  all: { vendor: alpha, url: https://ok.example, credential: k, models: [large-1] }
chanels: {}
`)
  const seen = mistakesOf(result)
  for (const expected of [
    /^2 vendors\.alpha\.format: must be one of messages, chat/,
    /^3 vendors\.health: health is reserved/,
    /^6 models\.large-1\.vendor: there is no vendor alfa \(did you mean alpha\?\)/,
    /^7 models\.large-1\.max_output_token: unknown key max_output_token \(did you mean max_output_tokens\?\)/,
    /^8 models\.large-1\.price\.inptu: unknown key inptu \(did you mean input\?\)/,
    /^8 models\.large-1\.price\.output: /,
    /^9 models\.bad id: a model id has/,
    /^12 channels\.Main: a channel's name has/,
    /^12 channels\.Main\.models: must name at least one model/,
    /^15 channels\.second\.url: must hold no user name/,
    /^16 channels\.second\.credential: must name an environment variable/,
    /^19 channels\.second\.models\.1: small-1 belongs to vendor beta, this channel to alpha/,
    /^20 channels\.second\.models\.2: there is no model larg-1 \(did you mean large-1\?\)/,
    /^21 channels\.second\.rank: must be a whole number from 0 to 99/,
    /^22 channels\.second\.wieght: unknown key wieght \(did you mean weight\?\)/,
    /^23 channels\.all: all is reserved/,
    /^24 chanels: unknown key chanels \(did you mean channels\?\)/,
  ])
    assert.ok(
      seen.some((line) => expected.test(line)),
      `${String(expected)} in\n${seen.join('\n')}`,
    )
  assert.ok(!seen.join().includes('pass@'))
  assert.equal((await snapshot()).vendors.size, 0)
})

test('references are checked: vendor, model, and that both belong together', async (t) => {
  const { apply } = await openStore(t)
  const seen = mistakesOf(
    await apply(`
models:
  m: { vendor: alpha, price: { input: 1, output: 1 } }
  n: { vendor: betta, price: { input: 1, output: 1 } }
channels:
  a: { vendor: gamma, url: https://a.example, credential: k, models: [m] }
  b:
    vendor: beta
    url: https://b.example
    credential: k
    models: { m: other, unknown-1: x }
`),
  )
  assert.deepEqual(seen, [
    '4 models.n.vendor: there is no vendor betta (did you mean beta?)',
    '6 channels.a.vendor: there is no vendor gamma',
    '11 channels.b.models.m: m belongs to vendor alpha, this channel to beta',
    '11 channels.b.models.unknown-1: there is no model unknown-1',
  ])
})

test('references are checked in entries with other errors, too, each once', async (t) => {
  const { apply } = await openStore(t)
  const seen = mistakesOf(
    await apply(`
models:
  m: { vendor: alpah, max_output_tokens: many }
  n: { vendor: 7 }
channels:
  a: { vendor: alpha, url: nowhere, credential: k, models: [nosuch, nosuch, n, 5] }
  b:
    vendor: gamma
    url: https://b.example
    credential: 'a b'
    models: { nosuch: null }
    baselines: { n: { p50: 1s, p95: 2s } }
  c: { vendor: alpha, url: https://c.example, credential: k, models: large }
`),
  )
  assert.deepEqual(seen, [
    '3 models.m.vendor: there is no vendor alpah (did you mean alpha?)',
    '3 models.m.max_output_tokens: must be a whole number from 1 to 100000000',
    '4 models.n.vendor: must be the name of a vendor',
    '6 channels.a.url: must be a web address such as https://vendor.example',
    '6 channels.a.models.0: there is no model nosuch',
    '6 channels.a.models.1: nosuch is in the list twice',
    '6 channels.a.models.3: must be the id of a model',
    '8 channels.b.vendor: there is no vendor gamma',
    '10 channels.b.credential: must have no spaces, line breaks or characters outside ASCII',
    '11 channels.b.models.nosuch: there is no model nosuch',
    '12 channels.b.baselines.n: this channel does not serve n',
    '13 channels.c.models: must be a list of models, or a mapping of models to their names at the vendor',
  ])
})

test('an address in a private network is applied only where the channel says so', async (t) => {
  const { apply, context } = await openStore(t)
  const file = (url: string, more = ''): string => `
models: { m: { vendor: beta, price: { input: 1, output: 2 } } }
channels: { c: { vendor: beta, url: "${url}", credential: env:ALPHA_KEY, models: [m]${more} } }
`
  const addresses = [
    'http://10.1.2.3',
    'https://172.31.0.1/base',
    'http://192.168.0.7:8000',
    'http://100.64.0.1',
    'http://[fd00::1]',
    'https://[::ffff:10.1.2.3]',
    'http://vllm.internal',
    'https://model-server',
  ]
  for (const url of addresses) {
    assert.deepEqual(mistakesOf(await apply(file(url))), [
      '3 channels.c.url: is an address in a private network; add allow_private: true if that is meant',
    ])
    assert.equal((await apply(file(url, ', allow_private: true'))).kind, 'applied', url)
    const exported = await exportCatalogue(context)
    assert.match(exported, /allow_private: true/)
    assert.equal((await apply(exported)).kind, 'unchanged')
  }
  for (const url of [
    'http://127.0.0.1:9100',
    'http://[::1]',
    'http://localhost:9100',
    'https://vendor.example',
    'https://8.8.8.8',
  ])
    assert.equal((await apply(file(url))).kind, 'applied', url)
})

test('a missing field is reported at its entry', async (t) => {
  const { apply } = await openStore(t)
  const seen = mistakesOf(
    await apply(
      'channels:\n  a:\n    vendor: alpha\n    models: [m]\nmodels: { m: { vendor: alpha } }',
    ),
  )
  assert.deepEqual(seen, [
    '2 channels.a.url: url is missing: it must be a web address such as https://vendor.example',
    '2 channels.a.credential: credential is missing: it must be env:NAME, file:/PATH, or the secret itself (apply seals it)',
  ])
})

test('text that is not YAML, repeats keys or is hostile is an error, never a crash', async (t) => {
  const { apply } = await openStore(t)
  const bomb =
    'a: &a [x,x,x,x,x,x,x,x,x,x]\n' +
    'bcdefg'
      .split('')
      .map((name, index) => {
        const previous = `*${'abcdefg'.charAt(index)}`
        return `${name}: &${name} [${Array.from({ length: 10 }, () => previous).join(',')}]\n`
      })
      .join('')
  const cases: readonly (readonly [string, RegExp])[] = [
    ['vendors: {', /^1 : /],
    ['models: {}\nmodels: {}', /^2 : duplicate key/],
    ['channels: { a: {vendor: alpha, vendor: beta} }', /^1 : duplicate key/],
    ['models: { 1: {}, "1": {} }', /duplicate key/],
    [bomb, /aliases cannot be followed/],
    ['a: 1\nb: *nowhere', /^2 : there is no &nowhere before \*nowhere/],
    ['vendors:\n  x:\n    <<: 5', /^1 : << needs a mapping or a list of mappings/],
    ['vendors:\n  x:\n    <<: [{}, 1]', /^1 : << needs a mapping or a list of mappings/],
    ['a: &a 5\nvendors:\n  x:\n    <<: *a', /^1 : << needs a mapping or a list of mappings/],
    ['vendors:\n  x:\n    <<: *q', /^3 : there is no &q before \*q/],
    ['vendors: {}\n---\nmodels: {}', /^2 : the file must have one document/],
    ['['.repeat(200_000), /^1 : /],
    ['x'.repeat(5_000_000), /larger than/],
    ['- a\n- b', /must be a mapping with vendors/],
    ['just text', /must be a mapping with vendors/],
    ['vendors: 3', /vendors: must be a mapping of names to vendors/],
    ['vendors: { alpha: 3 }', /vendors.alpha: must be a mapping with format/],
    ['vendors: { __proto__: { format: chat } }', /a vendor's name has/],
    ['channels: { a: { models: 3 } }', /channels.a.models: must be a list of models/],
    ['channels: { a: { models: [1, m, m] } }', /must be the id of a model/],
    ['channels: { a: { models: { m: "two words" } } }', /must be the vendor's name for the model/],
    ['channels: { a: { credential: "a\\nb" } }', /must have no spaces, line breaks/],
    ['vendors: { v: { format: chat, default_version: "1" } }', /needs a version_header/],
    [
      'models:\n  m: { vendor: beta, dated: true }\n  m-20260115: { vendor: beta }',
      /^2 models.m.dated: m-20260115 is a model of its own; write dated: false/,
    ],
  ]
  for (const [text, expected] of cases) {
    const seen = mistakesOf(await apply(text))
    assert.ok(
      seen.some((line) => expected.test(line)),
      `${String(expected)} in\n${seen.join('\n')}`,
    )
  }
})

test('a version header has no name that the gateway or HTTP uses itself', async (t) => {
  const { apply } = await openStore(t)
  const vendor = (name: string): string =>
    `vendors: { v: { format: chat, version_header: ${name}, default_version: "1" } }`
  const taken = (
    'content-length Host connection content-type transfer-encoding x-api-key authorization ' +
    'accept-encoding accept user-agent keep-alive te upgrade expect cookie proxy-authorization ' +
    'x-turnpike-request-id content-encoding'
  ).split(' ')
  for (const name of taken) {
    const [seen, ...more] = mistakesOf(await apply(vendor(name)))
    assert.match(seen ?? name, /^1 vendors\.v\.version_header: must be a header of the vendor; /)
    assert.deepEqual(more, [])
  }
  for (const name of ['anthropic-version', 'API-Version'])
    assert.notEqual((await apply(vendor(name))).kind, 'mistakes', name)
})

test('merged fields count as fields of the entry', async (t) => {
  const { apply, snapshot } = await openStore(t)
  const text = `
vendors: { gamma: &common { format: chat }, delta: { <<: *common }, zeta: { <<: [*common] } }`
  assert.equal((await apply(text)).kind, 'applied')
  assert.deepEqual([...(await snapshot()).vendors.keys()], ['delta', 'gamma', 'zeta'])
})

test('a section whose entries are all commented out retires nothing', async (t) => {
  const { apply } = await openStore(t)
  for (const section of ['vendors', 'models', 'channels'])
    assert.deepEqual(mistakesOf(await apply(`${section}:\n  # a: {}\n`)), [
      `1 ${section}: has no entries; to retire all ${section} write \`${section}: {}\``,
    ])
})

test('an error in a price or a list uses the words of the file and says what is valid', async (t) => {
  const { apply } = await openStore(t)
  const priced = (more: string): string =>
    `models: { m: { vendor: beta, price: { input: 1, output: 2, ${more} } } }`
  const cases = [
    [priced('multiplier: 2'), /^1 models\.m\.price\.multiplier: unknown key multiplier$/],
    [
      priced('tiers: { batch: { input: 1, output: 2, multiplie: 2 } }'),
      /multiplie \(did you mean multiplier\?\)$/,
    ],
    [priced('tiers: { batch: 0.5 }'), /tiers\.batch: must be .* such as \{ multiplier: 0\.5 \}$/],
    [priced('tiers: 0.5'), /price\.tiers: must be a mapping of names to/],
    [priced('tiers: { "a b": { multiplier: 1 } }'), /tiers.a b: .*letters, digits, _ \. -$/],
    [priced('long_context: 5'), /price\.long_context: must be a mapping with above,/],
    ['models: { m: { vendor: beta, price: [5] } }', /price\.0: must be a mapping with input,/],
    [
      'vendors: { v: { format: chat, allow: threads } }',
      /v\.allow: must be a list of account_files,/,
    ],
  ] as const
  for (const [text, expected] of cases) {
    const seen = mistakesOf(await apply(text))
    assert.equal(seen.length, 1, seen.join('\n'))
    assert.match(seen[0] ?? '', expected)
  }
})

test('a duplicate key hides no other error, and nothing is applied', async (t) => {
  const { apply, context } = await openStore(t)
  const text = [
    'models: { m: { vendor: beta, price: { input: 1, output: 2 } } }',
    'channels:',
    '  c: { vendor: beta, url: "https://a.example", credential: env:C, models: [m] }',
    '  c: { vendor: beta, url: "ftp://a.example", credential: env:C, models: [m] }',
    'bogus: 1',
  ].join('\n')
  assert.deepEqual(mistakesOf(await apply(text)), [
    '4 : duplicate key in this mapping',
    '4 channels.c.url: must begin with https://',
    '5 bogus: unknown key bogus',
  ])
  assert.deepEqual((await context.database.snapshot(readCatalogue)).models, [])
})

test('a set or any other tagged value is refused: read as data it would retire what it names', async (t) => {
  const { apply, context } = await openStore(t)
  await apply(
    'channels: { c: { vendor: beta, url: "https://a.example", credential: env:C, models: [] } }',
  )
  const before = await exportCatalogue(context)
  assert.deepEqual(mistakesOf(await apply('channels: !!set { c }\nmodels: !!omap []\n')), [
    '1 : the tag !!set has no meaning here; leave it out',
    '2 : the tag !!omap has no meaning here; leave it out',
  ])
  assert.equal(await exportCatalogue(context), before)
  assert.deepEqual(mistakesOf(await apply('"": 1\n"\\u0007": 1\nmodels: !!map {}')), [
    '1 : unknown key ""',
    '2 \u0007: unknown key "\\u0007"',
  ])
})

test('an export quotes text that older YAML would read as another type', async (t) => {
  const { apply, context } = await openStore(t)
  await apply(
    'vendors: { alpha: { format: messages, version_header: v, default_version: "2023-06-01" } }',
  )
  assert.match(await exportCatalogue(context), /default_version: "2023-06-01"/)
})

test('the actor and a difference without secrets are recorded with the change', async (t) => {
  const { apply, context } = await openStore(t)
  await apply(demo)
  const [action] = await recentActions(context, { limit: 1 })
  assert.equal(action?.actor, 'cli:test')
  assert.equal(action?.action, 'catalogue.apply')
  assert.ok(!JSON.stringify(action?.detail).includes('sk-'))
})

test('the examples of the catalogue page apply', async (t) => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/catalogue.md'), 'utf8')
  const examples = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text ?? '')
  assert.equal(examples.length, 7)
  for (const example of examples) {
    const { apply } = await openStore(t)
    assert.equal((await apply(example)).kind, 'applied')
  }
})

test('the built-in vendors are those that the catalogue page lists', async (t) => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/catalogue.md'), 'utf8')
  const vendors = /```yaml\n(vendors:\n  alpha:[^`]*\n  beta:[^`]*)```/.exec(page)?.[1] ?? ''
  const models = 'models: { m: { vendor: alpha }, n: { vendor: beta } }\n'
  const { apply } = await openStore(t)
  assert.equal((await apply(models)).kind, 'applied')
  assert.equal((await apply(vendors + models)).kind, 'unchanged')
})

test('property: whatever catalogue is applied, its export is unchanged and exports the same', async (t) => {
  const { apply, context, clock } = await openStore(t)
  const price = fc.integer({ min: 0, max: 99_999_999 }).map((micros) => micros / 1_000_000)
  const name = fc.stringMatching(/^[a-z0-9][a-z0-9._-]{0,5}$/)
  const catalogueArbitrary = fc
    .record({
      vendors: fc.uniqueArray(
        name.map((text) => `vendor-${text}`),
        { minLength: 1, maxLength: 3 },
      ),
      models: fc.uniqueArray(name, { minLength: 1, maxLength: 4 }),
      channels: fc.uniqueArray(name, { maxLength: 4 }),
      prices: fc.array(fc.record({ input: price, output: price }), { minLength: 4, maxLength: 4 }),
      weights: fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 4, maxLength: 4 }),
      credential: fc.constantFrom('env:ALPHA_KEY', 'sk-one', 'sk-two'),
      isMapped: fc.boolean(),
      cost: fc.option(
        fc.oneof(
          price.map((factor) => ({ factor })),
          price,
        ),
      ),
    })
    .map((parts) => {
      const vendorOf = (index: number): string => parts.vendors[index % parts.vendors.length] ?? ''
      return {
        vendors: Object.fromEntries(parts.vendors.map((one) => [one, { format: 'chat' }])),
        models: Object.fromEntries(
          parts.models.map((one, index) => [
            one,
            { vendor: vendorOf(index), price: parts.prices[index] },
          ]),
        ),
        channels: Object.fromEntries(
          parts.channels.map((one, index) => {
            const model = parts.models[index % parts.models.length] ?? ''
            return [
              one,
              {
                vendor: vendorOf(index % parts.models.length),
                url: `https://${index}.example`,
                credential: parts.credential,
                models: parts.isMapped ? { [model]: 'other' } : [model],
                weight: parts.weights[index],
                ...(typeof parts.cost === 'number' && {
                  cost: { [model]: { input: parts.cost, output: parts.cost } },
                }),
                ...(typeof parts.cost === 'object' && parts.cost !== null && { cost: parts.cost }),
              },
            ]
          }),
        ),
      }
    })
  await fc.assert(
    fc.asyncProperty(catalogueArbitrary, async (catalogue) => {
      clock.advance(10)
      // JSON is YAML.
      const applied = await apply(JSON.stringify(catalogue))
      assert.ok(applied.kind === 'applied' || applied.kind === 'unchanged', JSON.stringify(applied))
      const text = await exportCatalogue(context)
      assert.equal((await apply(text)).kind, 'unchanged')
      assert.equal((await apply(JSON.stringify(catalogue))).kind, 'unchanged')
      assert.equal(await exportCatalogue(context), text)
    }),
    { numRuns: 25 },
  )
})

test('a catalogue of many models is read in pages, and becomes a snapshot in turns', async (t) => {
  const { context, apply, snapshot } = await openStore(t)
  const ids = Array.from({ length: 650 }, (_, index) => `m-${index}`)
  const channelOf = (index: number) => ({
    vendor: 'alpha',
    url: `https://${index}.example`,
    credential: 'sk-literal',
    models: ids.filter((_, place) => place % 25 === index),
  })
  const catalogue = {
    vendors: { alpha: { format: 'messages' } },
    models: Object.fromEntries(
      ids.map((id) => [id, { vendor: 'alpha', price: { input: 3, output: 15 } }]),
    ),
    channels: Object.fromEntries(
      Array.from({ length: 25 }, (_, index) => [`c-${index}`, channelOf(index)]),
    ),
  }
  await apply(JSON.stringify(catalogue))
  let longestPage = 0
  const { models, channels } = await readCatalogue({
    async query(sql, parameters) {
      const rows = await context.database.query(sql, parameters)
      longestPage = Math.max(longestPage, rows.length)
      return rows
    },
  })
  assert.equal(longestPage, 200)
  assert.deepEqual(models.map(({ id }) => id).sort(), ids.toSorted())
  assert.equal(channels.length, 25)
  let turns = 0
  const turn = (): void => {
    turns++
    if (turns < 8) setImmediate(turn)
  }
  setImmediate(turn)
  const loaded = await snapshot()
  assert.equal(turns, 8)
  assert.equal(loaded.models.size, 650)
  assert.equal(loaded.channelsByModel.get('m-649')?.[0]?.name, 'c-24')
})
