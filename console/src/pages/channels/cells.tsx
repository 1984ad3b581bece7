/** Parts that all tables of channels share: the state and its reason, the next step, figures. */
import type { ReactNode } from 'react'
import { t } from '../../messages/t.ts'
import { Badge, Meter } from '../../ui/card.tsx'
import {
  formatCount,
  formatDuration,
  formatShare,
  formatSpan,
  formatTimeFully,
} from '../../ui/format.ts'
import { Stack } from '../../ui/layout.tsx'
import type { ListColumn } from '../../ui/list/define.ts'
import { moneyTerms } from '../../ui/money-terms.ts'
import { Missing, Usd, useNow } from '../../ui/values.tsx'
import type { ChannelRow, Row, Standing } from './board.ts'
import type { Channel, Health, Traffic } from './queries.ts'
import { placeReason, placeTones, remedyFor, type Place } from './states.ts'

interface NotedProps {
  /** Below it, in small letters. */
  readonly note?: ReactNode
  readonly tip?: string
  readonly children: ReactNode
}

export function Noted({ note, tip, children }: NotedProps) {
  return (
    <div data-tip={tip}>
      {children}
      {note !== undefined && <div className="soft small channel-note">{note}</div>}
    </div>
  )
}

export function StateBadge({ place }: { place: Place }) {
  return (
    <span data-tip={t(`channels.placeTexts.${place}`)}>
      <Badge tone={placeTones[place]}>{t(`channels.places.${place}`)}</Badge>
    </span>
  )
}

/** The state, why, since when; one line for each gateway where they differ. */
function State({ place, health, sights }: Standing) {
  if (sights.length === 0) return <OneState place={place} health={health} />
  return (
    <Stack as="ul" isTight>
      {sights.map((sight) => (
        <li key={sight.health.node}>
          <OneState {...sight} />
          <span className="soft small">{t('channels.gateway', { name: sight.node })}</span>
        </li>
      ))}
    </Stack>
  )
}

function OneState({ place, health }: Pick<Standing, 'place' | 'health'>) {
  const reason = health && placeReason(place, health)
  return (
    <Noted
      note={
        health === undefined ? (
          t('channels.noState')
        ) : (
          <>
            {reason !== undefined && `${reason} · `}
            <Since at={health.since} />
          </>
        )
      }
    >
      <StateBadge place={place} />
    </Noted>
  )
}

/** For how long it has been so. */
function Since({ at }: { at: string | null }) {
  const nowMs = useNow(at === null ? null : 1_000)
  if (at === null) return <>{t('channels.sinceUnknown')}</>
  const moment = new Date(at)
  return (
    <time dateTime={at} data-tip={t('channels.since', { time: formatTimeFully(moment) })}>
      {t('channels.for', { time: formatSpan(Math.max(nowMs - moment.getTime(), 1_000)) })}
    </time>
  )
}

interface NextProps {
  readonly health: Health | undefined
  readonly isLive: boolean
}

/** What an operator has to do next, and what the gateway does by itself, and when. */
function NextStep({ health, isLive }: NextProps) {
  if (health === undefined) return <>{t('channels.lookIntoLog')}</>
  const { next_steps: steps } = health
  if (steps.length === 0 && !isLive) return <span className="soft">{t('channels.noGateway')}</span>
  if (steps.length === 0) return <Missing why={t('channels.nothingDue')} />
  return steps.map(({ kind, by, at }) => (
    <div key={by} data-tip={remedyFor(kind)?.text}>
      {t(`channels.steps.${kind}`)} {at !== null && <Until at={at} />}
    </div>
  ))
}

/** Counts down to a moment. */
function Until({ at }: { at: string }) {
  const leftMs = Date.parse(at) - useNow(1_000)
  const time = formatDuration(Math.ceil(leftMs / 1_000) * 1_000)
  return <time dateTime={at}>{leftMs < 1_000 ? t('channels.now') : t('ui.age.to', { time })}</time>
}

/** Slower than usual by this factor stands out. */
const slowFactor = 1.5

function FirstEvent({ health }: Pick<Standing, 'health'>) {
  const now = health?.first_event_ms ?? null
  const usual = health?.usual_first_event_ms ?? null
  if (now === null && usual === null) return <Missing why={t('channels.notMeasured')} />
  const isSlow = now !== null && usual !== null && now.p50 > usual.p50 * slowFactor
  return (
    <Noted note={t('channels.usual', { time: usual === null ? '–' : formatDuration(usual.p50) })}>
      <span
        className={isSlow ? 'warn' : undefined}
        data-tip={
          now === null
            ? t('channels.notMeasuredLately')
            : t('channels.medianAnd', { p95: formatDuration(now.p95) })
        }
      >
        {now === null ? '–' : formatDuration(now.p50)}
        {isSlow && t('channels.isSlow')}
      </span>
    </Noted>
  )
}

