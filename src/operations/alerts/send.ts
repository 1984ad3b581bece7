/**
 * Sends one message to one target and returns the result. Knows the formats; knows no store and no
 * schedule. It never throws for an act of the receiver.
 */
import type { Clock } from '../../base/clock.ts'
import type { Secret } from '../../base/secret.ts'
import type { Message } from './delivery-store.ts'
import { holderEmailOf } from './holder-mail.ts'
import type { SendMail } from './mailer.ts'
import { emailOf, slackBody, webhookBody, webhookHeaders, type MessageContent } from './message.ts'
import type { AlertTarget } from './target-store.ts'
import { openTarget, signingKey, type TargetSecret } from './target-secret.ts'

interface Post {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** As http/client/outgoing-post.ts answers. */
type PostResult =
  | {
      readonly kind: 'answered'
      readonly status: number
      readonly retryAfterMs: number | undefined
    }
  | { readonly kind: 'failed'; readonly reason: string }

export interface Sending {
  readonly clock: Clock
  readonly masterKey: () => Secret
  readonly region: string
  readonly post: (post: Post) => Promise<PostResult>
  /** Undefined where no mail server is set. */
  readonly mail: SendMail | undefined
}

export type SendResult =
  | { readonly kind: 'delivered'; readonly outcome: string }
  | {
      readonly kind: 'not_delivered'
      readonly outcome: string
      /** The receiver will not take it later either. */
      readonly isFinal: boolean
      /** The receiver's own wish. */
      readonly retryAfterMs: number | undefined
    }

export async function sendMessage(
  target: AlertTarget,
  outgoing: Message,
  sending: Sending,
): Promise<SendResult> {
  const message = { ...outgoing, region: sending.region }
  if (target.format === 'email') return sendEmail(target, message, sending)
  const opened = openAddress(target, sending)
  if (opened.kind === 'unreadable') return notDelivered(opened.reason)
  const { url, signingSecret } = opened
  const body = target.format === 'slack' ? slackBody(message) : webhookBody(message)
  const sentAtMs = sending.clock.now()
  const signed =
    signingSecret === undefined
      ? {}
      : webhookHeaders({ id: message.id, body, sentAtMs }, signingKey(signingSecret))
  const headers = { 'content-type': 'application/json', 'user-agent': 'turnpike', ...signed }
  return judge(await sending.post({ url, headers, body }))
}

type OpenedAddress =
  | ({ readonly kind: 'opened' } & TargetSecret)
  | { readonly kind: 'unreadable'; readonly reason: string }

function openAddress({ id, sealed = '' }: AlertTarget, { masterKey }: Sending): OpenedAddress {
  try {
    return { kind: 'opened', ...openTarget(masterKey(), id, sealed) }
  } catch (error) {
    return { kind: 'unreadable', reason: error instanceof Error ? error.message : 'unreadable' }
  }
}

function judge(result: PostResult): SendResult {
  if (result.kind === 'failed') return notDelivered(result.reason)
  const { status, retryAfterMs } = result
  if (status >= 200 && status < 300) return { kind: 'delivered', outcome: `answered ${status}` }
  const outcome =
    status >= 300 && status < 400
      ? `answered ${status}; redirects are not followed`
      : `answered ${status}`
  // 410: the receiver says that it is gone for good.
  return { kind: 'not_delivered', outcome, isFinal: status === 410, retryAfterMs }
}

async function sendEmail(
  target: AlertTarget,
  content: MessageContent,
  { mail }: Sending,
): Promise<SendResult> {
  if (mail === undefined) return notDelivered('there is no mail server: set smtp and smtp_from')
  const { id: messageId, recipient } = content
  const isToHolder = recipient !== ''
  const { subject, text } = isToHolder ? await holderEmailOf(content) : emailOf(content)
  const to = isToHolder ? recipient : target.address
  const result = await mail({ messageId, to, subject, text })
  if (result.kind === 'accepted') return { kind: 'delivered', outcome: 'accepted' }
  return { ...notDelivered(result.reason), isFinal: result.isFinal }
}

function notDelivered(outcome: string): Extract<SendResult, { kind: 'not_delivered' }> {
  return { kind: 'not_delivered', outcome, isFinal: false, retryAfterMs: undefined }
}
