/** What a part of a page shows while there is nothing to show: loading, failed, empty. */
import type { ReactNode } from 'react'
import { CircleAlert, RotateCw } from 'lucide-react'
import { t } from '../messages/t.ts'
import { Problem } from '../problem.ts'
import { Button } from './button.tsx'

/** Grey lines in the shape of the text to come. */
export function Loading({ rows = 4 }: { rows?: number }) {
  return (
    <div className="loading" role="status">
      <span className="visually-hidden">{t('ui.state.loading')}</span>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} />
      ))}
    </div>
  )
}

export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { title, requestId } = describeFailure(error)
  return (
    <div className="state" role="alert">
      <CircleAlert className="bad" aria-hidden />
      <p>{title}</p>
      {requestId !== undefined && (
        <p className="soft">
          {t('ui.state.requestId')} <code>{requestId}</code>
        </p>
      )}
      {onRetry !== undefined && (
        <Button onClick={onRetry}>
          <RotateCw aria-hidden /> {t('ui.state.again')}
        </Button>
      )}
    </div>
  )
}

interface ShownProps<Data> {
  readonly query: {
    readonly data: Data | undefined
    readonly error: unknown
    readonly refetch: () => unknown
  }
  readonly rows?: number
  readonly children: (data: Data) => ReactNode
}

/** Shows an answer once it is here. */
export function Shown<Data>({ query, rows = 6, children }: ShownProps<Data>) {
  const { data, error, refetch } = query
  if (data !== undefined) return children(data)
  if (error === null) return <Loading rows={rows} />
  return <Failure error={error} onRetry={() => void refetch()} />
}

/** The sentence to show for anything that was thrown. */
export function describeFailure(error: unknown): {
  title: string
  requestId: string | undefined
} {
  if (error instanceof Problem) return { title: error.message, requestId: error.requestId }
  return { title: t('ui.state.failed'), requestId: undefined }
}

interface EmptyProps {
  readonly title: string
  /** Says what to do. */
  readonly children?: ReactNode
}

export function Empty({ title, children }: EmptyProps) {
  return (
    <div className="state">
      <p className="state-title">{title}</p>
      {children !== undefined && <div className="soft state-advice">{children}</div>}
    </div>
  )
}
