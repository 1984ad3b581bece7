/** The frame around the views of an account: who it is, how old its figures are, and the views. */
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { LogOut, RotateCw, ShieldOff } from 'lucide-react'
import { lazy, Suspense, useEffect } from 'react'
import icon from '../icon.svg'
import { t } from '../messages/t.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Badge, Notice } from '../ui/card.tsx'
import { formatAge } from '../ui/format.ts'
import { Row, Stack } from '../ui/layout.tsx'
import { PreferencesMenu } from '../ui/preferences.tsx'
import { describeFailure, Loading, Shown } from '../ui/states.tsx'
import { announce } from '../ui/toast.tsx'
import { useNow } from '../ui/values.tsx'
import { useAddress, ViewLink, viewsOf, type View } from './address.tsx'
import { Overview } from './overview.tsx'
import { operatorQuery, useAccount } from './read.ts'
import { signOut, useRole, useSession, type Standing } from './session.ts'
import { forgetToken } from './token.ts'

const loadViews = () => import('./views.ts')

const content = {
  overview: Overview,
  requests: lazy(async () => ({ default: (await loadViews()).Requests })),
  keys: lazy(async () => ({ default: (await loadViews()).Keys })),
  prices: lazy(async () => ({ default: (await loadViews()).Prices })),
  statement: lazy(async () => ({ default: (await loadViews()).Statement })),
  receipts: lazy(async () => ({ default: (await loadViews()).Receipts })),
  setup: lazy(async () => ({ default: (await loadViews()).Setup })),
  people: lazy(async () => ({ default: (await loadViews()).People })),
  topup: lazy(async () => ({ default: (await loadViews()).TopUp })),
  activity: lazy(async () => ({ default: (await loadViews()).Activity })),
  details: lazy(async () => ({ default: (await loadViews()).Details })),
} as const satisfies Record<View, unknown>

export function Account() {
  const views = viewsOf[useRole()]
  const view = useView(views)
  const query = useStanding()
  const Content = content[view]
  useTitle(query.data?.name)
  // A page that stays open works after the gateway behind it was replaced.
  useEffect(() => void Promise.allSettled([loadViews(), import('../ui/plot.tsx')]), [])
  return (
    <>
      <a className="skip" href="#content">
        {t('account.skip')}
      </a>
      <header className="holder-bar">
        <Brand />
        <div className="holder-tools">
          <Freshness />
          <PersonTools />
        </div>
      </header>
      <main id="content" className="page" tabIndex={-1}>
        <Shown query={query}>
          {(account) => (
            <>
              <Head account={account} isStale={query.error !== null} />
              <nav className="tabs" aria-label={t('account.views')}>
                {views.map((name) => (
                  <ViewLink
                    key={name}
                    to={name === views[0] ? {} : { view: name }}
                    className="tab"
                    isCurrent={name === view}
                  >
                    {t(`account.tabs.${name}`)}
                  </ViewLink>
                ))}
              </nav>
              <Suspense fallback={<Loading rows={8} />}>
                <Content />
              </Suspense>
            </>
          )}
        </Shown>
        <Contact />
      </main>
    </>
  )
}

/** A member sees the requests of one of the own keys at a time. */
function useView(views: readonly View[]): View {
  const { view, paid, key } = useAddress()
  const wanted = view ?? (paid === undefined ? undefined : 'topup')
  if (wanted === 'requests' && key !== undefined) return wanted
  return views.find((each) => each === wanted) ?? views[0] ?? 'keys'
}

/** Name and status of the account; without the role owner a member gets them with the session. */
function useStanding() {
  const session = useSession()
  const { data: account, error, refetch } = useAccount()
  const data: Standing | undefined = session?.role === 'member' ? session.account : account
  return { data, error, refetch: () => void refetch() }
}

/** The look of the page, and the ways out. */
function PersonTools() {
  const client = useQueryClient()
  const session = useSession()
  const leave = (place: 'here' | 'everywhere'): void =>
    void signOut(client, place).catch((error) => announce(describeFailure(error).title))
  const everywhere = {
    Icon: ShieldOff,
    text: t('members.signOut.everywhere'),
    onSelect: () => leave('everywhere'),
  }
  return (
    <>
      <PreferencesMenu {...(session && { head: session.email, items: [everywhere] })} />
      <Button look="quiet" onClick={() => (session ? leave('here') : forgetToken('asked'))}>
        <LogOut aria-hidden />
        <span className="holder-word">
          {t(session ? 'members.signOut.here' : 'account.forget')}
        </span>
      </Button>
    </>
  )
}

/** The title of the window: the account and the operator. */
export function useTitle(account?: string): void {
  const operator = useOperatorName()
  useEffect(() => {
    const parts = [account ?? t('account.account'), operator].filter((part) => part !== undefined)
    document.title = [...new Set(parts)].join(' · ')
  }, [account, operator])
}

function Head({ account: { name, status }, isStale }: { account: Standing; isStale: boolean }) {
  return (
    <Stack as="header">
      <Row>
        <h1 className="break">{name}</h1>
        {status !== 'active' && <Badge tone="bad">{statusWord(status)}</Badge>}
      </Row>
      {status !== 'active' && (
        <Notice tone="bad">{t('account.refused', { status: statusWord(status) })}</Notice>
      )}
      {isStale && <Notice tone="warn">{t('account.stale')}</Notice>}
    </Stack>
  )
}

function statusWord(status: string): string {
  return status === 'suspended' || status === 'closed' ? t(`account.statuses.${status}`) : status
}

/** How old the figures are, and reads them again. */
function Freshness() {
  const client = useQueryClient()
  const { dataUpdatedAt, isFetching } = useAccount()
  const nowMs = useNow(1_000)
  if (dataUpdatedAt === 0) return null
  return (
    <>
      <span className="soft small nowrap">
        <span className="holder-wide">{t('account.updated')} </span>
        {formatAge(Math.max(nowMs - dataUpdatedAt, 0))}
      </span>
      <IconButton
        label={t('account.readAgain')}
        aria-busy={isFetching}
        onClick={() => void client.invalidateQueries({ queryKey: ['account'] })}
      >
        <RotateCw aria-hidden />
      </IconButton>
    </>
  )
}

/** The operator's name as its settings have it, shown as text; undefined until it is known. */
function useOperatorName(): string | undefined {
  const { data, error } = useQuery(operatorQuery)
  if (data === undefined && error === null) return undefined
  return data?.name ?? t('account.account')
}

export function Brand() {
  const name = useOperatorName()
  return (
    <div className="holder-brand">
      {name !== undefined && <img src={icon} alt="" />}
      <span>{name}</span>
    </div>
  )
}

/** Leads to a mail program or a site where the setting is such an address; other text stays text. */
export function Contact() {
  const { data } = useQuery(operatorQuery)
  const contact = data?.contact ?? null
  if (contact === null) return null
  const isLink = /^(mailto:|https:\/\/)/.test(contact)
  return (
    <p className="soft break holder-contact">
      {t('account.questions')}{' '}
      {isLink ? (
        <a href={contact} rel="noreferrer">
          {contact.replace(/^(mailto:|https:\/\/)/, '')}
        </a>
      ) : (
        contact
      )}
    </p>
  )
}
