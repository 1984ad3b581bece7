/** Outcomes of requests in words. */
import type { Tone } from '../../ui/card.tsx'
import type { RequestInFull, RequestLine } from './queries.ts'

type Outcome = RequestLine['outcome']

export const outcomeWords: Readonly<Record<Outcome, readonly [text: string, tone: Tone]>> = {
  completed: ['Completed', 'good'],
  client_left: ['Client left', 'warn'],
  upstream_cut: ['Cut by the vendor', 'bad'],
  gateway_cut: ['Cut by the gateway', 'bad'],
  refused: ['Refused by the vendor', 'warn'],
  failed: ['Failed', 'bad'],
  not_admitted: ['Refused by the gateway', 'warn'],
}

/** What reached the client. */
export function clientSaw({
  outcome,
  status,
  stream,
  code,
  first_event_ms: first,
}: RequestInFull): string {
  const error = code === null ? `status ${status}` : `status ${status} with the error ${code}`
  const ended =
    (stream === true || status < 400) && first !== null
      ? 'The beginning of the answer, then the connection closed without its end.'
      : `An error of the gateway: ${error}.`
  switch (outcome) {
    case 'completed':
      return `The whole answer, status ${status}.`
    case 'client_left':
      return first === null
        ? 'Nothing: it had left before the first event. The log notes this as status 499.'
        : 'The beginning of the answer; it left before the end.'
    case 'refused':
      return `The vendor's error as it came, status ${status}.`
    case 'upstream_cut':
    case 'gateway_cut':
      return ended
    case 'failed':
      return code === null
        ? `The vendor's error as it came, status ${status}.`
        : first === null
          ? `An error of the gateway: ${error}.`
          : ended
    case 'not_admitted':
      return `An error of the gateway: ${error}.`
  }
}

export function durationMsOf({ started_at: start, ended_at: end }: RequestLine): number {
  return Math.max(Date.parse(end) - Date.parse(start), 0)
}

/** Classes of attempts whose word says little by itself. */
const attemptNames: Readonly<Record<string, string>> = {
  client: 'request refused',
  config: 'credential refused',
  hard: 'no usable answer',
  lone_500: 'error 500',
}

export function attemptName(name: string): string {
  return attemptNames[name] ?? name.replaceAll('_', ' ')
}
