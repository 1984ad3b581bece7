/**
 * The pages of the console by their addresses. A page's state is in its address and is read by the page's
 * `address.ts`. All pages load at once: one that stays open works after the gateway behind it was replaced.
 * Only the editor of the catalogue file and the forms of its entries load when they are opened.
 */
import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  defaultStringifySearch,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { sessionQuery } from './api/session.ts'
import * as accounts from './pages/accounts/address.ts'
import { Accounts } from './pages/accounts/accounts.tsx'
import { AccountPage } from './pages/accounts/account.tsx'
import * as alerts from './pages/alerts/address.ts'
import { Alerts } from './pages/alerts/alerts.tsx'
import * as audit from './pages/audit/address.ts'
import { Audit } from './pages/audit/audit.tsx'
import * as channels from './pages/channels/address.ts'
import { Channels } from './pages/channels/channels.tsx'
import { ChannelPage } from './pages/channels/channel.tsx'
import * as keys from './pages/keys/address.ts'
import { Keys } from './pages/keys/keys.tsx'
import * as models from './pages/models/address.ts'
import { Models } from './pages/models/models.tsx'
import * as overview from './pages/overview/address.ts'
import { Overview } from './pages/overview/overview.tsx'
import * as reconciliation from './pages/reconciliation/address.ts'
import { Reconciliation } from './pages/reconciliation/reconciliation.tsx'
import * as reports from './pages/reports/address.ts'
import { Reports } from './pages/reports/reports.tsx'
import * as requests from './pages/requests/address.ts'
import { Requests } from './pages/requests/requests.tsx'
import { RequestPage } from './pages/requests/request.tsx'
import * as settings from './pages/settings/address.ts'
import { Settings } from './pages/settings/settings.tsx'
import { textIn, withoutOthers } from './search.ts'
import { withoutSecrets } from './secret.ts'
import { NotFound, PageFailure } from './shell/failures.tsx'
import { leaveGuardOf } from './shell/leave-guard.tsx'
import { Shell } from './shell/shell.tsx'
import { SignIn } from './shell/sign-in.tsx'
import { ToastLayer } from './ui/toast.tsx'
import { TipLayer } from './ui/tip.tsx'
import { LeaveGuardContext } from './ui/typed.ts'

interface RouterContext {
  readonly client: QueryClient
}

const root = createRootRouteWithContext<RouterContext>()({
  component: () => (
    <LeaveGuardContext value={leaveGuardOf}>
      <Outlet />
      <TipLayer />
      <ToastLayer />
    </LeaveGuardContext>
  ),
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search): { next?: string; ended?: true } => ({
    ...(textIn(search, 'next') !== undefined && { next: String(search['next']) }),
    ...(search['ended'] === true && { ended: true }),
  }),
  component: SignIn,
})

const shell = createRoute({
  getParentRoute: () => root,
  id: 'shell',
  async beforeLoad({ context, location }) {
    const session = await context.client.ensureQueryData(sessionQuery)
    if (session !== null) return
    const search = location.href === '/' ? {} : { next: location.href }
    throw redirect({ to: '/sign-in', search })
  },
  component: Shell,
})

const inShell = { getParentRoute: () => shell } as const

const pages = [
  createRoute({
    ...inShell,
    path: '/',
    validateSearch: withoutOthers(overview.readSearch),
    component: Overview,
  }),
  createRoute({
    ...inShell,
    path: '/accounts',
    validateSearch: withoutOthers(accounts.readListSearch),
    component: Accounts,
  }),
  createRoute({
    ...inShell,
    path: '/accounts/$account',
    validateSearch: withoutOthers(accounts.readAccountSearch),
    component: AccountPage,
  }),
  createRoute({
    ...inShell,
    path: '/requests',
    validateSearch: withoutOthers(requests.readListSearch),
    component: Requests,
  }),
  createRoute({
    ...inShell,
    path: '/requests/$request',
    component: RequestPage,
  }),
  createRoute({
    ...inShell,
    path: '/keys',
    validateSearch: withoutOthers(keys.readSearch),
    component: Keys,
  }),
  createRoute({
    ...inShell,
    path: '/channels',
    validateSearch: withoutOthers(channels.readBoardSearch),
    component: Channels,
  }),
  createRoute({
    ...inShell,
    path: '/channels/$channel',
    validateSearch: withoutOthers(channels.readChannelSearch),
    component: ChannelPage,
  }),
  createRoute({
    ...inShell,
    path: '/models',
    validateSearch: withoutOthers(models.readSearch),
    component: Models,
  }),
  createRoute({
    ...inShell,
    path: '/reports',
    validateSearch: withoutOthers(reports.readSearch),
    component: Reports,
  }),
  createRoute({
    ...inShell,
    path: '/reconciliation',
    validateSearch: withoutOthers(reconciliation.readSearch),
    component: Reconciliation,
  }),
  createRoute({
    ...inShell,
    path: '/alerts',
    validateSearch: withoutOthers(alerts.readSearch),
    component: Alerts,
  }),
  createRoute({
    ...inShell,
    path: '/audit',
    validateSearch: withoutOthers(audit.readSearch),
    component: Audit,
  }),
  createRoute({
    ...inShell,
    path: '/settings',
    validateSearch: withoutOthers(settings.readSearch),
    component: Settings,
  }),
  createRoute({
    ...inShell,
    path: '$',
    component: NotFound,
  }),
] as const

const tree = root.addChildren([signIn, shell.addChildren(pages)])

export function buildRouter(client: QueryClient) {
  return createRouter({
    routeTree: tree,
    basepath: '/console',
    // Whatever a person pastes into a filter: an address is kept and logged in many places.
    stringifySearch: (search) => withoutSecrets(defaultStringifySearch(search)),
    context: { client },
    defaultErrorComponent: PageFailure,
    defaultNotFoundComponent: NotFound,
    scrollRestoration: true,
  })
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof buildRouter>
  }
}
