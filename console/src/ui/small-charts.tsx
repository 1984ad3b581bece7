/** Small pictures of figures: a line in a table cell, bars that compare parts. */
import type { ReactNode } from 'react'
import { Meter } from './card.tsx'
import './chart.css'

/** A trend without axes; `label` says it in words. */
export function Spark({ values, label }: { values: readonly number[]; label: string }) {
  const top = Math.max(...values, 0)
  const step = 100 / Math.max(values.length - 1, 1)
  const points = values.map(
    (value, index) => `${index * step},${top === 0 ? 24 : 24 - (value / top) * 22}`,
  )
  return (
    <svg
      className="spark"
      viewBox="0 0 100 26"
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
      data-tip={label}
    >
      <path d={`M0,26 L${points.join(' L')} L100,26 Z`} />
      <polyline points={points.join(' ')} />
    </svg>
  )
}

export interface Bar {
  readonly id: string
  readonly name: ReactNode
  readonly value: number
  readonly text: ReactNode
}

/** Parts of a whole, the largest first, each with a bar in proportion to the largest. */
export function BarList({ label, bars }: { label: string; bars: readonly Bar[] }) {
  const top = Math.max(...bars.map(({ value }) => value), 0)
  return (
    <ul className="bar-list" aria-label={label}>
      {bars.map(({ id, name, value, text }) => (
        <li key={id}>
          <div className="bar-list-head">
            <span className="break">{name}</span>
            <span className="number">{text}</span>
          </div>
          <Meter share={top <= 0 ? 0 : Math.max(value, 0) / top} />
        </li>
      ))}
    </ul>
  )
}
