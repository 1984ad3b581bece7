/** What a reader of the live feed may ask for: kinds, and where to go on. */
import { z } from 'zod'
import { eventKinds, parseCursor, type EventKind, type Positions } from './event.ts'

const kindList = z
  .string('must be text')
  .meta({ description: `Some of ${eventKinds.join(', ')}, with commas between them.` })
  .transform((text, context): ReadonlySet<EventKind> => {
    const words = text.split(',')
    const kinds = eventKinds.filter((kind) => words.includes(kind))
    if (kinds.length === words.length) return new Set(kinds)
    const message = `must be some of ${eventKinds.join(', ')}, with commas between them`
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })

const eventId = z
  .string('must be the id of an event')
  .meta({ description: 'The id of the last event; the header Last-Event-ID comes before it.' })
  .transform((text, context): Positions => {
    const positions = parseCursor(text)
    if (positions !== undefined) return positions
    context.addIssue({ code: 'custom', message: 'must be the id of an event' })
    return z.NEVER
  })

/** All kinds, from now on, unless it says otherwise. */
export const feedInput = z.strictObject({
  kinds: kindList.optional(),
  after: eventId.optional(),
})

export type FeedInput = z.output<typeof feedInput>
