/** The first screen: things that need attention, and today's figures against yesterday's. */
import { Link } from '@tanstack/react-router'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Problem } from '../../api/client.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Figure, Figures, Notice } from '../../ui/card.tsx'
import { formatClock, formatShare } from '../../ui/format.ts'
import { MoneyEquation } from '../../ui/money-equation.tsx'
import { moneyTerms } from '../../ui/money-terms.ts'
import { Page } from '../../ui/page.tsx'
import { describeFailure } from '../../ui/states.tsx'
import { Age, Clock, Count, Duration, Usd } from '../../ui/values.tsx'
import { Attention } from './attention.tsx'
import { Change } from './change.tsx'
import { FirstSteps, useIsNew } from './first-steps.tsx'
import { Hours } from './hours.tsx'
import { overviewQuery, type Overview as OverviewData } from './queries.ts'
import { TopOfToday } from './top-of-today.tsx'
import { LastThirtyDays } from './trends.tsx'
import './overview.css'

export function Overview() {
  const { data, dataUpdatedAt, error, refetch } = useSuspenseQuery(overviewQuery)
  const isNew = useIsNew(data)
  const readAt = new Date(dataUpdatedAt).toISOString()
  return (
    <Page
      title="Overview"
      hint={
        <>
          <Compared data={data} /> Updated <Age at={readAt} />.
        </>
      }
      actions={<LastAudit audit={data.last_audit} />}
    >
      {error !== null && !isUnreachable(error) && (
        <Outdated error={error} onRetry={() => void refetch()} />
      )}
      {isNew && <FirstSteps />}
      {(!isNew || data.attention.next.length > 0) && <Attention items={data.attention.next} />}
      <TodayFigures data={data} />
      <MoneyEquation hint="Today, since 00:00 UTC" figures={data.today} />
      {!isNew && (
        <>
          <Hours data={data} />
          <LastThirtyDays today={data.today} />
          <TopOfToday day={data.today.day} />
        </>
      )}
    </Page>
  )
}

/** The frame of all pages says that the gateway does not answer. */
function isUnreachable(error: unknown): boolean {
  return error instanceof Problem && error.status === 0
}

/** Above figures that could not be read again. */
function Outdated({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return (
    <Notice tone="bad">
      <div className="row">
        <span>
          {describeFailure(error).title} The figures below are the last ones that were read.
        </span>
        <Button onClick={onRetry}>Try again</Button>
      </div>
    </Notice>
  )
}

/** Which times are compared, in the reader's zone. */
function Compared({ data: { today, yesterday_so_far: before } }: { data: OverviewData }) {
  const midnight = `${today.day}T00:00:00.000Z`
  return (
    <>
      Today since <Clock at={midnight} />
      {formatClock(new Date(midnight)) === '00:00' ? ' UTC' : ' (00:00 UTC)'}
      {before === null ? (
        '. There are no figures of yesterday to compare with.'
      ) : (
        <>
          , against yesterday until <Clock at={before.until} />.
        </>
      )}
    </>
  )
}

function TodayFigures({ data }: { data: OverviewData }) {
  const { today, yesterday_so_far: before } = data
  return (
    <Figures>
      <Figure
        label={moneyTerms.revenue_usd.name}
        value={<Usd value={today.revenue_usd} />}
        note={<Change now={Number(today.revenue_usd)} before={numberOf(before?.revenue_usd)} />}
      />
      <Figure
        label={moneyTerms.known_margin_usd.name}
        value={<Usd value={today.known_margin_usd} />}
        note={<MarginNote today={today} before={before} />}
      />
      <Figure
        label="Requests"
        value={<Count value={today.requests} />}
        note={<Change now={today.requests} before={before?.requests} />}
      />
      <Figure
        label="Errors"
        value={<Count value={today.errors} />}
        note={<Change now={today.errors} before={before?.errors} isGrowthBad />}
      />
      <Figure
        label="First event, median"
        value={<Duration ms={today.first_event_p50_ms} />}
        note={
          <Change
            now={today.first_event_p50_ms ?? undefined}
            before={before?.first_event_p50_ms ?? undefined}
            isGrowthBad
          />
        }
      />
      <Figure
        label="Tokens"
        value={<Count value={today.tokens} />}
        note={
          <>
            <Change now={today.tokens} before={before?.tokens} />
            {today.cache_hit_rate !== null && (
              <div>{formatShare(today.cache_hit_rate)} of input from the cache</div>
            )}
          </>
        }
      />
    </Figures>
  )
}

function MarginNote({
  today,
  before,
}: {
  today: OverviewData['today']
  before: OverviewData['yesterday_so_far']
}) {
  if (Number(today.unknown_cost_revenue_usd) > 0)
    return (
      <>
        without <Usd value={today.unknown_cost_revenue_usd} /> of unknown cost
      </>
    )
  return <Change now={Number(today.known_margin_usd)} before={numberOf(before?.margin_usd)} />
}

function LastAudit({ audit }: { audit: OverviewData['last_audit'] }) {
  if (audit === null) return <Badge>No audit yet</Badge>
  const isGood = audit.result === 'passed'
  return (
    <Link to="/audit" search={{ tab: 'books' }}>
      <Badge tone={isGood ? 'good' : 'bad'}>
        Audit {audit.result.replace('_', ' ')} · <Age at={audit.at} />
      </Badge>
    </Link>
  )
}

function numberOf(text: string | null | undefined): number | undefined {
  return text === null || text === undefined ? undefined : Number(text)
}
