/** A panel with a title, and the small parts that fill panels: figures, facts, badges, notices. */
import { useId, type ReactNode } from 'react'

interface CardProps {
  readonly title?: ReactNode
  /** One line below the title. */
  readonly hint?: ReactNode
  /** At the right of the title. */
  readonly actions?: ReactNode
  /** The content reaches the edges, as a table does. */
  readonly isFlush?: boolean
  readonly children: ReactNode
}

export function Card({ title, hint, actions, isFlush = false, children }: CardProps) {
  const id = useId()
  return (
    <section className="card" aria-labelledby={title === undefined ? undefined : id}>
      {title !== undefined && (
        <header className="card-head">
          <div>
            <h2 id={id}>{title}</h2>
            {hint !== undefined && <p className="soft card-hint">{hint}</p>}
          </div>
          {actions !== undefined && <div className="row">{actions}</div>}
        </header>
      )}
      <div className={isFlush ? 'card-flush' : 'card-body'}>{children}</div>
    </section>
  )
}

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent'

export function Badge({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`badge badge-${tone}`}>{children}</span>
}

/** A sentence that stands out, with what to do. */
export function Notice({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <div className={`notice notice-${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}

interface FigureProps {
  readonly label: string
  readonly value: ReactNode
  /** Below the value, such as a comparison. */
  readonly note?: ReactNode
  readonly children?: ReactNode
}

/** A large number with its name. */
export function Figure({ label, value, note, children }: FigureProps) {
  return (
    <div className="figure">
      <div className="figure-label">{label}</div>
      <div className="figure-value">{value}</div>
      {note !== undefined && <div className="figure-note">{note}</div>}
      {children}
    </div>
  )
}

export function Figures({ children }: { children: ReactNode }) {
  return <div className="figures">{children}</div>
}

/** Names and values of one thing. */
export function Facts({ items }: { items: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