export const stateColumn: ListColumn<Standing> = {
  id: 'state',
  name: t('channels.state'),
  place: 'note',
  cell: (row) => <State {...row} />,
}

export const firstEventColumn: ListColumn<Standing> = {
  id: 'first',
  name: t('channels.firstEvent'),
  isNumber: true,
  cell: (row) => <FirstEvent {...row} />,
}

export function nextColumn(isLive: boolean): ListColumn<Standing> {
  return {
    id: 'next',
    name: t('channels.next'),
    place: 'state',
    cell: ({ health }) => <NextStep health={health} isLive={isLive} />,
  }
}

/** What failed of the attempts of the last minutes; below it, the errors of today. */
export function FailedLately({ traffic }: Pick<Row, 'traffic'>) {
  const { attempts = 0, failed = 0 } = traffic?.recent ?? {}
  const { requests = 0, errors = 0 } = traffic?.today ?? {}
  if (attempts === 0 && requests === 0) return <Missing why={t('channels.noRequestToday')} />
  const today = t('channels.ofToday', {
    errors: formatCount(errors),
    requests: formatCount(requests),
  })
  return (
    <Noted tip={t('channels.attemptsTip')} note={today}>
      {attempts === 0 ? (
        <Missing why={t('channels.noAttempt')} />
      ) : (
        <Part of={attempts} count={failed} />
      )}
    </Noted>
  )
}

function Part({ of, count }: { of: number; count: number }) {
  return (
    <span className={count > 0 ? 'bad' : undefined}>
      {t('channels.part', {
        count: formatCount(count),
        of: formatCount(of),
        share: formatShare(count / of),
      })}
    </span>
  )
}

/** Errors of today. */
export function Errors({ today }: ChannelRow) {
  if (today === undefined || today.requests === 0)
    return <Missing why={t('channels.noRequestToday')} />
  return <Part of={today.requests} count={today.errors} />
}

type Costs = Pick<
  Traffic['today'],
  'requests' | 'own_cost_usd' | 'estimated_cost_usd' | 'unknown_cost_requests'
>

/** What vendors counted at cost prices, as far as these are known; below it what else they may bill. */
export function OwnCost({ figures }: { figures: Costs | undefined }) {
  if (figures === undefined) return <Missing why={t('channels.noRequest')} />
  const { unknown_cost_requests: unknown, requests } = figures
  const { own_cost_usd: own, estimated_cost_usd: lost } = figures
  if (requests === 0 && own === '0' && lost === '0')
    return <Missing why={t('channels.noRequestOrCheck')} />
  if (unknown > 0 && unknown === requests) return <Missing why={t('channels.noCostPrices')} />
  return (
    <Noted note={unknown > 0 ? t('channels.withoutUnknown', { count: unknown }) : undefined}>
      <Usd value={own} />
      {lost !== '0' && (
        <div className="soft small" data-tip={moneyTerms.estimated_cost_usd.name}>
          + <Usd value={lost} /> {t('channels.lost')}
        </div>
      )}
    </Noted>
  )
}

/** Of the requests whose own cost is known; a whole day of unknown cost has no margin. */
export function Margin({ today }: ChannelRow) {
  if (today === undefined) return <Missing why={t('channels.noRequestToday')} />
  if (today.requests > 0 && today.unknown_cost_requests === today.requests)
    return <Missing why={t('channels.noCostPrices')} />
  return <Usd value={today.known_margin_usd} />
}

export function routeText({ rank, weight }: Pick<Channel, 'rank' | 'weight'>): string {
  return weight === 1
    ? t('channels.rankOf', { rank })
    : t('channels.rankAndWeight', { rank, weight })
}

/** The expected part of the requests now, as a bar, and the part that it had. */
export function Share({ share, traffic }: Row) {
  const recent = traffic?.recent?.share ?? null
  const today = traffic?.today.share ?? null
  const past =
    today === null
      ? t('channels.noRequestsToday')
      : t('channels.pastShare', {
          today: formatShare(today),
          recent: recent === null ? t('channels.none') : formatShare(recent),
        })
  if (share === 0 && today === null) return <Missing why={past} />
  const note =
    recent !== null
      ? t('channels.shareLately', { share: formatShare(recent) })
      : today === null
        ? t('channels.noneToday')
        : t('channels.shareToday', { share: formatShare(today) })
  return (
    <Noted tip={t('channels.shareTip', { past })} note={note}>
      {formatShare(share)}
      <Meter share={share} />
    </Noted>
  )
}
