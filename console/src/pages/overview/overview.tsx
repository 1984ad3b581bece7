/** The first screen: things that need attention, and today's figures against yesterday's. */
import { Link } from '@tanstack/react-router'
import { useSuspenseQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { Problem } from '../../api/client.ts'
import { t } from '../../messages/t.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Figure, Figures, Notice } from '../../ui/card.tsx'
import { Change, changeOf } from '../../ui/change.tsx'
import { formatClock, formatShare } from '../../ui/format.ts'
import { MoneyEquation } from '../../ui/money-equation.tsx'
import { metrics } from '../../ui/metrics.ts'
import { Page } from '../../ui/page.tsx'
import { describeFailure } from '../../ui/states.tsx'
import { Age, Clock, FigureValue, Usd } from '../../ui/values.tsx'
import { Attention } from './attention.tsx'
import { Hours, LastThirtyDays, TopOfToday } from './charts.tsx'
import { FirstSteps, useIsNew } from './first-steps.tsx'
import { overviewQuery, type Overview as OverviewData } from './queries.ts'
import './overview.css'

export function Overview() {
  const { data, dataUpdatedAt, error, refetch } = useSuspenseQuery(overviewQuery)
  const isNew = useIsNew(data)
  const readAt = new Date(dataUpdatedAt).toISOString()
  return (
    <Page
      title={t('overview.title')}
      hint={
        <>
          <Compared data={data} /> {t.rich('overview.updated', { age: () => <Age at={readAt} /> })}
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
      <MoneyEquation hint={t('overview.today')} figures={data.today} />
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
        <span>{t('overview.oldFigures', { why: describeFailure(error).title })}</span>
        <Button onClick={onRetry}>{t('overview.tryAgain')}</Button>
      </div>
    </Notice>
  )
}

/** Which times are compared, in the reader's zone. */
function Compared({ data: { today, yesterday_so_far: before } }: { data: OverviewData }) {
  const midnight = `${today.day}T00:00:00.000Z`
  const isUtc = formatClock(new Date(midnight)) === '00:00'
  return (
    <>
      {t.rich(isUtc ? 'overview.todaySinceUtc' : 'overview.todaySince', {
        at: () => <Clock at={midnight} />,
      })}
      {before === null
        ? t('overview.notCompared')
        : t.rich('overview.against', { until: () => <Clock at={before.until} /> })}
    </>
  )
}

type Figures = Pick<
  OverviewData['today'],
  'revenue_usd' | 'margin_usd' | 'requests' | 'errors' | 'first_event_p50_ms' | 'tokens'
>

interface TodayFigure {
  readonly metric: keyof typeof metrics
  /** What is compared. */
  readonly of: keyof Figures
  /** Where another figure is shown than the one that is compared. */
  readonly shown?: 'known_margin_usd'
  readonly isGrowthBad?: true
  /** In place of the comparison. */
  readonly instead?: (today: OverviewData['today']) => ReactNode
  readonly more?: (today: OverviewData['today']) => ReactNode
}

const figures: readonly TodayFigure[] = [
  { metric: 'spend', of: 'revenue_usd' },
  {
    metric: 'margin',
    of: 'margin_usd',
    shown: 'known_margin_usd',
    instead: ({ unknown_cost_revenue_usd: unknown }) =>
      Number(unknown) > 0 &&
      t.rich('overview.withoutUnknown', { usd: () => <Usd value={unknown} /> }),
  },
  { metric: 'requests', of: 'requests' },
  { metric: 'errors', of: 'errors', isGrowthBad: true },
  { metric: 'first-event', of: 'first_event_p50_ms', isGrowthBad: true },
  {
    metric: 'tokens',
    of: 'tokens',
    more: ({ cache_hit_rate: rate }) =>
      rate !== null && <div>{t('overview.fromCache', { share: formatShare(rate) })}</div>,
  },
]

function TodayFigures({ data: { today, yesterday_so_far: before } }: { data: OverviewData }) {
  return (
    <Figures>
      {figures.map(({ metric, of, shown = of, isGrowthBad = false, instead, more }) => (
        <Figure
          key={of}
          label={metrics[metric].name}
          value={<FigureValue value={today[shown]} kind={metrics[metric].figure} />}
          note={
            <>
              {instead?.(today) || (
                <AgainstYesterday
                  now={today[of]}
                  before={before?.[of] ?? null}
                  isGrowthBad={isGrowthBad}
                />
              )}
              {more?.(today)}
            </>
          }
        />
      ))}
    </Figures>
  )
}

interface AgainstProps {
  readonly now: string | number | null
  readonly before: string | number | null
  /** More of it is worse, as of errors. */
  readonly isGrowthBad: boolean
}

/** How a figure has changed against the same time of yesterday. */
function AgainstYesterday({ now, before, isGrowthBad }: AgainstProps) {
  if (now === null || before === null) return t('overview.noComparison')
  const share = changeOf(Number(now), Number(before))
  if (share === undefined) return t('overview.noneYesterday')
  if (share === 0) return t('overview.asYesterday')
  return t.rich('overview.vsYesterday', {
    change: () => <Change share={share} isGrowthBad={isGrowthBad} />,
  })
}

function LastAudit({ audit }: { audit: OverviewData['last_audit'] }) {
  if (audit === null) return <Badge>{t('overview.noAudit')}</Badge>
  return (
    <Link to="/audit" search={{ tab: 'books' }}>
      <Badge tone={audit.result === 'passed' ? 'good' : 'bad'}>
        {t.rich('overview.audit', {
          result: t(`overview.auditResults.${audit.result}`),
          age: () => <Age at={audit.at} />,
        })}
      </Badge>
    </Link>
  )
}
