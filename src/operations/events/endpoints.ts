/** The live feed of events. */
import { z } from 'zod'
import { actionForm } from '../actions.ts'
import { changedAreas, eventKinds } from './event.ts'
import { feedInput } from './input.ts'
import { alertChangeForm } from '../alerts/log.ts'
import { changeForm } from '../channels/channel-health.ts'
import { rowOf, type FeedEndpoint } from '../endpoint.ts'
import { requestForm } from '../requests/view.ts'
import { auditForm } from '../store/audit-forms.ts'

export const eventFeeds = {
  follow: rowOf('events.follow', {
    route: 'GET /events',
    summary: 'Follow requests, channels, actions, alerts and audits as server-sent events.',
    feed: feedInput,
    events: {
      request: requestForm,
      channel: changeForm,
      action: actionForm,
      alert: alertChangeForm,
      audit: auditForm,
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
  }) satisfies FeedEndpoint,
}
