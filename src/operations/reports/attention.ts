/**
 * Orders everything that needs an operator, the most urgent first, each with its one next step. Pure. Alerts
 * have their severity; a channel or an account is added only where no alert is about it.
 */
import { z } from 'zod'
import {
  alertKinds,
  severities,
  type Alert,
  type AlertKind,
  type Finding,
} from '../alerts/alert-kind.ts'
import { facts, moment, usd, type Answer } from '../answer-forms.ts'
import { healthState } from '../channels/model-health.ts'
import { uncleanStopForm, type UncleanStopView } from '../unclean-stops.ts'

const troubledChannelForm = z.strictObject({
  channel: z.string(),
  model: z.string(),
  state: healthState,
  since: moment.nullable(),
  why: z.string(),
})

const shortAccountForm = z.strictObject({
  account_id: z.string(),
  account: z.string(),
  state: z.enum(['low', 'exhausted']),
  balance_usd: usd,
  spent_usd: usd,
})

const nextStepForm = z.strictObject({
  severity: z.enum(severities),
  kind: z.string().meta({
    description: 'Of an alert, or channel.not_on, account.short, node.unclean_stop.',
  }),
  /** The subjects: null where it is not about one of them. */
  account_id: z.string().nullable(),
  key_id: z.string().nullable(),
  channel: z.string().nullable(),
  model: z.string().nullable(),
  audit_id: z.string().nullable(),
  node: z.string().nullable().meta({ description: 'The name of a gateway.' }),
  alert_id: z.string().nullable().meta({ description: 'Null where no alert is about it.' }),
  title: z.string(),
  facts,
  step: z.string().meta({ description: 'A command, or a sentence with one.' }),
  since: moment.nullable(),
})

/** At most 100 of each. */
export const attentionForm = z.strictObject({
  /** All of the lists below, in order of urgency. */
  next: z
    .array(nextStepForm)
    .meta({ description: 'The most urgent first, each with one next step.' }),
  /** Models that are not fully on, by channel and gateway. */
  channels: z.array(troubledChannelForm),
  /** Active accounts without money, or with less than they spent since yesterday. */
  accounts: z.array(shortAccountForm),
  /** Alerts that are firing. */
  alerts: z.array(
    z.strictObject({ kind: z.string(), severity: z.string(), title: z.string(), since: moment }),
  ),
  /** Of yesterday and today. */
  unclean_stops: z.array(uncleanStopForm),
})

type TroubledChannel = Answer<typeof troubledChannelForm>
type ShortAccount = Pick<Answer<typeof shortAccountForm>, 'account_id' | 'account' | 'state'>
type NextStep = Answer<typeof nextStepForm>

export interface Troubles {
  readonly alerts: readonly Pick<Alert, 'id' | 'conditions' | 'firstSeenAtMs'>[]
  readonly channels: readonly TroubledChannel[]
  /** Names of channels that no running gateway could load. */
  readonly unloaded: readonly string[]
  readonly accounts: readonly ShortAccount[]
  readonly uncleanStops: readonly UncleanStopView[]
}

const credit = ({ subject }: Finding): string => `turnpike account credit ${subject} AMOUNT`
const showChannel = ({ channel = '' }: Finding): string => `turnpike channel show ${channel}`

/** The options of `key edit` by the period in the subject of an alert. */
const limitOptions: Readonly<Record<string, string>> = {
  day: '--daily',
  month: '--monthly',
  total: '--total',
}

function raiseKeyLimit({ subject }: Finding): string {
  const [keyId = '', period = ''] = subject.split(' ')
  return `turnpike key edit ${keyId} ${limitOptions[period] ?? '--daily'} AMOUNT`
}

/** A command or a sentence, in the order of their urgency within a severity. */
export const steps: Readonly<Record<AlertKind, (worst: Finding) => string>> = {
  'store.outage': () => 'turnpike doctor',
  'ledger.audit_failed': () => 'turnpike audit',
  'model.no_usable_channel': () => 'turnpike channel list',
  'channel.credential_refused': ({ channel = '' }) =>
    `Put a valid credential of ${channel} into the catalogue, then: turnpike apply -f catalog.yaml`,
  'channel.certificate_expired': ({ channel = '' }) =>
    `Ask the vendor to renew its certificate, then: turnpike channel check ${channel}`,
  'channel.certificate_refused': ({ channel = '' }) =>
    `Check the address of ${channel} and the authorities that are trusted, then: turnpike channel check ${channel}`,
  'channel.address_refused': ({ channel = '' }) =>
    `Check where the address of ${channel} leads, then: turnpike channel check ${channel}`,
  'channel.no_credit': ({ channel = '' }) =>
    `Buy credit at the vendor, then: turnpike channel check ${channel}`,
  'account.exhausted': credit,
  'account.money_taken_back': ({ subject }) => `turnpike account resume ${subject}`,
  'payment.not_booked': ({ subject }) =>
    `turnpike account credit NAME USD --reference stripe:${subject}`,
  'channel.model_missing': ({ channel = '' }) =>
    `Correct the model of ${channel} in the catalogue, then: turnpike apply -f catalog.yaml`,
  'channel.off': showChannel,
  'channel.limit_ignored': ({ channel = '' }) =>
    `Set output_limit of ${channel} in the catalogue, then: turnpike apply -f catalog.yaml`,
  'channel.counts_high': showChannel,
  'channel.cache_fallen': showChannel,
  'model.reserve_only': () => 'turnpike channel list',
  'backup.too_old': () => 'turnpike backup FILE',
  'ledger.not_sealed': () => 'turnpike doctor',
  'account.running_out': credit,
  'account.balance_low': credit,
  'account.limit_used': ({ subject }) => `turnpike account limits ${subject}`,
  'account.daily_limit_reached': ({ subject }) =>
    `turnpike account limits ${subject} --daily AMOUNT`,
  'account.monthly_limit_reached': ({ subject }) =>
    `turnpike account limits ${subject} --monthly AMOUNT`,
  'key.limit_reached': raiseKeyLimit,
  'alert.test': () => 'Nothing: it was a test.',
}

