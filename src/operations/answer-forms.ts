/**
 * Forms of answers: what several of them share, and the type of a value that has a form. The form of an
 * answer stands beside its operation, and everything else follows from it.
 */
import { z } from 'zod'

/** The type of an answer of this form. */
export type Answer<Form extends z.ZodType> = ReadonlyDeep<z.output<Form>>

type ReadonlyDeep<Value> = Value extends object
  ? { readonly [Name in keyof Value]: ReadonlyDeep<Value[Name]> }
  : Value

/** Exact decimal USD. */
export const usd = z
  .string()
  .regex(/^-?\d{1,12}(\.\d{1,12})?$/)
  .meta({ description: 'Exact decimal USD.' })

/** USD as a number, for display; an exact amount is beside it where it matters. */
export const usdShown = z.number()

export const currency = z.literal('USD')

export const count = z.int().min(0)

/** Names and figures of a sentence, for those who write it in another language. */
export const facts = z
  .record(z.string(), z.union([z.string(), z.number(), z.null(), z.array(z.string()).readonly()]))
  .meta({ description: 'Names and figures of the sentence.' })

/** A moment, UTC. */
export const moment = z.iso.datetime()

/** A page of a list. */
export function pageForm<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    items: z.array(item),
    next_cursor: z.string().nullable().meta({ description: 'Null on the last page.' }),
  })
}
