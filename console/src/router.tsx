/**
 * The pages of the console by their addresses. A page's state is in its address and is read by the page's
 * `address.ts`. The overview is part of the first screen; all other pages load a moment later (preload.ts).
 */
import type { QueryClient } from '@tanstack/react-query'
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  defaultStringifySearch,
  lazyRouteComponent,
  Outlet,
  redirect,
  type RouteComponent,
} from '@tanstack/react-router'
import { sessionQuery } from './api/session.ts'
import { loadPages } from './later-pages.ts'
import * as accounts from './pages/accounts/address.ts'
import * as alerts from './pages/alerts/address.ts'
import * as audit from './pages/audit/address.ts'
import * as codes from './pages/codes/address.ts'
import * as channels from './pages/channels/address.ts'
import type * as laterPages from './pages/later.ts'
import * as keys from './pages/keys/address.ts'
import * as models from './pages/models/address.ts'
import * as overview from './pages/overview/address.ts'
import { Overview } from './pages/overview/overview.tsx'
import * as reconciliation from './pages/reconciliation/address.ts'
import * as reports from './pages/reports/address.ts'
import * as requests from './pages/requests/address.ts'
import * as settings from './pages/settings/address.ts'
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

/** Returns the route of a page; its search is what `read` makes of an address. */
function pageAt<const Path extends string, Search extends object>(
  path: Path,
  read: (search: Record<string, unknown>) => Search,
  component: RouteComponent,
) {
  return createRoute({
    getParentRoute: () => shell,
    path,
    validateSearch: withoutOthers(read),
    component,
  })
}

function later(name: keyof typeof laterPages): RouteComponent {
  return lazyRouteComponent(loadPages, name)
}

const pages = [
  pageAt('/', overview.readSearch, Overview),
  pageAt('/accounts', accounts.readListSearch, later('Accounts')),
  pageAt('/accounts/$account', accounts.readAccountSearch, later('AccountPage')),
  pageAt('/requests', requests.readListSearch, later('Requests')),
  pageAt('/requests/$request', () => ({}), later('RequestPage')),
  pageAt('/codes', codes.readSearch, later('Codes')),
  pageAt('/keys', keys.readSearch, later('Keys')),
  pageAt('/channels', channels.readBoardSearch, later('Channels')),
  pageAt('/channels/$channel', channels.readChannelSearch, later('ChannelPage')),
  pageAt('/models', models.readSearch, later('Models')),
  pageAt('/reports', reports.readSearch, later('Reports')),
  pageAt('/reconciliation', reconciliation.readSearch, later('Reconciliation')),
  pageAt('/alerts', alerts.readSearch, later('Alerts')),
  pageAt('/audit', audit.readSearch, later('Audit')),
  pageAt('/settings', settings.readSearch, later('Settings')),
  pageAt('$', () => ({}), NotFound),
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
