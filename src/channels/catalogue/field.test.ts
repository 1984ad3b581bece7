/** Fields of the catalogue: a value stays the same when it is printed or stored, and lists have its shape. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { channelFields } from './channel-fields.ts'
import {
  columnsOf,
  describeEntry,
  entrySchema,
  keysOf,
  printEntry,
  readColumns,
  showEntry,
  shownShape,
  type Fields,
} from './field.ts'
import { modelEntryFields, modelFields } from './model-fields.ts'
import { vendorFields, withVendorDefaults } from './vendor-fields.ts'

const vendor = {
  format: 'chat',
  credential: 'x-api-key',
  version_header: 'x-version',
  default_version: '2023-06-01',
  require_max_tokens: true,
  allow: ['mcp', 'threads'],
  stored_responses: 'refuse',
}
const model = {
  vendor: 'beta',
  max_output_tokens: 8,
  max_input_tokens: 9,
  image_tokens: 7,
  first_event_timeout: '10m',
  ping_timeout: '1500ms',
  also: ['other', 'm[1m]'],
  dated: true,
  thinks: true,
  operations: ['chat', 'embeddings'],
}
const channel = {
  vendor: 'beta',
  url: 'https://vendor.example/base',
  credential: 'env:KEY',
  credential_form: 'api-key',
  path: '/api/paas/v4',
  chat_path: '/v1',
  query: { 'api-version': '2026-10-01' },
  headers: { 'x-workspace': 'env:WORKSPACE', 'x-team': 'some text' },
  proxy: 'http://proxy.example:3128',
  stream_usage: 'never',
  drop_betas: ['other-*', 'some-beta-2026-01-15'],
  models: { a: 'other', b: null },
  rank: 3,
  weight: 7,
  max_concurrent: 5,
  check: 'none',
  output_limit: ['max_completion_tokens', 'max_tokens'],
  first_event_timeout: '9m',
  idle_timeout: '10m',
  baselines: { a: { p50: '800ms', p95: '2s' } },
  cost: { factor: 0.5, b: { input: 1, output: 2 } },
  allow_private: true,
}

interface Sample {
  readonly name: string
  readonly table: Fields
  readonly full: Readonly<Record<string, unknown>>
  readonly least: unknown
}

const samples: readonly Sample[] = [
  {
    name: 'a vendor',
    table: vendorFields,
    full: vendor,
    least: withVendorDefaults({ format: 'chat' }),
  },
  { name: 'a model', table: modelFields, full: model, least: { vendor: 'beta' } },
  {
    name: 'a channel',
    table: channelFields,
    full: channel,
    least: { vendor: 'beta', url: 'https://vendor.example', credential: 'k', models: ['a'] },
  },
]

for (const { name, table, full, least } of samples)
  describe(name, () => {
    const schema = entrySchema(table)

    test('with every field is the same after printing and after storing', () => {
      assert.deepEqual(Object.keys(full), keysOf(table))
      for (const given of [full, least]) {
        const entry = schema.parse(given)
        assert.deepEqual(schema.parse(printEntry(table, entry)), entry)
        assert.deepEqual(readColumns(table, columnsOf(table, entry)), entry)
      }
      assert.deepEqual(printEntry(table, schema.parse(full)), full)
    })

    test('has the shape of lists, with null for what is not set', () => {
      const shape = z.strictObject(shownShape(table))
      for (const given of [full, least]) shape.parse(showEntry(table, schema.parse(given)))
    })
  })

test('the keys of a model include its price', () => {
  assert.deepEqual(keysOf(modelEntryFields), [...keysOf(modelFields), 'price'])
})

test('a list of differences shows mappings by their paths', () => {
  const described = describeEntry(channelFields, entrySchema(channelFields).parse(channel))
  assert.equal(described.get('models'), 'a as other, b')
  assert.equal(described.get('baselines'), 'a p50 800ms, p95 2s')
  assert.equal(described.get('cost.b.output'), '2')
})

test('an empty list of output limits is none of them, and not the default', () => {
  const given = { ...channel, output_limit: [] }
  const entry = entrySchema(channelFields).parse(given)
  assert.deepEqual(readColumns(channelFields, columnsOf(channelFields, entry)), entry)
  assert.deepEqual(printEntry(channelFields, entry)['output_limit'], [])
  assert.equal(describeEntry(channelFields, entry).get('output_limit'), 'none')
})

test('a word of a stored list that only a newer version knows is left out', () => {
  const row = columnsOf(vendorFields, entrySchema(vendorFields).parse(vendor))
  const read = readColumns(vendorFields, { ...row, allowed_features: 'threads,unheard_of' })
  assert.deepEqual(read.allowedFeatures, new Set(['threads']))
})
