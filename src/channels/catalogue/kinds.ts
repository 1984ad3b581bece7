/**
 * The usual kinds of fields: text, whole numbers, durations, words of a list, true or false. An error
 * of a value completes "… must be". Pure.
 */
import { z } from 'zod'
import { formatDuration, hourMs, parseDuration } from '../../base/clock.ts'
import type { Kind } from './field.ts'

/** Visible ASCII. */
export const visibleText = /^[\x21-\x7e]+$/

const required = 'required'

/** Text that is stored and shown as `schema` returns it. */
export function text(schema: z.ZodType<string>): Kind<string, z.ZodString> {
  return {
    schema,
    store: (value) => value,
    read: String,
    print: (value) => value,
    shown: z.string(),
    control: 'text',
    fallback: required,
  }
}

/** Text of any form. */
export function anyText(error: string) {
  return z.string({ error })
}

/** The name of another entry. */
export const vendorName: Kind<string, z.ZodString> = {
  ...text(anyText('must be the name of a vendor')),
  control: 'vendor',
}

interface Range {
  readonly min: number
  readonly max: number
}

export function wholeNumber({ min, max }: Range): Kind<number, z.ZodInt> {
  const error = `must be a whole number from ${min} to ${max}`
  return {
    schema: z.int({ error }).min(min, { error }).max(max, { error }),
    store: (value) => value,
    read: Number,
    print: (value) => value,
    shown: z.int(),
    control: 'number',
    fallback: required,
  }
}

/** Milliseconds; in the file and in lists text such as `30s`. */
function duration(range: Range): Kind<number, z.ZodString> {
  return {
    schema: durationSchema(range),
    store: (value) => value,
    read: Number,
    print: formatDuration,
    shown: z.string(),
    control: 'duration',
    fallback: required,
  }
}

/** A limit on time that an entry may set in place of a wider one. */
export const timeLimit = optional(duration({ min: 10, max: hourMs }))

export function durationSchema({ min, max }: Range) {
  const error = `must be a duration such as 800ms, 30s or 10m, from ${formatDuration(min)} to ${formatDuration(max)}`
  return anyText(error).transform((given, context): number => {
    const durationMs = parseDuration(given)
    if (durationMs !== undefined && durationMs >= min && durationMs <= max) return durationMs
    context.addIssue({ code: 'custom', message: error })
    return z.NEVER
  })
}

/** One of these words. The store checks them, too. */
export function choice<const Choice extends string>(choices: readonly [Choice, ...Choice[]]) {
  const schema = choiceSchema(choices)
  return {
    schema,
    store: (value) => value,
    read: (stored) => schema.parse(stored),
    print: (value) => value,
    shown: z.enum(choices),
    control: 'choice',
    fallback: required,
  } satisfies Kind<Choice>
}

function choiceSchema<const Choice extends string>(choices: readonly [Choice, ...Choice[]]) {
  return z.enum(choices, { error: `must be one of ${choices.join(', ')}` })
}

/** A list of words, each counted once; `emptyError` is set where it must not be empty. */
export function words<const Word extends string>(
  known: readonly [Word, ...Word[]],
  emptyError?: string,
): Kind<ReadonlySet<Word>, z.ZodArray<z.ZodEnum<{ [One in Word]: One }>>> {
  return {
    schema: z
      .array(choiceSchema(known), { error: `must be a list of ${known.join(', ')}` })
      .min(emptyError === undefined ? 0 : 1, { error: emptyError })
      .transform((given) => new Set(given)),
    store: (value) => [...value].sort().join(','),
    // A word that only a newer version knows is left out.
    read: (stored) => {
      const names = String(stored).split(',')
      return new Set(known.filter((one) => names.includes(one)))
    },
    print: (value) => [...value].sort(),
    shown: z.array(z.enum(known)),
    control: 'choices',
    fallback: required,
  }
}

/** A list of names of one form, each counted once; a name has no comma. */
export function names(
  form: RegExp,
  rule: string,
): Kind<ReadonlySet<string>, z.ZodArray<z.ZodString>> {
  const error = `must be a list of names; each has ${rule}`
  return {
    schema: z
      .array(z.string({ error }).regex(form, { error }), { error })
      .min(1, { error: 'must name at least one, or be left out' })
      .max(listedNamesMax, { error: `must have at most ${listedNamesMax} names` })
      .transform((given) => new Set(given)),
    store: (value) => [...value].join(','),
    read: (stored) => new Set(String(stored).split(',')),
    print: (value) => [...value],
    shown: z.array(z.string()),
    control: 'list',
    fallback: required,
  }
}

const listedNamesMax = 100

export function flag(): Kind<boolean, z.ZodBoolean> {
  return {
    schema: z.boolean({ error: 'must be true or false' }),
    store: (value) => (value ? 1 : 0),
    read: (stored) => Number(stored) !== 0,
    print: (value) => value,
    shown: z.boolean(),
    control: 'flag',
    fallback: required,
  }
}

/** A field that an entry may leave out; its value is then undefined, which is stored and shown as null. */
export function optional<Value, Shown extends z.ZodType>(
  kind: Kind<Value, Shown>,
): Kind<Value | undefined, z.ZodNullable<Shown>> {
  return {
    ...kind,
    schema: kind.schema.optional(),
    shown: kind.shown.nullable(),
    fallback: 'none',
  }
}

/**
 * A field that an entry may leave out: it then keeps the stored value, such as one from an import. Null
 * removes it.
 */
export function kept<Value, Shown extends z.ZodType>(
  kind: Kind<Value, Shown>,
): Kind<Value | undefined, z.ZodNullable<Shown>> {
  const schema = kind.schema.nullish().transform((given) => given ?? undefined)
  return { ...optional(kind), schema, isKept: true, fallback: 'the stored value' }
}

/** A field that an entry may leave out: it then means `usual`, and an export leaves `usual` out. */
export function usually<Value, Shown extends z.ZodType>(
  usual: NoInfer<Value>,
  kind: Kind<Value, Shown>,
): Kind<Value, Shown> {
  const stored = kind.store(usual)
  return { ...withDefault(usual, kind), isLeftOut: (value) => kind.store(value) === stored }
}

/** A field that an entry may leave out: it then means `usual`. An export has it all the same. */
export function withDefault<Value, Shown extends z.ZodType>(
  usual: NoInfer<Value>,
  kind: Kind<Value, Shown>,
): Kind<Value, Shown> {
  return {
    ...kind,
    schema: kind.schema.optional().transform((given) => given ?? usual),
    usual: kind.print(usual),
    fallback: `\`${String(kind.print(usual))}\``,
  }
}
