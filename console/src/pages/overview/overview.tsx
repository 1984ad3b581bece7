/** The first screen: things that need attention, and today's figures against yesterday's. */
import { Link } from '@tanstack/react-router'
import { useSuspenseQuery } from '@tanstack/react-query'
import { Badge, Figure, Figures } from '../../ui/card.tsx'
import { formatTime } from '../../ui/format.ts'
import { Page } from '../../ui/page.tsx'
import { Age, Count, Duration, Usd } from '../../ui/values.tsx'
import { Attention } from './attention.tsx'
import { Change } from './change.tsx'
import { Hours } from './hours.tsx'
import { overviewQuery, type Overview as OverviewData } from './queries.ts'
import { TopOfToday } from './top-of-today.tsx'
import { LastThirtyDays } from './trends.tsx'
import './overview.css'

export function Overview() {
  const { data } = useSuspenseQuery(overviewQuery)
  return (
    <Page title="Overview" hint={compared(data)} actions={<LastAudit audit={data.last_audit} />}>
      <Attention items={data.attention.next} />
      <TodayFigures data={data} />
      <Hours data={data} />
      <LastThirtyDays />
      <TopOfToday />
    </Page>
  )
}

function compared({ yesterday_so_far: before }: OverviewData): string {
  const today = 'Today since 00:00 UTC'
  if (before === null) return `${today}. There are no figures of yesterday to compare with.`
  return `${today}, against yesterday until ${formatTime(new Date(before.until)).slice(-8)}.`
}

function TodayFigures({ data }: { data: OverviewData }) {
  const { today, yesterday_so_far: before } = data
  return (
    <Figures>
      <Figure
        label="Spend of accounts"
        value={<Usd value={today.revenue_usd} />}
        note={<Change now={Number(today.revenue_usd)} before={numberOf(before?.revenue_usd)} />}
      />
      <Figure
        label="Margin"
        value={<Usd value={today.margin_usd ?? today.known_margin_usd} />}
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
        note={<Change now={today.tokens} before={before?.tokens} />}
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
  if (today.margin_usd === null)
    return (
      <>
        without <Usd value={today.unknown_cost_revenue_usd} /> of unknown cost
      </>
    )
  return <Change now={Number(today.margin_usd)} before={numberOf(before?.margin_usd)} />
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
