/**
 * Values for JSON schemas, checked by a validator that shares nothing with the builder: each schema is
 * written as a type of zod, which gives its JSON schema and judges the value.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { z } from 'zod'
import { buildInstance } from './schema-instance.ts'

const tree: z.ZodType = z.lazy(() => z.object({ name: z.string(), inner: z.array(tree) }))
const list: z.ZodType = z.lazy(() => z.object({ head: z.int(), rest: z.union([list, z.null()]) }))

const types: Readonly<Record<string, z.ZodType>> = {
  texts: z.object({
    short: z.string().max(3),
    long: z.string().min(200),
    exact: z.string().length(7),
    plate: z.string().regex(/^[A-Z]{2}-\d{3,4}(?:x|y)$/),
    many: z
      .string()
      .regex(/^(?:ab)+c*$/)
      .min(9),
    escaped: z.string().regex(/^\+\d\.\w\s[^a-z][.-9]$/),
  }),
  formats: z.object({
    email: z.email(),
    when: z.iso.datetime(),
    day: z.iso.date(),
    time: z.iso.time(),
    span: z.iso.duration(),
    id: z.uuid(),
    url: z.url(),
    address: z.ipv4(),
    longAddress: z.ipv6(),
    word: z.string().startsWith('pre-'),
  }),
  numbers: z.object({
    any: z.number(),
    whole: z.int(),
    low: z.number().min(-7).max(-3),
    open: z.number().gt(0).lt(1),
    above: z.int().gt(10),
    below: z.int().lt(-10),
    step: z.number().min(11).max(14).multipleOf(4),
    most: z.number().lte(0.5),
  }),
  choices: z.object({
    one: z.enum(['a', 'b']),
    fixed: z.literal(5),
    yes: z.boolean(),
    none: z.null(),
    maybe: z.string().nullable(),
    either: z.union([z.object({ kind: z.literal('x') }), z.number()]),
    tagged: z.discriminatedUnion('kind', [
      z.object({ kind: z.literal('a'), a: z.int() }),
      z.object({ kind: z.literal('b'), b: z.string() }),
    ]),
    both: z.intersection(z.object({ left: z.string() }), z.object({ right: z.int() })),
  }),
  lists: z.object({
    plain: z.array(z.string()),
    some: z.array(z.object({ n: z.int().min(0).max(5) })).min(3),
    few: z.array(z.int()).max(0),
    pair: z.tuple([z.string(), z.int()]),
    open: z.tuple([z.string()]).rest(z.boolean()),
  }),
  members: z.object({
    strict: z.strictObject({ a: z.string(), b: z.string().optional() }),
    byName: z.record(z.string(), z.int()),
    named: z.record(z.enum(['x', 'y']), z.int()),
  }),
  tree,
  list,
  text: z.string(),
  array: z.array(z.int()).min(2),
}

describe('a value fits', () => {
  for (const [name, type] of Object.entries(types))
    for (const reused of ['inline', 'ref'] as const)
      test(`${name}, with parts of the schema ${reused}`, () => {
        const schema = z.toJSONSchema(type, { reused })
        const value = buildInstance(schema, 'some text')
        const { success, error } = type.safeParse(JSON.parse(JSON.stringify(value)))
        assert.ok(success, `${JSON.stringify(value)} ${String(error)}`)
        assert.deepEqual(buildInstance(schema, 'some text'), value)
      })

  test('schemas that join others, or leave the type out', () => {
    const base = { properties: { a: { type: 'string' } }, required: ['a'] }
    const more = { properties: { b: { minimum: 3 } }, required: ['b'] }
    const joined = { allOf: [base, { $ref: '#/$defs/m~1ore' }], $defs: { 'm/ore': more } }
    assert.deepEqual(buildInstance(joined, ''), { a: 'simulated: ', b: 3 })
    assert.deepEqual(buildInstance({ type: ['null', 'integer'] }, ''), 1)
    assert.deepEqual(
      buildInstance({ uniqueItems: true, minItems: 3, items: { enum: [1, 2, 3] } }, ''),
      [1, 2, 3],
    )
    assert.equal(
      new Set(buildInstance({ minItems: 20, items: { type: 'string' } }, '') as string[]).size,
      20,
    )
    assert.deepEqual(buildInstance({ type: 'object', minProperties: 2, required: [] }, ''), {
      key_1: 'simulated: ',
      key_2: 'simulated: ',
    })
  })

  test('whole numbers and numbers in any range', () => {
    const bounds = fc.tuple(
      fc.integer({ min: -1e6, max: 1e6 }),
      fc.nat(1_000),
      fc.integer({ min: 1, max: 50 }),
    )
    fc.assert(
      fc.property(bounds, fc.constantFrom('integer', 'number'), ([minimum, span, step], type) => {
        const maximum = minimum + span + step
        const value = buildInstance({ type, minimum, maximum, multipleOf: step }, '') as number
        assert.ok(value >= minimum && value <= maximum && value % step === 0, `${value}`)
        const open = { exclusiveMinimum: minimum, exclusiveMaximum: minimum + 2 }
        const inside = buildInstance({ type, ...open }, '') as number
        assert.ok(inside > minimum && inside < minimum + 2, `${inside}`)
      }),
    )
  })
})

test('no schema makes the builder fail or run on', () => {
  const keywords =
    'type $ref allOf anyOf items properties required minItems pattern format multipleOf enum'
  fc.assert(
    fc.property(
      fc.letrec((tie) => ({
        schema: fc.oneof(
          { depthSize: 'small' },
          fc.constantFrom(
            null,
            true,
            false,
            1,
            'object',
            'array',
            '#',
            '#/x',
            '(',
            '[a',
            'x{9',
            '\\',
          ),
          fc.array(tie('schema'), { maxLength: 3 }),
          fc.dictionary(fc.constantFrom(...keywords.split(' ')), tie('schema'), { maxKeys: 4 }),
        ),
      })).schema,
      (schema) => {
        assert.notEqual(JSON.stringify(buildInstance(schema, 'x')), undefined)
      },
    ),
    { numRuns: 1_000 },
  )
  const itself = { $ref: '#' }
  const endless = { properties: { a: itself, b: itself }, required: ['a', 'b'] }
  assert.equal(typeof buildInstance(endless, ''), 'object')
})
