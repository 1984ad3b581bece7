/** Pages that take the place of one that does not exist or has failed. */
import { Link, useLocation, type ErrorComponentProps } from '@tanstack/react-router'
import { RotateCw } from 'lucide-react'
import { t } from '../messages/t.ts'
import { Problem } from '../problem.ts'
import { Button, buttonClass } from '../ui/button.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, Failure } from '../ui/states.tsx'
import { sections } from './sections.ts'

export function NotFound() {
  return (
    <Page title={t('shell.noPage')}>
      <Empty title={t('shell.noPageHere')}>
        <Link to="/" className={buttonClass('primary')}>
          {t('shell.toOverview')}
        </Link>
      </Empty>
    </Page>
  )
}

export function PageFailure({ error, reset }: ErrorComponentProps) {
  if (error instanceof Problem && error.status === 404) return <MissingThing />
  return (
    <Page title={t('shell.notShown')}>
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
    <Page title={t('shell.nothing')} trail={section && <Link to={section.to}>{section.name}</Link>}>
      <Empty title={t('shell.nothingNamed', { name: decodeURIComponent(name) })}>
        {t('shell.mistyped')}
        {section !== undefined && (
          <Link to={section.to} className={buttonClass('primary')}>
            {t('shell.toSection', { name: section.name.toLowerCase() })}
          </Link>
        )}
      </Empty>
    </Page>
  )
}

/** A script of another release, or a mistake of the page: only the newest page can help. */
function Broken() {
  return (
    <Empty title={t('shell.failed')}>
      {t('shell.loadIt')}
      <Button onClick={() => location.reload()}>
        <RotateCw aria-hidden /> {t('shell.loadAgain')}
      </Button>
    </Empty>
  )
}