const urgency = Object.keys(steps)

/** Returns at most `countMax` steps. */
export function orderAttention(troubles: Troubles, countMax: number): readonly NextStep[] {
  const alerts = troubles.alerts.map(stepOfAlert)
  const places = new Set<string | null>()
  for (const { account_id, channel } of alerts) places.add(account_id).add(channel)
  const others = [
    ...troubles.channels.filter(({ channel }) => !places.has(channel)).map(stepOfChannel),
    ...troubles.unloaded.filter((channel) => !places.has(channel)).map(stepOfUnloaded),
    ...troubles.accounts.filter(({ account_id: id }) => !places.has(id)).map(stepOfAccount),
    ...troubles.uncleanStops.map(stepOfStop),
  ]
  return [...alerts, ...others].toSorted(byUrgency).slice(0, countMax)
}

/** A stable sort: equally urgent ones stay in the order of their list. */
function byUrgency(left: NextStep, right: NextStep): number {
  const severity = severities.indexOf(right.severity) - severities.indexOf(left.severity)
  return severity === 0 ? rankOf(left) - rankOf(right) : severity
}

function rankOf({ kind }: NextStep): number {
  const rank = urgency.indexOf(kind)
  return rank < 0 ? urgency.length : rank
}

const noSubjects = {
  account_id: null,
  key_id: null,
  channel: null,
  model: null,
  audit_id: null,
  node: null,
  alert_id: null,
} as const

function stepOfAlert({
  id,
  conditions: [worst],
  firstSeenAtMs,
}: Troubles['alerts'][number]): NextStep {
  const { kind, subject, facts } = worst
  const models = facts['models']
  const [onlyModel = null, ...otherModels] = typeof models === 'object' ? (models ?? []) : []
  const audit = facts['audit']
  return {
    ...noSubjects,
    severity: alertKinds[kind],
    kind,
    account_id: worst.accountId ?? null,
    key_id: kind === 'key.limit_reached' ? (subject.split(' ')[0] ?? null) : null,
    channel: worst.channel ?? null,
    model: kind.startsWith('model.') ? subject : otherModels.length > 0 ? null : onlyModel,
    audit_id: typeof audit === 'string' ? audit : null,
    node: kind === 'store.outage' ? subject : null,
    alert_id: id,
    title: worst.title,
    facts,
    step: steps[kind](worst),
    since: new Date(firstSeenAtMs).toISOString(),
  }
}

function stepOfChannel({ channel, model, state, since, why }: TroubledChannel): NextStep {
  return {
    ...noSubjects,
    severity: state === 'off' ? 'warning' : 'info',
    kind: 'channel.not_on',
    channel,
    model,
    title: `Channel ${channel} is ${state} for ${model}${why === '' ? '' : ` (${why})`}`,
    facts: { channel, model, state, why },
    step:
      state === 'disabled' ? `turnpike channel on ${channel}` : `turnpike channel show ${channel}`,
    since,
  }
}

function stepOfUnloaded(channel: string): NextStep {
  return {
    ...noSubjects,
    severity: 'warning',
    kind: 'channel.not_on',
    channel,
    title: `No gateway could load the channel ${channel}`,
    facts: { channel, state: null },
    step: 'turnpike doctor',
    since: null,
  }
}

function stepOfAccount({ account_id, account, state }: ShortAccount): NextStep {
  const isExhausted = state === 'exhausted'
  return {
    ...noSubjects,
    severity: isExhausted ? 'warning' : 'info',
    kind: 'account.short',
    account_id,
    title: isExhausted
      ? `${account} has no money`
      : `${account} has less than it spent since yesterday`,
    facts: { account, state },
    step: `turnpike account credit ${account_id} AMOUNT`,
    since: null,
  }
}

function stepOfStop({ node, from, to }: UncleanStopView): NextStep {
  const period = `--from ${from} --to ${to ?? from.slice(0, 10)}`
  return {
    ...noSubjects,
    severity: 'info',
    kind: 'node.unclean_stop',
    node,
    title: `${node} stopped uncleanly`,
    facts: { node },
    step: `turnpike channel reconcile all ${period}`,
    since: from,
  }
}
