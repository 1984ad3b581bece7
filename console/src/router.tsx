/**
 * The pages of the console by their addresses. A page's state is in its address and is read by the page's
 * `address.ts`; the page itself is loaded when it is opened.
 */
import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { sessionQuery } from './api/session.ts'
import * as accounts from './pages/accounts/address.ts'
import * as alerts from './pages/alerts/address.ts'
import * as audit from './pages/audit/address.ts'
import * as channels from './pages/channels/address.ts'
import * as models from './pages/models/address.ts'
import * as overview from './pages/overview/address.ts'
import * as reconciliation from './pages/reconciliation/address.ts'
import * as reports from './pages/reports/address.ts'
import * as requests from './pages/requests/address.ts'
import * as settings from './pages/settings/address.ts'
import { textIn, withoutOthers } from './search.ts'
import { NotFound, PageFailure } from './shell/failures.tsx'
import { Shell } from './shell/shell.tsx'
import { ToastLayer } from './ui/toast.tsx'
import { TipLayer } from './ui/tip.tsx'

interface RouterContext {
  readonly client: QueryClient
}

const root = createRootRouteWithContext<RouterContext>()({
  component: () => (
    <>
      <Outlet />
      <TipLayer />
      <ToastLayer />
    </>
  ),
})

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: (search): { next?: string; ended?: true } => ({
    ...(textIn(search, 'next') !== undefined && { next: String(search['next']) }),
    ...(search['ended'] === true && { ended: true }),
  }),
  component: lazyRouteComponent(() => import('./shell/sign-in.tsx'), 'SignIn'),
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
  notFoundComponent: NotFound,
})

const inShell = { getParentRoute: () => shell } as const

const pages = [
  createRoute({
    ...inShell,
    path: '/',
    validateSearch: withoutOthers(overview.readSearch),
    component: lazyRouteComponent(() => import('./pages/overview/overview.tsx'), 'Overview'),
  }),
  createRoute({
    ...inShell,
    path: '/accounts',
    validateSearch: withoutOthers(accounts.readListSearch),
    component: lazyRouteComponent(() => import('./pages/accounts/accounts.tsx'), 'Accounts'),
  }),
  createRoute({
    ...inShell,
    path: '/accounts/$account',
    validateSearch: withoutOthers(accounts.readAccountSearch),
    component: lazyRouteComponent(() => import('./pages/accounts/account.tsx'), 'AccountPage'),
  }),
  createRoute({
    ...inShell,
    path: '/requests',
    validateSearch: withoutOthers(requests.readListSearch),
    component: lazyRouteComponent(() => import('./pages/requests/requests.tsx'), 'Requests'),
  }),
  createRoute({
    ...inShell,
    path: '/requests/$request',
    component: lazyRouteComponent(() => import('./pages/requests/request.tsx'), 'RequestPage'),
  }),
  createRoute({
    ...inShell,
    path: '/channels',
    validateSearch: withoutOthers(channels.readBoardSearch),
    component: lazyRouteComponent(() => import('./pages/channels/channels.tsx'), 'Channels'),
  }),
  createRoute({
    ...inShell,
    path: '/channels/$channel',
    validateSearch: withoutOthers(channels.readChannelSearch),
    component: lazyRouteComponent(() => import('./pages/channels/channel.tsx'), 'ChannelPage'),
  }),
  createRoute({
    ...inShell,
    path: '/models',
    validateSearch: withoutOthers(models.readSearch),
    component: lazyRouteComponent(() => import('./pages/models/models.tsx'), 'Models'),
  }),
  createRoute({
    ...inShell,
    path: '/reports',
    validateSearch: withoutOthers(reports.readSearch),
    component: lazyRouteComponent(() => import('./pages/reports/reports.tsx'), 'Reports'),
  }),
  createRoute({
    ...inShell,
    path: '/reconciliation',
    validateSearch: withoutOthers(reconciliation.readSearch),
    component: lazyRouteComponent(
      () => import('./pages/reconciliation/reconciliation.tsx'),
      'Reconciliation',
    ),
  }),
  createRoute({
    ...inShell,
    path: '/alerts',
    validateSearch: withoutOthers(alerts.readSearch),
    component: lazyRouteComponent(() => import('./pages/alerts/alerts.tsx'), 'Alerts'),
  }),
  createRoute({
    ...inShell,
    path: '/audit',
    validateSearch: withoutOthers(audit.readSearch),
    component: lazyRouteComponent(() => import('./pages/audit/audit.tsx'), 'Audit'),
  }),
  createRoute({
    ...inShell,
    path: '/settings',
    validateSearch: withoutOthers(settings.readSearch),
    component: lazyRouteComponent(() => import('./pages/settings/settings.tsx'), 'Settings'),
  }),
] as const

const tree = root.addChildren([signIn, shell.addChildren(pages)])

export function buildRouter(client: QueryClient) {
  return createRouter({
    routeTree: tree,
    basepath: '/console',
    context: { client },
    defaultPreload: 'intent',
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
