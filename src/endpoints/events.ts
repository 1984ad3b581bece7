/** The live feed of events. */
import { z } from 'zod'
import { changedAreas, eventKinds } from '../operations/events/event.ts'
import { feedInput } from '../operations/events/input.ts'
import { firingAlert } from './alerts.ts'
import { channelChange } from './channels.ts'
import type { FeedEndpoint } from './endpoint.ts'
import { requestLine } from './requests.ts'
import { action, auditRun } from './store.ts'
import { moment } from './views.ts'

export const eventFeeds = {
  follow: {
    id: 'events.follow',
    method: 'GET',
    path: '/events',
    summary: 'Follow requests, channels, actions, alerts and audits as server-sent events.',
    role: 'viewer',
    feed: feedInput,
    events: {
      request: requestLine,
      channel: channelChange,
      action,
      alert: firingAlert.extend({
        event: z.enum(['firing', 'resolved']),
        resolved_at: moment.nullable(),
      }),
      audit: auditRun,
      changed: z.strictObject({ area: z.enum(changedAreas) }),
      gap: z.strictObject({
        kind: z.enum(eventKinds),
        skipped: z
          .int()
          .nullable()
          .meta({ description: 'Events of the kind that were left out; null = not counted.' }),
      }),
    },
    example: { kinds: 'request,alert' },
  } satisfies FeedEndpoint,
}
