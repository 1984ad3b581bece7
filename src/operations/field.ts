/**
 * Facts of an input's field, read from its schema: its type, whether it may be left out, the words it
 * chooses from, and its description. The admin API reads a query by it, the command line makes options of it.
 */
import { z } from 'zod'

export interface Field {
  /** Without what wraps it: null, a default, a transformation. */
  readonly type: z.ZodType
  readonly isRequired: boolean
  readonly isNullable: boolean
  /** The meaning of an absent field, where that is text; empty = not said. */
  readonly fallback: string
  readonly description: string
  /** What it chooses from; undefined = anything. */
  readonly choices: readonly string[] | undefined
}

/** Reads the schema of a field. */
export function readField(schema: z.ZodType): Field {
  const layers = layersOf(schema)
  const type = typeOf(schema)
  const ofLayers = <Fact>(read: (layer: z.ZodType) => Fact | undefined): Fact | undefined =>
    layers.map(read).find((fact) => fact !== undefined)
  const fallback = ofLayers((layer) =>
    layer instanceof z.ZodDefault ? layer.def.defaultValue : undefined,
  )
  return {
    type,
    isRequired: !schema.isOptional(),
    isNullable: layers.some((layer) => layer instanceof z.ZodNullable),
    fallback: typeof fallback === 'string' ? fallback : '',
    description: ofLayers(({ description }) => description) ?? '',
    choices: type instanceof z.ZodEnum ? type.options.map(String) : undefined,
  }
}

/** Returns the type of a field, without what wraps it. */
export function typeOf(schema: z.ZodType): z.ZodType {
  return layersOf(schema).at(-1) ?? schema
}

/** The schema and those that it wraps, the innermost last. */
function layersOf(schema: z.ZodType): readonly z.ZodType[] {
  const inner =
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodNullable
      ? schema.unwrap()
      : schema instanceof z.ZodPipe
        ? schema.in
        : undefined
  return inner instanceof z.ZodType ? [schema, ...layersOf(inner)] : [schema]
}
