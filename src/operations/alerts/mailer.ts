/**
 * Sends e-mail over SMTP with nodemailer (ADR 8). The server is the operator's, from the settings, so its
 * address is not checked. TLS is required unless the server is on this machine or in a private network.
 */
import { formatDuration } from '../../base/clock.ts'
import { isLocalHost } from '../../base/local-host.ts'
import type { Secret } from '../../base/secret.ts'
import type { Config } from '../../settings/list.ts'
import { readSecretFile } from '../../settings/secret-file.ts'

export interface MailServer {
  /** `smtp://user@host:587`, or `smtps://…` for TLS from the first byte. */
  readonly url: string
  readonly password: Secret | undefined
  /** The sender's address. */
  readonly from: string
}

export interface Mail {
  readonly messageId: string
  readonly to: string
  readonly subject: string
  readonly text: string
}

type MailResult =
  | { readonly kind: 'accepted' }
  /** `isFinal`: the server will refuse it again. */
  | { readonly kind: 'failed'; readonly reason: string; readonly isFinal: boolean }

export type SendMail = (mail: Mail) => Promise<MailResult>

/**
 * Undefined where the settings name no mail server. Throws `operations.invalid` where the file of its
 * password cannot be read.
 */
export function openMailer(config: Config): SendMail | undefined {
  const { smtp: url, smtpFrom: from, smtpPasswordFile: file } = config
  if (url === undefined || from === undefined) return undefined
  const password =
    config.smtpPassword ??
    (file === undefined ? undefined : readSecretFile(file, 'smtp_password_file'))
  return createMailer({ url, from, password })
}

const stepTimeoutMs = 10_000

/** Each mail has its own connection; mails are few, so nodemailer is loaded for the first one. */
export function createMailer(server: MailServer): SendMail {
  const url = new URL(server.url)
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isTls = url.protocol === 'smtps:'
  const isLocal = isLocalHost(host)
  const user = decodeURIComponent(url.username)
  const options = {
    host,
    port: url.port === '' ? (isTls ? 465 : 587) : Number(url.port),
    secure: isTls,
    requireTLS: !isTls && !isLocal,
    // A server that may do without TLS gains nothing from a certificate without a known signer.
    ...(isLocal && { tls: { rejectUnauthorized: false } }),
    ...(user !== '' && { auth: { user, pass: server.password?.reveal() ?? '' } }),
    connectionTimeout: stepTimeoutMs,
    greetingTimeout: stepTimeoutMs,
    socketTimeout: stepTimeoutMs,
    disableFileAccess: true,
    disableUrlAccess: true,
  }
  return async ({ messageId, to, subject, text }) => {
    try {
      const { createTransport } = await import('nodemailer')
      await createTransport(options).sendMail({
        from: server.from,
        to: { name: '', address: to },
        subject,
        text,
        messageId: `<${messageId}@turnpike>`,
        headers: { 'Auto-Submitted': 'auto-generated' },
      })
      return { kind: 'accepted' }
    } catch (error) {
      return describeFailure(error)
    }
  }
}

function describeFailure(error: unknown): MailResult {
  const code = textOf(error, 'code')
  const status = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : 0
  if (status > 0)
    return {
      kind: 'failed',
      reason: `the mail server answered ${status}`,
      isFinal: status >= 500 && code === 'EENVELOPE',
    }
  const reason =
    code === 'ETIMEDOUT'
      ? `the mail server did not answer within ${formatDuration(stepTimeoutMs)}`
      : `the mail server cannot be reached (${code ?? 'unknown reason'})`
  return { kind: 'failed', reason, isFinal: false }
}

function textOf(error: unknown, field: string): string | undefined {
  if (!(error instanceof Error) || !(field in error)) return undefined
  const value = (error as unknown as Record<string, unknown>)[field]
  return typeof value === 'string' ? value : undefined
}
