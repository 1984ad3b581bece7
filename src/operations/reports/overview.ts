/**
 * What an operator looks at first: the sums of today and yesterday (UTC), and what needs attention. It
 * decides nothing: sums are those of reports, states those of channels, alerts those that fire.
 */
import { z } from 'zod'
import { dayMs, minuteMs, utcDay } from '../../base/clock.ts'
import { formatUsd } from '../../base/money.ts'
import { sumChecks } from '../../channels/cluster/operator-cost-store.ts'
import { listShortAccounts } from '../../ledger/account-conditions.ts'
import { findMoment } from '../../ledger/report-moment-store.ts'
import { readStoreTime } from '../../storage/node-store.ts'
import { alertKinds } from '../alerts/alert-kind.ts'
import { listAlerts } from '../alerts/alert-store.ts'
import { listChannels } from '../channels/channel-health.ts'
import { listAudits } from '../store/audit-store.ts'
import { moment, usd, type Answer } from '../answer-forms.ts'
import { noInput, operation, timeText, valueOf, type OperationContext } from '../operation.ts'
import { auditResults, auditScopes } from '../store/audit-forms.ts'
import { readUncleanStops } from '../unclean-stops.ts'
import { attentionForm, orderAttention } from './attention.ts'
import { readHours, type DayByHour } from './hours.ts'
import { cacheHitRate, firstEventMs, totalTokens, viewTotal } from './report-figures.ts'

const oldestMinutes = 30
const listMax = 100
/** Enough to find the most severe, whatever their age. */
const alertsMax = 1_000
const channelsMax = 1_000

const dayForm = z.strictObject({
  day: z.string(),
  requests: z.int(),
  charged_requests: z.int(),
  errors: z.int(),
  failovers: z.int(),
  tokens: totalTokens,
  cache_hit_rate: cacheHitRate,
  revenue_usd: usd,
  refunded_usd: usd,
  own_cost_usd: usd,
  estimated_cost_usd: usd,
  unknown_cost_requests: z.int(),
  unknown_cost_revenue_usd: usd,
  margin_usd: usd.nullable(),
  known_margin_usd: usd,
  first_event_p50_ms: firstEventMs,
  first_event_p95_ms: firstEventMs,
})

const overviewForm = z.strictObject({
  at: moment,
  today: dayForm,
  yesterday: dayForm,
  yesterday_so_far: dayForm
    .extend({ until: moment })
    .nullable()
    .meta({ description: 'Yesterday up to this time of the day, or a few minutes before.' }),
  hours: z
    .array(
      dayForm.extend({
        from: moment,
        until: moment,
        is_exact: z.boolean().meta({
          description: 'False where no gateway recorded the figures at its beginning or its end.',
        }),
      }),
    )
    .readonly()
    .meta({ description: 'Yesterday and today by hour (UTC), oldest first, up to now.' }),
  last_audit: z
    .strictObject({
      id: z.string(),
      at: moment,
      scope: z.enum(auditScopes),
      result: z.enum(auditResults),
      differences: z.int(),
    })
    .nullable()
    .meta({ description: 'Null before the first one.' }),
  attention: attentionForm,
})

type DayView = Answer<typeof dayForm>
type Overview = Answer<typeof overviewForm>

