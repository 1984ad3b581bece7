/** Pages that take the place of one that does not exist or has failed. */
import { Link, useLocation, type ErrorComponentProps } from '@tanstack/react-router'
import { RotateCw } from 'lucide-react'
import { Problem } from '../problem.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, Failure } from '../ui/states.tsx'
import { sections } from './sections.ts'

export function NotFound() {
  return (
    <Page title="Page not found">
      <Empty title="There is no page at this address.">
        <Link to="/" className={buttonClass('primary')}>
          Go to the overview
        </Link>
      </Empty>
    </Page>
  )
}

export function PageFailure({ error, reset }: ErrorComponentProps) {
  if (error instanceof Problem && error.status === 404) return <MissingThing />
  return (
    <Page title="This page could not be shown">
      {error instanceof Problem ? <Failure error={error} onRetry={reset} /> : <Broken />}
    </Page>
  )
}

/** The address names an account, a channel or another thing that there is not. */
function MissingThing() {
  const { pathname } = useLocation()
  const [, word = '', name = ''] = pathname.split('/')
  const section = sections.find(({ to }) => to === `/${word}`)
  return (
    <Page title="Not found" trail={section && <Link to={section.to}>{section.name}</Link>}>
      <Empty title={`There is nothing named ${decodeURIComponent(name)} here.`}>
        The name may be mistyped, or what it names was renamed.
        {section !== undefined && (
          <Link to={section.to} className={buttonClass('primary')}>
            Go to {section.name.toLowerCase()}
          </Link>
        )}
      </Empty>
    </Page>
  )
}

/** A script of another release, or a mistake of the page: only the newest page can help. */
function Broken() {
  return (
    <Empty title="This page has failed.">
      Load it again. If it fails again, look at the log of the gateway.
      <Button onClick={() => location.reload()}>
        <RotateCw aria-hidden /> Load again
      </Button>
    </Empty>
  )
}
