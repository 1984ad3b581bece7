/** The attempts of a request on one time line: waiting for the first event, then the answer. */
import { Link } from '@tanstack/react-router'
import { Badge, Card, type Tone } from '../../ui/card.tsx'
import { formatDuration } from '../../ui/format.ts'
import { Prose } from '../../ui/prose.tsx'
import { Duration } from '../../ui/values.tsx'
import { VendorErrorWords } from '../../ui/vendor-error.tsx'
import type { RequestInFull } from './queries.ts'
import { attemptName, durationMsOf } from './words.ts'

type Attempt = RequestInFull['attempts'][number]

export function Attempts({ request }: { request: RequestInFull }) {
  const { attempts } = request
  if (attempts.length === 0)
    return (
      <Card title="Attempts">
        <p className="soft">
          {request.outcome === 'not_admitted'
            ? 'The gateway sent nothing to a vendor.'
            : 'The record has no attempts.'}
        </p>
      </Card>
    )
  const endMs = Math.max(
    durationMsOf(request),
    ...attempts.map((attempt) => attempt.started_ms + attempt.duration_ms),
    1,
  )
  return (
    <Card title="Attempts" hint="From the start of the request">
      <ol className="attempts">
        {attempts.map((attempt, index) => (
          <AttemptRow key={index} attempt={attempt} endMs={endMs} request={request} />
        ))}
      </ol>
      <Axis endMs={endMs} />
      <ul className="attempts-legend">
        <li>
          <span className="attempts-swatch attempts-wait" /> waiting for the first event
        </li>
        <li>
          <span className="attempts-swatch attempts-answer" /> the answer
        </li>
        <li>
          <span className="attempts-swatch attempts-failed" /> failed
        </li>
      </ul>
    </Card>
  )
}

const blameWords = {
  channel: ["the channel's fault", 'bad'],
  client: ["the client's fault", 'warn'],
  none: ['no fault', 'neutral'],
} as const satisfies Record<string, readonly [string, Tone]>

const nextWords = {
  retry: 'Then the same channel again.',
  failover: 'Then another channel.',
}

interface RowProps {
  readonly attempt: Attempt
  readonly endMs: number
  readonly request: RequestInFull
}

function AttemptRow({ attempt, endMs, request }: RowProps) {
  const { channel, status, class: name, meaning, blame, next, first_event_ms: first } = attempt
  const { dropped_betas: dropped, vendor_error: error } = attempt
  const hasAnswered = name === 'answered' && request.outcome === 'completed'
  return (
    <li>
      <div className="attempts-head">
        <Link to="/channels/$channel" params={{ channel }}>
          {channel}
        </Link>
        <Badge tone={hasAnswered ? 'good' : first === null ? 'bad' : 'neutral'}>
          {status === null ? 'no status' : `status ${status}`}
        </Badge>
        <Badge>{attemptName(name)}</Badge>
        {blame !== null && <Badge tone={blameWords[blame][1]}>{blameWords[blame][0]}</Badge>}
      </div>
      <p>
        <Prose text={meaning} /> {next !== null && nextWords[next]}
      </p>
      <AttemptBar attempt={attempt} endMs={endMs} />
      <p className="soft attempts-times">
        Started after <Duration ms={attempt.started_ms} />
        {first !== null && (
          <>
            , first event after <Duration ms={first} />
          </>
        )}
        , took <Duration ms={attempt.duration_ms} />
        {dropped.length > 0 && `. Betas left out: ${dropped.join(', ')}`}
      </p>
      {error !== null && (
        <p className="soft attempts-times">
          <VendorErrorWords error={error} />. <Prose text={error.meaning} />
        </p>
      )}
    </li>
  )
}

/** The times below it say the same in words. */
function AttemptBar({ attempt, endMs }: Omit<RowProps, 'request'>) {
  const { started_ms: startMs, first_event_ms: first, duration_ms: duration } = attempt
  const part = (ms: number): string => `${(Math.min(ms, endMs) / endMs) * 100}%`
  const waitMs = Math.min(first ?? duration, duration)
  const rest = attempt.class === 'cut' ? 'attempts-failed' : 'attempts-answer'
  return (
    <div className="attempts-track" aria-hidden>
      <div
        className={`attempts-bar ${first === null ? 'attempts-failed' : 'attempts-wait'}`}
        style={{ left: part(startMs), width: part(waitMs) }}
      />
      {first !== null && (
        <div
          className={`attempts-bar ${rest}`}
          style={{ left: part(startMs + waitMs), width: part(duration - waitMs) }}
        />
      )}
    </div>
  )
}

const tickParts = [0, 0.25, 0.5, 0.75, 1]

function Axis({ endMs }: { endMs: number }) {
  return (
    <div className="attempts-axis" aria-hidden>
      {tickParts.map((share) => (
        <span key={share}>{formatDuration(endMs * share)}</span>
      ))}
    </div>
  )
}
