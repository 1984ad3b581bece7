/**
 * States over time as bands, one for each thing: the calm state is a thin line, every other state a full
 * bar, so that colour is not the only sign. The tip of a piece says what it is.
 */
import type { CSSProperties, ReactNode } from 'react'
import { t } from '../messages/t.ts'
import type { Tone } from './card.tsx'
import { formatClock, formatDuration, formatShare, formatShortDay, formatTime } from './format.ts'
import './chart.css'

export interface Piece {
  readonly fromMs: number
  readonly untilMs: number
  readonly name: string
  readonly tone: Tone
  /** Drawn thin. */
  readonly isCalm: boolean
  readonly why?: string | undefined
}

export interface Band {
  readonly id: string
  readonly name: ReactNode
  /** The same as text, for screen readers. */
  readonly label: string
  /** In the order of time. The state between two of them is not known. */
  readonly pieces: readonly Piece[]
}

interface StateTimelineProps {
  readonly label: string
  readonly bands: readonly Band[]
  readonly fromMs: number
  readonly untilMs: number
  /** It ends before now. */
  readonly isPast: boolean
}

const tickCount = 4
const longMs = 172_800_000
/** The worse, the further to the front. */
const tones: readonly Tone[] = ['accent', 'neutral', 'good', 'warn', 'bad']

export function StateTimeline({ label, bands, fromMs, untilMs, isPast }: StateTimelineProps) {
  const wholeMs = untilMs - fromMs
  const ticks = Array.from({ length: tickCount + 1 }, (_, index) => {
    if (index === tickCount && !isPast) return t('time.now')
    const at = new Date(fromMs + (index * wholeMs) / tickCount)
    return wholeMs > longMs ? formatShortDay(at) : formatClock(at)
  })
  const names = new Map(
    bands.flatMap(({ pieces }) => pieces.map(({ name, tone }) => [name, tone] as const)),
  )
  const placeOf = ({ fromMs: beginMs, untilMs: endMs, tone }: Piece): CSSProperties => ({
    background: colourOf(tone),
    zIndex: tones.indexOf(tone),
    // The last piece stays visible, however short it is.
    left: `min(${((beginMs - fromMs) / wholeMs) * 100}%, 100% - 3px)`,
    width: `${((endMs - beginMs) / wholeMs) * 100}%`,
  })
  return (
    <figure className="stack timeline" aria-label={label}>
      {bands.map(({ id, name, label: text, pieces }) => (
        <div key={id} className="timeline-band">
          <div className="break">{name}</div>
          <div className="timeline-track" role="img" aria-label={`${text}: ${summaryOf(pieces)}`}>
            {pieces.map((piece) => (
              <span
                key={piece.fromMs}
                className={piece.isCalm ? 'timeline-calm' : undefined}
                style={placeOf(piece)}
                data-tip={tipOf(piece)}
              />
            ))}
          </div>
        </div>
      ))}
      <div className="row row-between timeline-axis" aria-hidden>
        {ticks.map((text, index) => (
          <span key={index}>{text}</span>
        ))}
      </div>
      <ul className="legend">
        {[...names].map(([name, tone]) => (
          <li key={name}>
            <span className="swatch" style={{ background: colourOf(tone) }} /> {name}
          </li>
        ))}
      </ul>
    </figure>
  )
}

function colourOf(tone: Tone): string {
  return tone === 'neutral' ? 'var(--chart-8)' : `var(--${tone})`
}

function tipOf({ name, fromMs, untilMs, why }: Piece): string {
  const [from, to] = [formatTime(new Date(fromMs)), formatTime(new Date(untilMs))]
  const text = t('time.state', { name, duration: formatDuration(untilMs - fromMs), from, to })
  return why === undefined ? text : `${text} · ${why}`
}

/** How much of the known time each state took. */
function summaryOf(pieces: readonly Piece[]): string {
  const times = new Map<string, number>()
  for (const { name, fromMs, untilMs } of pieces)
    times.set(name, (times.get(name) ?? 0) + untilMs - fromMs)
  const known = [...times.values()].reduce((sum, ms) => sum + ms, 0)
  if (known === 0) return t('time.notKnown')
  return [...times].map(([name, ms]) => `${name} ${formatShare(ms / known)}`).join(', ')
}
