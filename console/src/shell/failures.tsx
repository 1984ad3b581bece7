/** Pages that take the place of one that does not exist or has failed. */
import { Link, type ErrorComponentProps } from '@tanstack/react-router'
import { buttonClass } from '../ui/button.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, Failure } from '../ui/states.tsx'

export function NotFound() {
  return (
    <Page title="Page not found">
      <Empty title="This address leads nowhere.">
        <Link to="/" className={buttonClass('primary')}>
          Go to the overview
        </Link>
      </Empty>
    </Page>
  )
}

export function PageFailure({ error, reset }: ErrorComponentProps) {
  return (
    <Page title="This page could not be shown">
      <Failure error={error} onRetry={reset} />
    </Page>
  )
}
