/** What an answer shows once it is here. */
import type { ReactNode } from 'react'
import { Failure, Loading } from '../ui/states.tsx'

interface ShownProps<Data> {
  readonly query: {
    readonly data: Data | undefined
    readonly error: unknown
    readonly refetch: () => unknown
  }
  readonly rows?: number
  readonly children: (data: Data) => ReactNode
}

export function Shown<Data>({ query, rows = 6, children }: ShownProps<Data>) {
  const { data, error, refetch } = query
  if (data !== undefined) return children(data)
  if (error === null) return <Loading rows={rows} />
  return <Failure error={error} onRetry={() => void refetch()} />
}