export const showOverview = operation({ input: noInput, answer: overviewForm }, async (context) => {
  const { database } = context
  const nowMs = context.clock.now()
  const yesterday = utcDay(nowMs - dayMs)
  const fromMs = Date.parse(yesterday)
  const storeMs = await readStoreTime(database, context.clock)
  const alerts = await listAlerts(database, { afterId: '', countMax: alertsMax })
  const { channels, unloaded } = await findChannelTroubles(context)
  const accounts = (
    await listShortAccounts(database, { fromDay: yesterday, countMax: listMax })
  ).map(({ id, name, balancePicos, creditLinePicos, spentPicos }) => ({
    account_id: id,
    account: name,
    state: balancePicos + creditLinePicos > 0n ? ('low' as const) : ('exhausted' as const),
    balance_usd: formatUsd(balancePicos),
    spent_usd: formatUsd(spentPicos),
  }))
  const days = await readTwoDays(context, nowMs)
  const period = { fromMs, toMs: storeMs + dayMs, nowMs: storeMs }
  const uncleanStops = await readUncleanStops(database, period)
  return {
    at: timeText(nowMs),
    today: viewDay(days.today),
    yesterday: viewDay(days.yesterday),
    yesterday_so_far: await readSoFar(context, yesterday, nowMs % dayMs),
    hours: [days.yesterday, days.today].flatMap(viewHours),
    last_audit: await readLastAudit(context),
    attention: {
      next: orderAttention({ alerts, channels, unloaded, accounts, uncleanStops }, listMax),
      channels,
      accounts,
      alerts: alerts.slice(0, listMax).map(({ conditions: [{ kind, title }], firstSeenAtMs }) => ({
        kind,
        severity: alertKinds[kind],
        title,
        since: timeText(firstSeenAtMs),
      })),
      unclean_stops: uncleanStops,
    },
  }
})

function viewDay({ day, row }: Pick<DayByHour, 'day' | 'row'>): DayView {
  return {
    day,
    requests: row.requests,
    charged_requests: row.charged_requests,
    errors: row.errors,
    failovers: row.failovers,
    tokens: row.total_tokens,
    cache_hit_rate: row.cache_hit_rate,
    revenue_usd: row.revenue_usd,
    refunded_usd: row.refunded_usd,
    own_cost_usd: row.own_cost_usd,
    estimated_cost_usd: row.estimated_cost_usd,
    unknown_cost_requests: row.unknown_cost_requests,
    unknown_cost_revenue_usd: row.unknown_cost_revenue_usd,
    margin_usd: row.margin_usd,
    known_margin_usd: row.known_margin_usd,
    first_event_p50_ms: row.first_event_p50_ms,
    first_event_p95_ms: row.first_event_p95_ms,
  }
}

/** Returns the sums of the day up to this time of it, or a few minutes before; null without a record. */
async function readSoFar({ database }: OperationContext, day: string, sinceMidnightMs: number) {
  const minute = Math.floor(sinceMidnightMs / minuteMs)
  const found = await findMoment(database, { day, minute })
  // A gap in the records, such as a night without a gateway.
  if (found === undefined || minute - found.minute > oldestMinutes) return null
  const fromMs = Date.parse(day)
  const untilMs = fromMs + found.minute * minuteMs
  const checks = await sumChecks(database, { fromMs, untilMs })
  return { until: timeText(untilMs), ...viewDay({ day, row: viewTotal(found.sums, checks) }) }
}

async function readTwoDays({ database }: OperationContext, nowMs: number) {
  return database.snapshot(async (snapshot) => ({
    yesterday: await readHours(snapshot, { day: utcDay(nowMs - dayMs), nowMs }),
    today: await readHours(snapshot, { day: utcDay(nowMs), nowMs }),
  }))
}

/** Returns the hours of a day, oldest first. */
function viewHours({ day, hours }: DayByHour): Overview['hours'] {
  return hours.map(({ row, ...hour }) => ({ ...viewDay({ day, row }), ...hour }))
}

async function readLastAudit({ database }: OperationContext) {
  const [run] = await listAudits(database, {
    beforeSequence: Number.MAX_SAFE_INTEGER,
    countMax: 1,
  })
  if (run === undefined) return null
  const { id, scope, result, counts } = run
  return { id, at: timeText(run.startedAtMs), scope, result, differences: counts.differences }
}

/** Finds models that a channel does not serve fully, and channels of which no running gateway has a state. */
async function findChannelTroubles(context: OperationContext) {
  const { items, is_live: isLive } = valueOf(await listChannels(context, { limit: channelsMax }))
  const unloaded = items.filter(
    ({ models, health }) => isLive && health.length === 0 && Object.keys(models).length > 0,
  )
  return {
    unloaded: unloaded.map(({ name }) => name),
    channels: items.flatMap(({ name, health }) =>
      health
        .filter(({ state }) => state !== 'on')
        .map(({ model, state, since, why }) => ({ channel: name, model, state, since, why })),
    ),
  }
}
