/**
 * The fields of catalogue entries as other programs see them: the inputs of the endpoints that change
 * entries, the JSON Schema of the file, and what a form for an entry is made of. All of it comes from the
 * tables of fields.
 */
import { z } from 'zod'
import { controls, type WrittenField, type WrittenFields } from '../../channels/catalogue/field.ts'
import type { Answer } from '../answer-forms.ts'
import { noInput, operation } from '../operation.ts'
import { entryFields, type Section } from './entries.ts'
import { revisionForm } from './revision.ts'
import { startingFacts } from './starting-catalogue.ts'

type JsonSchema = Readonly<Record<string, unknown>>

/** Returns what the file may have for a field, as far as JSON Schema can say it. */
function schemaOf({ schema, meaning }: WrittenField): JsonSchema {
  const { $schema: _, ...form } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  return { ...form, description: meaning }
}

/** Returns the shape of an input with these fields. A check of the whole catalogue decides what fits. */
export function inputShape(table: WrittenFields): Readonly<Record<string, z.ZodType>> {
  return shapeOf(table, (field) => z.unknown().meta(schemaOf(field)))
}

/** The same for a merge patch: null removes a field, and a mapping changes in part. */
export function patchShape(table: WrittenFields): Readonly<Record<string, z.ZodType>> {
  return shapeOf(table, (field) => {
    const form = schemaOf(field)
    const isMapping = JSON.stringify(form).includes('"type":"object"')
    return z.unknown().meta({
      anyOf: [form, ...(isMapping ? [{ type: 'object' }] : []), { type: 'null' }],
      description: field.meaning,
    })
  })
}

function shapeOf(
  table: WrittenFields,
  inputOf: (field: WrittenField) => z.ZodType,
): Readonly<Record<string, z.ZodType>> {
  return Object.fromEntries(
    Object.values(table).map((field) => [field.key, inputOf(field).optional()]),
  )
}

const json = z.record(z.string(), z.unknown())

const fieldForm = z.strictObject({
  key: z.string(),
  meaning: z.string().meta({ description: 'Markdown.' }),
  kind: z.enum(controls).meta({ description: 'By what a form lets an operator give it.' }),
  options: z.array(z.string()).nullable().meta({ description: 'What it chooses from.' }),
  default: z
    .unknown()
    .meta({ description: 'The value of an absent field; null where it has none.' }),
  default_text: z.string().nullable().meta({ description: 'The same in words, as Markdown.' }),
  is_required: z.boolean(),
  is_secret: z.boolean(),
})

const formsForm = z.strictObject({
  vendors: z.array(fieldForm),
  models: z.array(fieldForm),
  channels: z.array(fieldForm),
  schema: json.meta({ description: 'JSON Schema of the catalogue file.' }),
  presets: z.array(
    z.strictObject({
      name: z.string(),
      title: z.string(),
      vendor: z.strictObject({ name: z.string(), entry: json }),
      channel: json,
      models: z.record(z.string(), json),
      prices_read_on: z.iso.date(),
    }),
  ),
})

/** Returns what forms for entries are made of, and the schema for an editor of the file. */
export const showForms = operation({ input: noInput, answer: formsForm }, () => {
  const { presets, readOn } = startingFacts()
  return Promise.resolve({
    vendors: fieldsOf('vendors'),
    models: fieldsOf('models'),
    channels: fieldsOf('channels'),
    schema: fileSchema(),
    presets: presets.map((preset) => ({ ...preset, prices_read_on: readOn })),
  })
})

function fieldsOf(section: Section): readonly Answer<typeof fieldForm>[] {
  return tableOf(section).map((field) => {
    const { key, meaning, control, usual = null, fallback } = field
    return {
      key,
      meaning,
      kind: control,
      options: optionsOf(schemaOf(field)),
      default: usual,
      default_text: isRequired(field) ? null : fallback,
      is_required: isRequired(field),
      is_secret: control === 'secret',
    }
  })
}

function tableOf(section: Section): readonly WrittenField[] {
  return Object.values<WrittenField>(entryFields[section])
}

function isRequired({ fallback }: WrittenField): boolean {
  return fallback === 'required'
}

/** Of a choice its words, and of a list those of its items. */
function optionsOf(schema: JsonSchema): readonly string[] | null {
  const words = schema['enum'] ?? (schema['items'] as JsonSchema | undefined)?.['enum']
  return Array.isArray(words) ? words.map(String) : null
}

function fileSchema(): JsonSchema {
  const sectionSchema = (section: Section): JsonSchema => {
    const fields = tableOf(section)
    return {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: Object.fromEntries(fields.map((field) => [field.key, schemaOf(field)])),
        required: fields.filter(isRequired).map(({ key }) => key),
        additionalProperties: false,
      },
    }
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    properties: {
      revision: z.toJSONSchema(revisionForm),
      vendors: sectionSchema('vendors'),
      models: sectionSchema('models'),
      channels: sectionSchema('channels'),
    },
    additionalProperties: false,
  }
}
