/** The frame around all pages of the console: navigation, age of the data, the person's menu. */
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { Link, Outlet } from '@tanstack/react-router'
import { Keyboard, LogOut, Menu as MenuIcon, ShieldOff, UserRound, X } from 'lucide-react'
import { Suspense, useEffect, useState } from 'react'
import { connectLive, useLive } from '../api/live.ts'
import { sessionQuery, signOut } from '../api/session.ts'
import { t } from '../messages/t.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { formatAge } from '../ui/format.ts'
import { languageItems, useThemeItems } from '../ui/preferences.tsx'
import { Menu } from '../ui/menu.tsx'
import { Loading } from '../ui/states.tsx'
import { useNow } from '../ui/values.tsx'
import { PaletteButton, ShortcutLayer } from './palette/shortcut-layer.tsx'
import { openLayer } from './palette/shortcuts.ts'
import { sections } from './sections.ts'
import icon from '../icon.svg'
import './shell.css'

export function Shell() {
  const client = useQueryClient()
  const [isOpen, setIsOpen] = useState(false)
  useEffect(() => connectLive(client), [client])
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {t('shell.skip')}
      </a>
      <header className="topbar">
        <IconButton
          label={t(isOpen ? 'shell.closeNavigation' : 'shell.openNavigation')}
          aria-expanded={isOpen}
          aria-controls="navigation"
          onClick={() => setIsOpen(!isOpen)}
        >
          {isOpen ? <X aria-hidden /> : <MenuIcon aria-hidden />}
        </IconButton>
        <Brand />
        <PaletteButton look="icon" />
      </header>
      <aside
        id="navigation"
        aria-label={t('shell.navigation')}
        className={isOpen ? 'sidebar sidebar-open' : 'sidebar'}
      >
        <Brand />
        <PaletteButton look="wide" />
        <Navigation onChoose={() => setIsOpen(false)} />
        <footer className="stack tight sidebar-foot">
          <LiveBadge />
          <PersonMenu />
        </footer>
      </aside>
      <ShortcutLayer />
      <main id="content" className="content" tabIndex={-1}>
        <LostNotice />
        <Suspense fallback={<Loading rows={8} />}>
          <Outlet />
        </Suspense>
      </main>
    </div>
  )
}

function Brand() {
  return (
    <Link to="/" className="brand">
      <img src={icon} alt="" width={26} height={26} />
      Turnpike
    </Link>
  )
}

function Navigation({ onChoose }: { onChoose: () => void }) {
  return (
    <nav aria-label={t('shell.console')}>
      <ul className="navigation">
        {sections.map(({ to, name, Icon }) => (
          <li key={to}>
            <Link
              to={to}
              className="navigation-link"
              onClick={onChoose}
              activeOptions={{ exact: to === '/', includeSearch: false }}
            >
              <Icon aria-hidden />
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}

/** Whether the page follows the gateway, and how old what it shows may be. */
function LiveBadge() {
  const { state, seenAtMs } = useLive()
  const nowMs = useNow(1_000)
  const age = formatAge(nowMs - seenAtMs)
  return (
    <p className={`row soft small live live-${state}`}>
      <span className="live-dot" />
      {t(`shell.live.${state}`, { age })}
    </p>
  )
}

/** Above every page while the gateway does not answer. */
function LostNotice() {
  const { state, seenAtMs } = useLive()
  const nowMs = useNow(state === 'lost' ? 1_000 : null)
  if (state !== 'lost') return null
  return (
    <div className="notice lost" data-tone="bad">
      <p role="alert">{t('shell.live.noAnswer')}</p>
      <p className="soft">{t('shell.live.reconnects', { age: formatAge(nowMs - seenAtMs) })}</p>
    </div>
  )
}

function PersonMenu() {
  const { data: session } = useSuspenseQuery(sessionQuery)
  const themes = useThemeItems()
  if (session === null) return null
  return (
    <Menu
      label={t('shell.session')}
      trigger={
        <Button look="quiet">
          <UserRound aria-hidden />
          <span className="clip person-name">{session.token_name}</span>
        </Button>
      }
      head={
        <>
          <strong className="break">{session.token_name}</strong>
          <div className="soft">{t(`shell.roles.${session.role}`)}</div>
        </>
      }
      items={[
        ...themes,
        ...languageItems(),
        { Icon: Keyboard, text: t('shell.shortcuts'), onSelect: () => openLayer('help') },
        { Icon: LogOut, text: t('shell.signOut'), onSelect: () => void signOut('here') },
        {
          Icon: ShieldOff,
          text: t('shell.signOutEverywhere'),
          onSelect: () => void signOut('everywhere'),
        },
      ]}
    />
  )
}
