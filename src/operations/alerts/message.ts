/**
 * The form of a message in each format. Pure. Its content depends only on its row in the outbox, so
 * every attempt sends the same bytes.
 */
import { createHmac } from 'node:crypto'
import { timeText } from '../operation.ts'
import { textWithCommand, type Finding, type Notice } from './alert-kind.ts'
import type { Message } from './delivery-store.ts'

export interface MessageContent extends Message {
  /** Where it comes from: the `region` setting. */
  readonly region: string
}

/** The body of a webhook. docs/alerts.md describes it. */
export function webhookBody({ id, notice, region }: MessageContent): string {
  const { condition, event } = notice
  return JSON.stringify({
    type: notice.type,
    timestamp: timeText(notice.atMs),
    data: {
      message_id: id,
      region,
      id: notice.alertId,
      kind: condition.kind,
      state: event,
      severity: notice.severity,
      subject: condition.subject,
      title: titleOf(notice),
      text: textWithCommand(condition),
      facts: condition.facts,
      includes: notice.includes,
      fired_at: timeText(notice.firedAtMs),
      resolved_at: event === 'resolved' ? timeText(notice.atMs) : null,
    },
  })
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
export function slackBody({ notice, region }: MessageContent): string {
  const lines = [
    `*[${markOf(notice)}] ${escapeChat(titleOf(notice))}*`,
    ...textsOf(notice).map(escapeChat),
  ]
  return JSON.stringify({ text: [`Turnpike ${escapeChat(region)}`, ...lines].join('\n') })
}

/**
 * Others choose the names in a text. Slack reads `<…>` as a link or a mention, and `&` as the start of an
 * entity. Chats that take the same form read `@name` and `[text](address)` too: a zero-width space ends both.
 */
function escapeChat(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/\B@|@(?=everyone|here)/gi, '@\u200b')
    .replaceAll('](', ']\u200b(')
}

export interface Email {
  readonly subject: string
  readonly text: string
}

export function emailOf({ notice, region }: MessageContent): Email {
  const title = titleOf(notice)
  const { event, condition, firedAtMs, atMs } = notice
  const lines = [
    `[${markOf(notice)}] ${title}`,
    ...textsOf(notice).flatMap((text) => ['', text]),
    '',
    ...Object.entries(condition.facts).map(([name, value]) => `  ${name}: ${factText(value)}`),
    `  since: ${timeText(firedAtMs)}`,
    ...(event === 'resolved' ? [`  until: ${timeText(atMs)}`] : []),
  ]
  return { subject: `[Turnpike ${region}] ${title}`, text: `${lines.join('\n')}\n` }
}

/** The text below the title. */
function textsOf({ event, condition, includes }: Notice): readonly string[] {
  const isOver = event === 'resolved'
  return [
    ...(isOver ? [] : [textWithCommand(condition)]),
    ...includes.map((title) => `${isOver ? 'Still' : 'Also'}: ${title}`),
  ]
}

export function factText(value: Finding['facts'][string]): string {
  if (value === null) return '-'
  return typeof value === 'object' ? value.join(', ') : String(value)
}

function markOf({ event, severity }: Notice): string {
  return event === 'resolved' ? 'resolved' : severity
}

function titleOf({ event, type, condition: { title } }: Notice): string {
  return event === 'firing' || type === 'channel.back' ? title : `Resolved: ${title}`
}
