/**
 * What a message looks like in each format. Pure. Its content depends only on its alert, so every attempt
 * sends the same bytes.
 */
import { createHmac } from 'node:crypto'
import { messageType, type Alert, type AlertEvent } from './alert-kind.ts'

export interface MessageContent {
  readonly id: string
  /** When the alert began or ended. */
  readonly createdAtMs: number
  readonly alert: Alert
  readonly event: AlertEvent
  /** Where it comes from: the `region` setting. */
  readonly region: string
}

/** The body of a webhook. docs/alerts.md describes it. */
export function webhookBody({ id, createdAtMs, alert, event, region }: MessageContent): string {
  return JSON.stringify({
    type: messageType(alert.kind, event),
    timestamp: timeOf(createdAtMs),
    data: { message_id: id, region, ...viewAlert(alert, event) },
  })
}

function viewAlert(alert: Alert, event: AlertEvent) {
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

/** Headers of Standard Webhooks. The time is the attempt's. */
export function webhookHeaders(
  message: { readonly id: string; readonly body: string; readonly sentAtMs: number },
  key: Buffer,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(message.sentAtMs / 1_000))
  const signed = `${message.id}.${timestamp}.${message.body}`
  return {
    'webhook-id': message.id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${createHmac('sha256', key).update(signed).digest('base64')}`,
  }
}

/** The body for a Slack-compatible incoming webhook. */
export function slackBody({ alert, event, region }: MessageContent): string {
  const title = escapeSlack(titleOf(alert, event))
  const lines = [`Turnpike ${escapeSlack(region)}`, `*[${markOf(alert, event)}] ${title}*`]
  if (event === 'firing') lines.push(escapeSlack(alert.text))
  return JSON.stringify({ text: lines.join('\n') })
}

/** Slack reads `<…>` as a link or a mention, and `&` as the start of an entity. */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

export interface Email {
  readonly subject: string
  readonly text: string
}

export function emailOf({ alert, event, region }: MessageContent): Email {
  const title = titleOf(alert, event)
  const lines = [
    `[${markOf(alert, event)}] ${title}`,
    ...(event === 'resolved' ? [] : ['', alert.text]),
    '',
    ...Object.entries(alert.facts).map(([name, value]) => `  ${name}: ${factText(value)}`),
    `  since: ${timeOf(alert.firedAtMs)}`,
    ...(event === 'resolved' ? [`  until: ${timeOf(alert.resolvedAtMs ?? 0)}`] : []),
  ]
  return { subject: `[Turnpike ${region}] ${title}`, text: `${lines.join('\n')}\n` }
}

/** For the contact of an account: about its money only, without commands and facts for operators. */
export function holderEmailOf({ alert, event }: MessageContent): Email {
  const title = titleOf(alert, event)
  const text = event === 'resolved' ? 'This is over.' : holderText(alert)
  const since = timeOf(alert.firedAtMs)
  return { subject: title, text: `${title}\n\n${text}\n\nSince: ${since}\n` }
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

function markOf({ severity }: Alert, event: AlertEvent): string {
  return event === 'resolved' ? 'resolved' : severity
}

function titleOf({ title, kind }: Alert, event: AlertEvent): string {
  if (event === 'firing') return title
  return kind === 'channel.off' ? `Back: ${title}` : `Resolved: ${title}`
}

function timeOf(atMs: number): string {
  return new Date(atMs).toISOString()
}
