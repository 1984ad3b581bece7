/**
 * What a message looks like in each format. Pure. A message about several alerts has the type
 * `alert.digest`. Its content depends only on its alerts, so every attempt sends the same bytes.
 */
import { createHmac } from 'node:crypto'
import { messageType, type Alert, type AlertEvent } from './alert-kind.ts'
import type { PackedAlert } from './delivery-store.ts'

export interface MessageContent {
  readonly id: string
  readonly atMs: number
  readonly alerts: readonly PackedAlert[]
  /** Where it comes from: the `region` setting. */
  readonly region: string
}

/** The body of a webhook. docs/alerts.md describes it. */
export function webhookBody({ id, atMs, alerts, region }: MessageContent): string {
  const [first] = alerts
  const isDigest = alerts.length !== 1 || first === undefined
  return JSON.stringify({
    type: isDigest ? 'alert.digest' : messageType(first.alert.kind, first.event),
    timestamp: timeOf(atMs),
    data: isDigest
      ? { message_id: id, region, alerts: alerts.map(viewAlert) }
      : { message_id: id, region, ...viewAlert(first) },
  })
}

function viewAlert({ alert, event }: PackedAlert) {
  return {
    id: alert.id,
    kind: alert.kind,
    state: event,
    severity: alert.severity,
    subject: alert.subject,
    title: titleOf(alert, event),
    text: alert.text,
    facts: alert.facts,
    fired_at: timeOf(alert.firedAtMs),
    resolved_at: event === 'resolved' ? timeOf(alert.resolvedAtMs ?? alert.firedAtMs) : null,
  }
}

/** Headers of Standard Webhooks: one signature for each key. The time is the attempt's. */
export function webhookHeaders(
  message: { readonly id: string; readonly body: string; readonly sentAtMs: number },
  keys: readonly Buffer[],
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(message.sentAtMs / 1_000))
  const signed = `${message.id}.${timestamp}.${message.body}`
  const signatures = keys.map((key) => createHmac('sha256', key).update(signed).digest('base64'))
  return {
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.map((one) => `v1,${one}`).join(' '),
  }
}

/** The body for a Slack-compatible incoming webhook. */
export function slackBody(content: MessageContent): string {
  const lines = content.alerts.map(({ alert, event }) => {
    const mark = event === 'resolved' ? 'resolved' : alert.severity
    const rest = event === 'resolved' ? '' : `\n${escapeSlack(alert.text)}`
    return `*[${mark}] ${escapeSlack(titleOf(alert, event))}*${rest}`
  })
  return JSON.stringify({ text: [headOf(content), ...lines].join('\n') })
}

/** Slack reads `<…>` as a link or a mention, and `&` as the start of an entity. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

export interface Email {
  readonly subject: string
  readonly text: string
}

export function emailOf(content: MessageContent): Email {
  const { alerts, region } = content
  const [first] = alerts
  const subject =
    alerts.length === 1 && first !== undefined
      ? titleOf(first.alert, first.event)
      : `${alerts.length} alerts`
  const parts = alerts.map(({ alert, event }) =>
    [
      `[${event === 'resolved' ? 'resolved' : alert.severity}] ${titleOf(alert, event)}`,
      ...(event === 'resolved' ? [] : ['', alert.text]),
      '',
      ...Object.entries(alert.facts).map(([name, value]) => `  ${name}: ${factText(value)}`),
      `  since: ${timeOf(alert.firedAtMs)}`,
      ...(event === 'resolved' ? [`  until: ${timeOf(alert.resolvedAtMs ?? 0)}`] : []),
    ].join('\n'),
  )
  return { subject: `[Turnpike ${region}] ${subject}`, text: `${parts.join('\n\n')}\n` }
}

/** For the contact of an account: about its money only, without commands and facts for operators. */
export function holderEmailOf({ alerts }: MessageContent): Email {
  const [first] = alerts
  const parts = alerts.map(({ alert, event }) => {
    const text = event === 'resolved' ? 'This is over.' : holderText(alert)
    return `${titleOf(alert, event)}\n\n${text}\n\nSince: ${timeOf(alert.firedAtMs)}`
  })
  const subject =
    alerts.length === 1 && first !== undefined
      ? titleOf(first.alert, first.event)
      : `${alerts.length} notices about your account`
  return { subject, text: `${parts.join('\n\n')}\n` }
}

function holderText({ kind, facts }: Alert): string {
  const fact = (name: string): string => factText(facts[name] ?? null)
  if (kind === 'account.balance_low')
    return `The balance is ${fact('balance_usd')} USD. Pay in soon, so that your requests are not refused.`
  if (kind === 'account.running_out')
    return (
      `The balance is ${fact('balance_usd')} USD, and you have spent ${fact('spend_24h_usd')} USD in the ` +
      'last 24 hours. Pay in soon, so that your requests are not refused.'
    )
  if (kind === 'account.exhausted')
    return 'The balance does not pay for a usual request. Your requests get 402 until you pay in.'
  return (
    `Of ${fact('limit_usd')} USD, ${fact('used_usd')} USD are used. Requests get 429 until the limit is ` +
    'free again; the operator can raise it.'
  )
}

function factText(value: Alert['facts'][string]): string {
  if (value === null) return '-'
  return typeof value === 'object' ? value.join(', ') : String(value)
}

function headOf({ alerts, region }: MessageContent): string {
  const count = alerts.length === 1 ? '' : `: ${alerts.length} alerts`
  return `Turnpike ${escapeSlack(region)}${count}`
}

function titleOf({ title, kind }: Alert, event: AlertEvent): string {
  if (event === 'firing') return title
  return kind === 'channel.off' ? `Back: ${title}` : `Resolved: ${title}`
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString()
}
