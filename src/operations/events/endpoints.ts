/** The live feed: says which lists have changed. */
import { z } from 'zod'
import { rowOf, type FeedEndpoint } from '../endpoint.ts'
import { watchedLists } from './lists.ts'

export const eventFeeds = {
  follow: rowOf('events.follow', {
    route: 'GET /events',
    summary: 'Say which lists have changed, as server-sent events.',
    feed: z.strictObject({}),
    events: {
      changed: z.strictObject({
        list: z.enum(watchedLists).meta({ description: 'Read it again to see the changes.' }),
      }),
    },
  }) satisfies FeedEndpoint,
}
