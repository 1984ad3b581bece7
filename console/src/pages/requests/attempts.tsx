/** The attempts of a request on one time line: waiting for the first event, then the answer. */
import { said, t } from '../../messages/t.ts'
import { Badge, Card, type Tone } from '../../ui/card.tsx'
import { formatDuration } from '../../ui/format.ts'
import { Stack } from '../../ui/layout.tsx'
import { Prose } from '../../ui/prose.tsx'
import { Duration } from '../../ui/values.tsx'
import { vendorErrorMeaning, VendorErrorWords } from '../../ui/vendor-error.tsx'
import { durationMsOf, type RequestInFull } from './queries.ts'
import { ChannelLink } from '../links.tsx'

type Attempt = RequestInFull['attempts'][number]

export function Attempts({ request }: { request: RequestInFull }) {
  const { attempts } = request
  if (attempts.length === 0)
    return (
      <Card title={t('requests.attempts')}>
        <p className="soft">
          {t(request.outcome === 'not_admitted' ? 'requests.sentNothing' : 'requests.noAttempts')}
        </p>
      </Card>
    )
  const ends = attempts.map((attempt) => attempt.started_ms + attempt.duration_ms)
  const endMs = Math.max(durationMsOf(request), ...ends, 1)
  return (
    <Card title={t('requests.attempts')} hint={t('requests.fromStart')}>
      <Stack>
        <Stack as="ol">
          {attempts.map((attempt, index) => (
            <AttemptRow key={index} attempt={attempt} endMs={endMs} request={request} />
          ))}
        </Stack>
        <div className="row row-between soft small" aria-hidden>
          {[0, 0.25, 0.5, 0.75, 1].map((share) => (
            <span key={share}>{formatDuration(endMs * share)}</span>
          ))}
        </div>
        <ul className="row soft small attempts-legend">
          {(['wait', 'answer', 'failed'] as const).map((kind) => (
            <li key={kind} className="row">
              <span className={`attempts-${kind}`} /> {t(`requests.bars.${kind}`)}
            </li>
          ))}
        </ul>
      </Stack>
    </Card>
  )
}

const blameTones: Readonly<Record<NonNullable<Attempt['blame']>, Tone>> = {
  channel: 'bad',
  client: 'warn',
  none: 'neutral',
}

/** Classes of attempts whose word says little by itself. */
const namedClasses = ['answered', 'client', 'config', 'hard', 'lone_500'] as const

function attemptName(name: string): string {
  const known = namedClasses.find((one) => one === name)
  return known === undefined ? name.replaceAll('_', ' ') : t(`requests.attemptNames.${known}`)
}

interface RowProps {
  readonly attempt: Attempt
  readonly endMs: number
  readonly request: RequestInFull
}

function AttemptRow({ attempt, endMs, request }: RowProps) {
  const {
    channel,
    status,
    class: name,
    meaning,
    meaning_code: code,
    blame,
    next,
    first_event_ms: first,
  } = attempt
  const { dropped_betas: dropped, vendor_error: error } = attempt
  const hasAnswered = name === 'answered' && request.outcome === 'completed'
  return (
    <li className="stack tight">
      <div className="row">
        <ChannelLink name={channel} />
        <Badge tone={hasAnswered ? 'good' : first === null ? 'bad' : 'neutral'}>
          {status === null
            ? t('requests.noStatus')
            : t('requests.hasStatus', { status: String(status) })}
        </Badge>
        <Badge>{attemptName(name)}</Badge>
        {blame !== null && <Badge tone={blameTones[blame]}>{t(`requests.blames.${blame}`)}</Badge>}
      </div>
      <p>
        <Prose text={said(`attempts.${code}`, meaning)} />{' '}
        {next !== null && t(`requests.next.${next}`)}
      </p>
      <AttemptBar attempt={attempt} endMs={endMs} />
      <p className="soft small">
        {t.rich(first === null ? 'requests.attemptTimes' : 'requests.attemptTimesFirst', {
          start: () => <Duration ms={attempt.started_ms} />,
          first: () => <Duration ms={first} />,
          duration: () => <Duration ms={attempt.duration_ms} />,
        })}
        {dropped.length > 0 && ` ${t('requests.droppedBetas', { betas: dropped.join(', ') })}`}
      </p>
      {error !== null && (
        <p className="soft small">
          <VendorErrorWords error={error} />. <Prose text={vendorErrorMeaning(error)} />
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
        className={first === null ? 'attempts-failed' : 'attempts-wait'}
        style={{ left: part(startMs), width: part(waitMs) }}
      />
      {first !== null && (
        <div
          className={rest}
          style={{ left: part(startMs + waitMs), width: part(duration - waitMs) }}
        />
      )}
    </div>
  )
}
