/** The alerts that are firing, as operators see, acknowledge and snooze them. */
import { z } from 'zod'
import { parseDuration } from '../../base/clock.ts'
import { getAccount } from '../accounts/accounts.ts'
import { readActorNames, recordAction, type ActorNames } from '../actions.ts'
import { facts, moment, pageForm, type Answer } from '../answer-forms.ts'
import { accountReference, fromTime, note } from '../input.ts'
import {
  invalid,
  invalidField,
  notFound,
  operation,
  timeOrNull,
  timeText,
  type OperationContext,
} from '../operation.ts'
import { pageFields, pageOf } from '../paging.ts'
import { alertKindNames, alertKinds, severities, type Alert } from './alert-kind.ts'
import { acknowledge, listAlerts } from './alert-store.ts'

const alertForm = z.strictObject({
  id: z.string(),
  cause: z.string().meta({ description: 'Such as "channel alpha-main"; an alert has one cause.' }),
  kind: z.enum(alertKindNames).meta({ description: 'Kind to channel: of its worst condition.' }),
  severity: z.enum(severities),
  subject: z.string(),
  title: z.string(),
  text: z.string(),
  command: z.string().nullable().meta({ description: 'That does or shows it; null = none.' }),
  facts,
  account_id: z.string().nullable(),
  channel: z.string().nullable(),
  includes: z
    .array(
      z.strictObject({ kind: z.enum(alertKindNames), title: z.string(), facts, since: moment }),
    )
    .meta({ description: 'The other conditions that hold, the worst first.' }),
  count: z.int().meta({ description: 'Conditions that began since it began.' }),
  first_seen_at: moment,
  last_seen_at: moment.meta({ description: 'When a condition began the last time.' }),
  acknowledged_by: z.string().nullable(),
  acknowledged_by_name: z.string().nullable().meta({ description: 'Of the token.' }),
  acknowledged_at: moment.nullable(),
  acknowledged_note: z.string().nullable(),
  snoozed_until: moment.nullable().meta({ description: 'Null: acknowledged until it ends.' }),
})

const firingInput = z.strictObject({
  account: accountReference.optional().describe('Only alerts about this account, by name or id.'),
  ...pageFields,
})

/** Oldest first. An outage of the store is not among them: it is not in the store. */
export const firingAlerts = operation(
  { input: firingInput, answer: pageForm(alertForm) },
  async ({ database }, { account, cursor, limit }) => {
    const accountId = account === undefined ? undefined : (await getAccount(database, account)).id
    const page = { accountId, afterId: cursor ?? '', countMax: limit + 1 }
    const rows = await listAlerts(database, page)
    const names = await readActorNames(database)
    return pageOf(rows, {
      limit,
      cursorOf: ({ id }) => id,
      view: (alert) => viewAlert(alert, names),
    })
  },
)

const alertInput = z.strictObject({
  alert: z.string('must name an alert').describe('Id of the alert.'),
  note: note.optional().describe('A note that all operators see.'),
})

/** Nothing more is sent about it until it gets worse or ends. */
export const acknowledgeAlert = operation(
  { input: alertInput, answer: alertForm },
  (context, { alert, note }) => acknowledgeFor(context, alert, { note }),
)

const snoozeInput = z.strictObject({
  ...alertInput.shape,
  for: z
    .string('must be a duration such as 4h or 2d')
    .regex(/^[1-9][0-9]{0,3}[mhd]$/, 'must be a duration such as 30m, 4h or 2d')
    .transform((text) => parseDuration(text) ?? 0)
    .optional()
    .describe('How long, such as 4h or 2d.'),
  until: fromTime.optional().describe('Until this day or time (UTC), in place of a duration.'),
})

export const snoozeAlert = operation(
  { input: snoozeInput, answer: alertForm },
  (context, { alert, for: durationMs, until, note }) => {
    const nowMs = context.clock.now()
    if ((durationMs === undefined) === (until === undefined))
      throw invalid('Give one of for and until.')
    const untilMs = durationMs === undefined ? until : nowMs + durationMs
    if (untilMs === undefined || untilMs <= nowMs)
      throw invalidField('until', 'must be in the future')
    return acknowledgeFor(context, alert, { untilMs, note })
  },
)

function acknowledgeFor(
  context: OperationContext,
  id: string,
  { untilMs, note: given }: { readonly untilMs?: number; readonly note: string | undefined },
): Promise<Answer<typeof alertForm>> {
  const { actor, clock, database } = context
  const atMs = clock.now()
  const noted = given === '' ? undefined : given
  return database.transact(async (transaction) => {
    const alert = await acknowledge(transaction, id, {
      by: actor,
      atMs,
      untilMs,
      note: noted,
    })
    if (alert === undefined)
      throw notFound(`No alert ${id} is firing. List those that are with: turnpike alert firing`)
    await recordAction(transaction, context, {
      action: untilMs === undefined ? 'alert.acknowledge' : 'alert.snooze',
      subject: id,
      detail: {
        cause: alert.cause,
        snoozed_until: timeOrNull(untilMs),
        ...(noted !== undefined && { note: noted }),
      },
    })
    return viewAlert(alert, await readActorNames(transaction))
  })
}

function viewAlert(alert: Alert, names: ActorNames): Answer<typeof alertForm> {
  const {
    acknowledged,
    conditions: [worst, ...others],
  } = alert
  return {
    id: alert.id,
    cause: alert.cause,
    kind: worst.kind,
    severity: alertKinds[worst.kind],
    subject: worst.subject,
    title: worst.title,
    text: worst.text,
    command: worst.command ?? null,
    facts: worst.facts,
    account_id: worst.accountId ?? null,
    channel: worst.channel ?? null,
    includes: others.map(({ kind, title, facts, beganAtMs }) => ({
      kind,
      title,
      facts,
      since: timeText(beganAtMs),
    })),
    count: alert.count,
    first_seen_at: timeText(alert.firstSeenAtMs),
    last_seen_at: timeText(alert.lastSeenAtMs),
    acknowledged_by: acknowledged?.by ?? null,
    acknowledged_by_name: names.get(acknowledged?.by ?? '') ?? null,
    acknowledged_at: timeOrNull(acknowledged?.atMs),
    acknowledged_note: acknowledged?.note ?? null,
    snoozed_until: timeOrNull(acknowledged?.untilMs),
  }
}
