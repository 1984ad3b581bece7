/** Values in running text and tables: rounded to be read, exact in the tip (hover, focus or tap). */
import { useEffect, useState } from 'react'
import { t } from '../messages/t.ts'
import { parsePicos } from './exact.ts'
import {
  formatAge,
  formatClock,
  formatCount,
  formatDuration,
  formatInteger,
  formatShare,
  formatTime,
  formatTimeFully,
  formatUsd,
  formatUsdExact,
  formatUsdFixed,
} from './format.ts'

interface UsdProps {
  readonly value: string | null
  readonly signed?: boolean
  /** Decimals, for a column whose points stand below each other; without it as many as matter. */
  readonly places?: number
}

/** An amount as the API gives it: exact decimal text. */
export function Usd({ value, signed = false, places }: UsdProps) {
  if (value === null) return <Missing why={t('ui.value.unknown')} />
  const text = places === undefined ? formatUsd(value) : formatUsdFixed(parsePicos(value), places)
  const isGain = signed && !text.startsWith('−') && /[1-9]/.test(value)
  return (
    <data value={value} data-tip={t('ui.value.exactly', { amount: formatUsdExact(value) })}>
      {isGain ? `+${text}` : text}
    </data>
  )
}

export function Count({ value }: { value: number | null }) {
  if (value === null) return <Missing why={t('ui.value.unknown')} />
  return (
    <data value={value} data-tip={formatInteger(value)}>
      {formatCount(value)}
    </data>
  )
}

export function Duration({ ms }: { ms: number | null }) {
  if (ms === null) return <Missing why={t('ui.value.unmeasured')} />
  return (
    <data value={ms} data-tip={t('ui.units.ms', { value: formatInteger(ms) })}>
      {formatDuration(ms)}
    </data>
  )
}

interface FigureProps {
  readonly value: string | number | null
  readonly kind: 'usd' | 'count' | 'ms' | 'share'
  /** Of an amount, as in `Usd`. */
  readonly places?: number
}

/** A figure by its kind. */
export function FigureValue({ value, kind, ...places }: FigureProps) {
  if (kind === 'usd') return <Usd value={value === null ? null : String(value)} {...places} />
  const number = value === null ? null : Number(value)
  if (kind === 'count') return <Count value={number} />
  if (kind === 'ms') return <Duration ms={number} />
  if (number === null) return <Missing why={t('ui.value.unknown')} />
  return <data value={number}>{formatShare(number)}</data>
}

/** A moment in the reader's zone; UTC is in the tip. */
export function Time({ at }: { at: string | null }) {
  if (at === null) return <Missing why={t('ui.value.never')} />
  const moment = new Date(at)
  return (
    <time dateTime={at} data-tip={formatTimeFully(moment)}>
      {formatTime(moment)}
    </time>
  )
}

/** A moment of a known day: hour and minute in the reader's zone, all of it in the tip. */
export function Clock({ at }: { at: string }) {
  const moment = new Date(at)
  return (
    <time dateTime={at} data-tip={formatTimeFully(moment)}>
      {formatClock(moment)}
    </time>
  )
}

/** How long ago a moment was; renews itself. */
export function Age({ at }: { at: string | null }) {
  const nowMs = useNow(at === null ? null : 1_000)
  if (at === null) return <Missing why={t('ui.value.never')} />
  const moment = new Date(at)
  return (
    <time dateTime={at} data-tip={formatTimeFully(moment)}>
      {formatAge(nowMs - moment.getTime())}
    </time>
  )
}

export function Missing({ why }: { why: string }) {
  return (
    <span className="soft" data-tip={why}>
      –<span className="visually-hidden">{why}</span>
    </span>
  )
}

/** The time, renewed at an interval; null keeps it still. */
export function useNow(everyMs: number | null): number {
  const [nowMs, setNowMs] = useState(Date.now)
  useEffect(() => {
    if (everyMs === null) return undefined
    const timer = setInterval(() => setNowMs(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return nowMs
}
