/**
 * The fields of catalogue entries as other programs see them: the inputs of the endpoints that change
 * entries, the JSON Schema of the file, and what a form for an entry is made of. All of it comes from the
 * tables of fields.
 */
import { z } from 'zod'
import type { WrittenField, WrittenFields } from '../../channels/catalogue/field.ts'

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
