/**
 * The facts of a record about the client that sent a request: the family of its program, as much of its
 * address as the operator allows, and the label of the request. Never another header as it came. Pure but
 * for a bounded memory of families.
 */
import { addressGroup } from '../base/ip-address.ts'
import type { IncomingRequest } from '../http/server/request.ts'
import { readLabel } from './label.ts'

/** How much of an address a record keeps. */
export type RecordedAddress = 'none' | 'family' | 'network' | 'full'

export interface ClientFacts {
  /** Empty = unknown. */
  readonly client: string
  /** Empty = not recorded, or unknown. */
  readonly address: string
  /** Empty = none. */
  readonly label: string
}

export function clientFacts(
  request: Pick<IncomingRequest, 'header' | 'fields' | 'clientAddress'>,
  recorded: RecordedAddress,
): ClientFacts {
  return {
    client: clientFamily(request.header('user-agent')),
    address: recordedAddress(request.clientAddress, recorded),
    label: readLabel(request.fields),
  }
}

/**
 * Programs by the beginning of their user agent, in lower case. The first that fits counts: an agent
 * stands before the browser or library that it is built on.
 */
const families: readonly (readonly [begins: RegExp, family: string])[] = [
  [/^claude-cli\b/, 'claude-code'],
  [/^claude-/, 'claude'],
  [/^codex/, 'codex'],
  [/^opencode\b/, 'opencode'],
  [/^(?:cline|roocode|roo-code|kilo-?code)\b/, 'cline'],
  [
    /^(?:cursor|githubcopilot|zed|continue|goose|aider|openhands|qwencode|geminicli)\b/,
    'coding-agent',
  ],
  [/^(?:async)?anthropic(?:bedrock|vertex)?\/python/, 'anthropic-python'],
  [/^(?:async)?anthropic(?:bedrock|vertex)?\/(?:js|typescript)/, 'anthropic-js'],
  [/^anthropic/, 'anthropic-sdk'],
  [/^(?:async)?(?:azure)?openai\/python/, 'openai-python'],
  [/^(?:azure)?openai\/(?:js|nodejs)/, 'openai-js'],
  [/^(?:async)?(?:azure)?openai\b/, 'openai-sdk'],
  [/^ai(?:-sdk)?[/-]/, 'ai-sdk'],
  [/^litellm\b/, 'litellm'],
  [/^langchain/, 'langchain'],
  [/^llama[-_]?index/, 'llamaindex'],
  [/^curl\//, 'curl'],
  [/^wget\//, 'wget'],
  [/^httpie\//, 'httpie'],
  [/^postmanruntime\//, 'postman'],
  [/^insomnia\//, 'insomnia'],
  [/^python-requests\//, 'python-requests'],
  [/^python-httpx\//, 'python-httpx'],
  [/^python-urllib|^python-urllib3/, 'python-urllib'],
  [/aiohttp\//, 'python-aiohttp'],
  [/^(?:node|undici|node-fetch|axios|got)\b/, 'node'],
  [/^bun\//, 'bun'],
  [/^deno\//, 'deno'],
  [/^go-http-client\//, 'go'],
  [/^(?:java|okhttp|apache-httpclient|jersey)\b/, 'java'],
  [/^(?:reqwest|hyper|ureq)\b/, 'rust'],
  [/^(?:ruby|faraday|rest-client|httparty)\b/, 'ruby'],
  [/^(?:php|guzzlehttp|symfony)\b/, 'php'],
  [/^(?:\.net|dotnet|restsharp)\b/, 'dotnet'],
  [/^(?:k6|autocannon|wrk|vegeta|apachebench|locust)\b/, 'load-test'],
  [/\belectron\//, 'electron'],
  [/^mozilla\//, 'browser'],
]

/** Longer ones are cut: a family shows at the beginning. */
const lengthMax = 200
const rememberedMax = 500
const remembered = new Map<string, string>()

/** Returns the family of a user agent; empty where it is in no family. */
export function clientFamily(userAgent: string | undefined): string {
  if (userAgent === undefined) return ''
  const text = userAgent.slice(0, lengthMax).toLowerCase()
  const known = remembered.get(text)
  if (known !== undefined) return known
  const family = families.find(([begins]) => begins.test(text))?.[1] ?? ''
  // Clients choose this text: invented ones must not fill the memory.
  if (remembered.size >= rememberedMax) remembered.clear()
  remembered.set(text, family)
  return family
}

/** Takes an address as `readAddress` spells it. */
export function recordedAddress(address: string | undefined, recorded: RecordedAddress): string {
  if (address === undefined || recorded === 'none') return ''
  const isIpv6 = address.includes(':')
  if (recorded === 'family') return isIpv6 ? 'ipv6' : 'ipv4'
  if (recorded === 'full') return address
  return isIpv6 ? addressGroup(address) : `${address.split('.').slice(0, 3).join('.')}.0/24`
}
