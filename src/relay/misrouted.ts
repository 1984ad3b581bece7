/**
 * What to say to a path that does not exist under a vendor's prefix. Most who land here have a base
 * address that is off by one `/v1`, or an SDK set to another of the vendor's APIs; both get told
 * what to change.
 */
import type { FormatName } from '../formats/format.ts'

interface Guide {
  readonly endpoints: string
  /** The base address clients of this format are given, behind the gateway's own. */
  readonly base: (vendor: string) => string
  /** Endpoints as they are called by a client whose base address lacks its `/v1`. */
  readonly withoutVersion: readonly string[]
}

const guides: Readonly<Record<FormatName, Guide>> = {
  messages: {
    endpoints: 'POST /v1/messages, POST /v1/messages/count_tokens, GET /v1/models',
    base: (vendor) => `/${vendor}`,
    withoutVersion: ['/messages', '/messages/count_tokens', '/models'],
  },
  chat: {
    endpoints: 'POST /v1/chat/completions, GET /v1/models',
    base: (vendor) => `/${vendor}/v1`,
    withoutVersion: ['/chat/completions', '/models'],
  },
}

export function misroutedMessage(format: FormatName, vendor: string, path: string): string {
  const guide = guides[format]
  const there = `Under /${vendor} there are: ${guide.endpoints}.`
  if (format === 'chat' && /\/responses(\/|$)/.test(path))
    return `The responses API is not served here; use chat completions. ${there}`
  if (path.includes('/v1/v1/'))
    return `This path has /v1 twice: the base address ends in "${guide.base(vendor)}" for most clients of this format. ${there}`
  // Some clients of either format append no version of their own.
  if (guide.withoutVersion.includes(path))
    return `This path lacks its /v1: the base address ends in "/${vendor}/v1" for this client. ${there}`
  return `This endpoint is not served here. ${there}`
}
