/**
 * A change of one entry leaves the store as a full apply of the file with that entry changed does. Goal: the
 * two ways of an operator are one. Approach: generated catalogues and changes, two stores side by side; the
 * test makes the changed file from the export by a merge patch of its own.
 */
/* oxlint-disable typescript/no-floating-promises -- the test runner waits for its tests by itself */
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import fc from 'fast-check'
import { parse, stringify } from 'yaml'
import { isObject } from '../../src/base/object.ts'
import { Secret } from '../../src/base/secret.ts'
import { contextOn } from '../../src/operations/context.ts'
import { applyCatalogue } from '../../src/operations/catalogue/catalogue.ts'
import {
  channelChanges,
  modelChanges,
  vendorChanges,
} from '../../src/operations/catalogue/entry-changes.ts'
import type { Section } from '../../src/operations/catalogue/entries.ts'
import { valueOf, type OperationContext } from '../../src/operations/operation.ts'
import { unseal } from '../../src/storage/master-key.ts'
import { exportCatalogue } from '../support/operations.ts'
import type { LedgerHarness } from './ledger-harness.ts'

type Form = Readonly<Record<string, unknown>>
type Catalogue = Readonly<Record<Section, Readonly<Record<string, Form>>>>

const masterKey = new Secret('5'.repeat(64))
const common = { actor: 'cli:test', masterKey: () => masterKey, environment: () => 'set' }
const modelIds = ['m-1', 'm-2', 'm.3', 'vendor/m-4'] as const
const channelNames = ['one', 'two', 'three'] as const

const price = fc.record(
  {
    input: fc.integer({ min: 0, max: 50 }),
    output: fc.integer({ min: 0, max: 50 }),
    cache_read: fc.integer({ min: 0, max: 5 }),
  },
  { requiredKeys: ['input', 'output'] },
)
const model = fc.record(
  {
    vendor: fc.constant('alpha'),
    max_output_tokens: fc.integer({ min: 1, max: 9_000 }),
    image_tokens: fc.integer({ min: 1, max: 9_000 }),
    thinks: fc.boolean(),
    first_event_timeout: fc.constantFrom('30s', '2m'),
    price: fc.oneof(
      price,
      fc.tuple(
        price,
        price.map((one) => ({ ...one, valid_from: '2099-01-01' })),
      ),
    ),
  },
  { requiredKeys: ['vendor'] },
)
const channel = fc.record(
  {
    vendor: fc.constant('alpha'),
    url: fc.constantFrom('https://a.example', 'https://b.example/v2'),
    credential: fc.constantFrom('env:ONE', 'env:TWO', 'sk-first', 'sk-second'),
    models: fc.oneof(
      fc.subarray([...modelIds], { minLength: 1 }),
      fc
        .subarray([...modelIds], { minLength: 1 })
        .map((ids) => Object.fromEntries(ids.map((id) => [id, `at-vendor-${id.length}`]))),
    ),
    rank: fc.integer({ min: 0, max: 3 }),
    weight: fc.constantFrom(1, 1, 2, 3, 4, 5, 6, 0),
    headers: fc.constantFrom({ 'x-a': 'b' }, { 'x-a': 'c', 'x-d': 'env:HEADER' }),
    check: fc.constantFrom('request', 'models', 'none'),
    cost: fc.constant({ factor: 0.5 }),
  },
  { requiredKeys: ['vendor', 'url', 'credential', 'models'] },
)
const fate = fc.constantFrom('keep', 'keep', 'keep', 'drop', 'drop', 'drop', 'null')
/** Of a whole entry any part, and null for some of the keys. */
const patchOf = (entry: fc.Arbitrary<Form>): fc.Arbitrary<Form> =>
  fc.tuple(entry, fc.array(fate, { minLength: 12, maxLength: 12 })).map(([form, fates]) =>
    Object.fromEntries(
      Object.entries(form)
        .filter((_, index) => fates[index] !== 'drop')
        .map(([key, value], index) => [key, fates[index] === 'null' ? null : value] as const),
    ),
  )

interface Change {
  readonly section: 'models' | 'channels'
  readonly name: string
  readonly kind: 'create' | 'edit' | 'retire'
  readonly form: Form
}

const isSome = (form: Form): boolean => Object.keys(form).length > 0
const kind = fc.constantFrom('create', 'edit', 'edit', 'retire')
const change: fc.Arbitrary<Change> = fc.oneof(
  fc
    .tuple(kind, fc.constantFrom(...modelIds), model, patchOf(model).filter(isSome))
    .map(([one, name, whole, patch]) => changeOf('models', name, one, { whole, patch })),
  fc
    .tuple(kind, fc.constantFrom(...channelNames), channel, patchOf(channel).filter(isSome))
    .map(([one, name, whole, patch]) => changeOf('channels', name, one, { whole, patch })),
)

