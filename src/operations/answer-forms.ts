/** Shapes that answers of several endpoints share. */
import { z } from 'zod'

/** Exact decimal USD. */
export const usd = z
  .string()
  .regex(/^-?\d{1,12}(\.\d{1,12})?$/)
  .meta({ description: 'Exact decimal USD.' })

/** A moment, UTC. */
export const moment = z.iso.datetime()

export function pageFields<Item extends z.ZodType>(item: Item) {
  return {
    items: z.array(item),
    next_cursor: z.string().nullable().meta({ description: 'Null on the last page.' }),
  }
}

export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.strictObject(pageFields(item))
}
