/**
 * Which exchanges should stay on one channel, so that the vendor's prompt cache stays warm: those of the
 * session that the client names, else those of one key. Invariant: no client can name the session of another
 * account.
 */
import type { Admitted, RelayServices } from './stages.ts'

/** Coding agents name a session so: Claude Code and Codex. */
const sessionHeaders = ['x-claude-code-session-id', 'session_id'] as const
const sessionBytesMax = 256
/** An account with more exchanges than this is no single conversation: one channel would get them all. */
const runningOfOneConversation = 20

export function conversationOf(
  {
    request,
    facts,
    principal,
    exchangeId,
  }: Pick<Admitted, 'request' | 'facts' | 'principal' | 'exchangeId'>,
  { running }: Pick<RelayServices, 'running'>,
): string {
  const { accountId, keyId } = principal
  for (const name of sessionHeaders) {
    const session = request.header(name)
    if (isSession(session)) return `${accountId} ${session}`
  }
  if (isSession(facts.cacheKey)) return `${accountId} ${facts.cacheKey}`
  return running.countOf(accountId) > runningOfOneConversation ? exchangeId : keyId
}

function isSession(text: string | undefined): text is string {
  return text !== undefined && text !== '' && Buffer.byteLength(text) <= sessionBytesMax
}
