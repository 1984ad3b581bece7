/**
 * States over time as bands, one for each thing: the calm state is a thin line, every other state a full
 * bar, so that colour is not the only sign. The tip of a piece says what it is.
 */
import type { ReactNode } from 'react'
import type { Tone } from './card.tsx'
import { formatDuration, formatShare, formatTime } from './format.ts'
import './state-timeline.css'

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
}

const tickCount = 4

export function StateTimeline({ label, bands, fromMs, untilMs }: StateTimelineProps) {
  const stepMs = (untilMs - fromMs) / tickCount
  const ticks = Array.from({ length: tickCount + 1 }, (_, index) => fromMs + index * stepMs)
  return (
    <figure className="timeline" aria-label={label}>
      {bands.map(({ id, name, label: text, pieces }) => (
        <div key={id} className="timeline-band">
          <div className="timeline-name">{name}</div>
          <div className="timeline-track" role="img" aria-label={`${text}: ${summaryOf(pieces)}`}>
            {pieces.map((piece) => (
              <BandPiece key={piece.fromMs} piece={piece} fromMs={fromMs} untilMs={untilMs} />
            ))}
          </div>
        </div>
      ))}
      <div className="timeline-axis" aria-hidden>
        {ticks.map((tick, index) => (
          <span key={tick}>{index === tickCount ? 'now' : tickText(tick, untilMs - fromMs)}</span>
        ))}
      </div>
      <Legend bands={bands} />
    </figure>
  )
}

function BandPiece({
  piece,
  fromMs,
  untilMs,
}: {
  readonly piece: Piece
  readonly fromMs: number
  readonly untilMs: number
}) {
  const { name, tone, isCalm, why } = piece
  const wholeMs = untilMs - fromMs
  const place = {
    // The last piece stays visible, however short it is.
    left: `min(${((piece.fromMs - fromMs) / wholeMs) * 100}%, 100% - 3px)`,
    width: `${((piece.untilMs - piece.fromMs) / wholeMs) * 100}%`,
  }
  const times = `${formatTime(new Date(piece.fromMs))} to ${formatTime(new Date(piece.untilMs))}`
  const because = why === undefined ? '' : ` · ${why}`
  return (
    <span
      className={`timeline-piece timeline-${tone} ${isCalm ? 'timeline-calm' : ''}`}
      style={place}
      data-tip={`${name} for ${formatDuration(piece.untilMs - piece.fromMs)} · ${times}${because}`}
    />
  )
}

function Legend({ bands }: { bands: readonly Band[] }) {
  const shown = new Map<string, Tone>()
  for (const { pieces } of bands) for (const { name, tone } of pieces) shown.set(name, tone)
  return (
    <ul className="timeline-legend">
      {[...shown].map(([name, tone]) => (
        <li key={name}>
          <span className={`timeline-swatch timeline-${tone}`} />
          {name}
        </li>
      ))}
    </ul>
  )
}

/** How much of the known time each state took. */
function summaryOf(pieces: readonly Piece[]): string {
  const times = new Map<string, number>()
  for (const { name, fromMs, untilMs } of pieces)
    times.set(name, (times.get(name) ?? 0) + untilMs - fromMs)
  const known = [...times.values()].reduce((sum, ms) => sum + ms, 0)
  if (known === 0) return 'not known'
  return [...times].map(([name, ms]) => `${name} ${formatShare(ms / known)}`).join(', ')
}

const dayTick = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
})
const clockTick = new Intl.DateTimeFormat('en-GB', {
  hour: '2-digit',
  minute: '2-digit',
})
const longMs = 172_800_000

function tickText(ms: number, wholeMs: number): string {
  return (wholeMs > longMs ? dayTick : clockTick).format(new Date(ms))
}