function changeOf(
  section: Change['section'],
  name: string,
  one: Change['kind'],
  { whole, patch }: { readonly whole: Form; readonly patch: Form },
): Change {
  return { section, name, kind: one, form: one === 'create' ? whole : patch }
}

const [one, two] = channelNames
const catalogue = fc.record({
  models: fc.record(Object.fromEntries(modelIds.map((id) => [id, model]))),
  channels: fc.record({ [one]: channel, [two]: channel }),
})

const operations = { vendors: vendorChanges, models: modelChanges, channels: channelChanges }
const words = { vendors: 'vendor', models: 'model', channels: 'channel' }

export function describeEquivalence(name: string, open: () => Promise<LedgerHarness>): void {
  describe(name, () => {
    let harnesses: readonly LedgerHarness[]
    let byEntry: OperationContext
    let byFile: OperationContext
    beforeEach(async () => {
      const [first, second] = [await open(), await open()]
      harnesses = [first, second]
      byEntry = contextOn(first.database, { ...common, clock: first.clock })
      byFile = contextOn(second.database, { ...common, clock: second.clock })
    })
    afterEach(async () => {
      for (const harness of harnesses) await harness.close()
    })

    it('leaves the store that a full apply leaves', async () => {
      let appliedCount = 0
      await fc.assert(
        fc.asyncProperty(catalogue, change, async (base, made) => {
          for (const { clock } of harnesses) clock.advance(1_000)
          const text = stringify(base)
          const begun = await applyCatalogue(byEntry, { text })
          assert.equal((await applyCatalogue(byFile, { text })).kind, begun.kind)
          const exported = await exportCatalogue(byFile)
          const file = changedFile(parse(exported) as Catalogue, made)
          const entry = await perform(byEntry, made)
          const outcome =
            file === undefined ? undefined : await applyCatalogue(byFile, { text: file })
          if (outcome === undefined) assert.equal(entry.kind, 'refusal')
          else {
            assert.equal(entry.kind, outcome.kind, JSON.stringify([entry, outcome]))
            if (entry.kind === 'done' && outcome.kind === 'done') {
              assert.deepEqual({ ...entry.value, revision: '' }, { ...outcome.value, revision: '' })
              appliedCount += entry.value.kind === 'applied' ? 1 : 0
            }
          }
          assert.deepEqual(await rowsOf(byEntry), await rowsOf(byFile))
        }),
        { numRuns: 40 },
      )
      assert.ok(appliedCount > 10, `${appliedCount} changes were applied`)
      valueOf(await applyCatalogue(byEntry, { text: 'channels: {}\nmodels: {}\nvendors: {}' }))
    })
  })
}

function perform(context: OperationContext, { section, name, kind: one, form }: Change) {
  if (one === 'create') {
    const its = section === 'models' ? 'id' : 'name'
    return operations[section].create(context, { [its]: name, ...form })
  }
  const place = { [words[section]]: name }
  return one === 'edit'
    ? operations[section].edit(context, { ...place, ...form })
    : operations[section].retire(context, place)
}

/** Undefined where the entry is there already, or is not there. */
function changedFile(stored: Catalogue, { section, name, kind: one, form }: Change) {
  const entries = stored[section]
  if (Object.hasOwn(entries, name) === (one === 'create')) return undefined
  const { [name]: before, ...others } = entries
  const after = one === 'create' ? form : merge(before, form)
  const changed = one === 'retire' ? others : { ...entries, [name]: after }
  return stringify({ ...stored, [section]: changed })
}

/** An entry without these keeps the stored value, so a file removes them by null. */
const keptKeys = ['max_output_tokens', 'price', 'thinks']

/** RFC 7396, written down a second time. */
function merge(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch
  const result: Record<string, unknown> = isObject(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null && keptKeys.includes(key)) result[key] = null
    else if (value === null) delete result[key]
    else result[key] = merge(result[key], value)
  }
  return result
}

async function rowsOf({ database }: OperationContext): Promise<Form> {
  const tables = ['vendor', 'model', 'price', 'channel', 'former_credential']
  const rows: Record<string, unknown> = {}
  for (const table of tables) {
    const found = await database.query(`SELECT * FROM ${table}`)
    rows[table] = found.map((row) => JSON.stringify(opened(row), ofBigint)).sort()
  }
  return rows
}

function ofBigint(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}

/** A seal has a nonce of its own. */
function opened(row: Form): Form {
  const { credential, name, channel: owner = name } = row
  if (typeof credential !== 'string' || !credential.startsWith('sealed:')) return row
  const place = { owner: String(owner), field: 'credential' }
  const secret = unseal(masterKey, place, credential)
  return { ...row, credential: secret.kind === 'unsealed' ? secret.secret.reveal() : secret.kind }
}
