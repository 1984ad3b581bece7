/** Forms for entries, and the schema of the file, follow from the tables of fields. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { contextOn } from '../context.ts'
import { valueOf } from '../operation.ts'
import type { Database } from '../../storage/database.ts'
import { entryFields, entryKeys, type Section } from './entries.ts'
import { changeOptions } from './catalogue.ts'
import { showForms } from './field-forms.ts'
import { reviewCatalogue } from './review.ts'

const sections = Object.keys(entryFields) as readonly Section[]
const noDatabase = {} as Database
const forms = valueOf(await showForms(contextOn(noDatabase, { actor: 'test' }), {}))

test('each field of an entry has a form', () => {
  for (const section of sections)
    assert.deepEqual(
      forms[section].map(({ key }) => key),
      entryKeys(section),
    )
  const field = (section: Section, key: string) => forms[section].find((one) => one.key === key)
  assert.deepEqual(field('channels', 'check'), {
    key: 'check',
    meaning:
      'How the gateway checks the channel: `request` sends a tiny model request, `models` a listing call, `none` nothing.',
    kind: 'choice',
    options: ['request', 'models', 'none'],
    default: 'request',
    default_text: '`request`',
    is_required: false,
    is_secret: false,
  })
  const secrets = sections.flatMap((section) => forms[section].filter((one) => one.is_secret))
  assert.deepEqual(
    secrets.map(({ key }) => key),
    ['credential'],
  )
  const required = forms.channels.filter((one) => one.is_required).map(({ key }) => key)
  assert.deepEqual(required, ['vendor', 'url', 'credential', 'models'])
})

test('no field has the name of an option of a change, or of an entry', () => {
  const taken = [...Object.keys(changeOptions.shape), 'name', 'id', 'channel', 'model']
  for (const section of sections)
    for (const key of entryKeys(section)) assert.ok(!taken.includes(key), key)
  assert.ok(!entryKeys('vendors').includes('vendor'))
})

test('the schema takes what the program takes', async () => {
  const schema = z.fromJSONSchema(forms.schema)
  for (const preset of forms.presets) {
    const { name, vendor, channel, models } = preset
    const file = { vendors: { [vendor.name]: vendor.entry }, models, channels: { [name]: channel } }
    assert.deepEqual((await reviewCatalogue(file)).faults, [], name)
    assert.equal(schema.safeParse(file).error, undefined, name)
    assert.match(preset.prices_read_on, /^\d{4}-\d\d-\d\d$/)
  }
  const wrong = { channels: { one: { vendor: 'alpha', url: 'https://one.example', weigth: 1 } } }
  assert.notEqual(schema.safeParse(wrong).error, undefined)
})
