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
        <header className="row row-between card-head">
          <div>
            <h2 id={id}>{title}</h2>
            {hint !== undefined && <p className="soft medium">{hint}</p>}
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
  return (
    <span className="badge" data-tone={tone}>
      {children}
    </span>
  )
}

/** A sentence that stands out, with what to do. */
export function Notice({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <div className="notice" data-tone={tone} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}

/** How much of a whole, as a bar; the words beside it say the same. */
export function Meter(props: { share: number; tone?: Tone; className?: string }) {
  const { share, tone = 'accent', className = '' } = props
  return (
    <span className={`meter ${className}`} data-tone={tone} aria-hidden>
      <span style={{ width: `${share * 100}%` }} />
    </span>
  )
}

const nearlyAll = 0.8

/** The tone of a limit of which this share is used. */
export function limitTone(share: number): Tone {
  return share >= 1 ? 'bad' : share >= nearlyAll ? 'warn' : 'accent'
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
      <div className="soft medium">{label}</div>
      <div className="figure-value">{value}</div>
      {note !== undefined && <div className="soft small figure-note">{note}</div>}
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
          <dt className="soft small">{name}</dt>
          <dd className="break">{value}</dd>
        </div>
      ))}
    </dl>
  )
}
