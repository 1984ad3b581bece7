/** The frame around the views of an account: who it is, how old its figures are, and the views. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { LogOut, RotateCw } from 'lucide-react'
import { useEffect } from 'react'
import { Badge, Notice } from '../ui/card.tsx'
import { Button, IconButton } from '../ui/button.tsx'
import { formatAge } from '../ui/format.ts'
import { Failure, Loading } from '../ui/states.tsx'
import { PreferencesMenu } from '../ui/preferences.tsx'
import { useNow } from '../ui/values.tsx'
import { useAddress, type View } from './address.ts'
import type { Account } from './forms.ts'
import { Keys } from './keys.tsx'
import { Brand, Contact, useOperatorName } from './operator.tsx'
import { Overview } from './overview.tsx'
import { Prices } from './prices.tsx'
import { accountQuery } from './queries.ts'
import { Requests } from './requests.tsx'
import { Setup } from './setup.tsx'
import { Statement } from './statement.tsx'
import { forgetToken } from './token.ts'
import { ViewLink } from './view-link.tsx'

const content = {
  overview: Overview,
  requests: Requests,
  keys: Keys,
  prices: Prices,
  statement: Statement,
  setup: Setup,
} as const satisfies Record<View, unknown>

const tabs: readonly (readonly [View, string])[] = [
  ['overview', 'Overview'],
  ['requests', 'Requests'],
  ['keys', 'Keys'],
  ['prices', 'Prices'],
  ['statement', 'Statement'],
  ['setup', 'Set up'],
]

export function Signed() {
  const { view = 'overview' } = useAddress()
  const { data: account, error, refetch } = useQuery(accountQuery)
  const Content = content[view]
  useTitle(account?.name)
  return (
    <>
      <a className="holder-skip" href="#content">
        Skip to content
      </a>
      <Bar />
      <main id="content" className="page" tabIndex={-1}>
        {account === undefined && error === null && <Loading rows={8} />}
        {account === undefined && error !== null && (
          <Failure error={error} onRetry={() => void refetch()} />
        )}
        {account !== undefined && (
          <>
            <Head account={account} isStale={error !== null} />
            <nav className="tabs" aria-label="Views">
              {tabs.map(([name, text]) => (
                <ViewLink
                  key={name}
                  to={name === 'overview' ? {} : { view: name }}
                  className="tab"
                  isCurrent={name === view}
                >
                  {text}
                </ViewLink>
              ))}
            </nav>
            <Content account={account} />
          </>
        )}
        <Contact />
      </main>
    </>
  )
}

function useTitle(account: string | undefined): void {
  const operator = useOperatorName()
  useEffect(() => {
    const parts = [account, operator].filter((part) => part !== undefined)
    document.title = parts.length === 0 ? 'Account' : parts.join(' · ')
  }, [account, operator])
}

function Head({ account, isStale }: { account: Account; isStale: boolean }) {
  return (
    <header className="stack">
      <div className="row">
        <h1 className="break">{account.name}</h1>
        {account.status !== 'active' && <Badge tone="bad">{account.status}</Badge>}
      </div>
      {account.status !== 'active' && (
        <Notice tone="bad">
          This account is {account.status}: the gateway refuses its requests. You can still read its
          figures. Ask your operator what to do.
        </Notice>
      )}
      {isStale && (
        <Notice tone="warn">
          The gateway does not answer at the moment. These figures are older than usual.
        </Notice>
      )}
    </header>
  )
}

function Bar() {
  return (
    <header className="holder-bar">
      <Brand />
      <div className="holder-tools">
        <Freshness />
        <PreferencesMenu />
        <Button look="quiet" onClick={() => forgetToken('asked')}>
          <LogOut aria-hidden />
          <span className="holder-word">Forget token</span>
        </Button>
      </div>
    </header>
  )
}

/** How old the figures are, and reads them again. */
function Freshness() {
  const client = useQueryClient()
  const { dataUpdatedAt, isFetching } = useQuery(accountQuery)
  const nowMs = useNow(1_000)
  if (dataUpdatedAt === 0) return null
  return (
    <>
      <span className="soft holder-age">
        <span className="holder-wide">Updated </span>
        {formatAge(Math.max(nowMs - dataUpdatedAt, 0))}
      </span>
      <IconButton
        label="Read the figures again"
        aria-busy={isFetching}
        onClick={() => void client.invalidateQueries({ queryKey: ['account'] })}
      >
        <RotateCw aria-hidden />
      </IconButton>
    </>
  )
}
