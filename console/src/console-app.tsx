/** The app of the console: starts the router, and sends a person whose session has ended to the sign-in. */
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { watchInteraction } from './api/interaction.ts'
import { Problem } from './api/client.ts'
import { sessionQuery } from './api/session.ts'
import { loadLater, watchMissingScripts } from './preload.ts'
import { buildRouter } from './router.tsx'
import { applyTheme } from './ui/theme.ts'
import './ui/tokens.css'

applyTheme()
watchInteraction()
watchMissingScripts()

const triesMax = 2

const client = new QueryClient({
  queryCache: new QueryCache({
    onError(error) {
      if (error instanceof Problem && error.status === 401) leaveForSignIn()
    },
  }),
  defaultOptions: {
    queries: {
      // A gateway on this machine answers without a network.
      networkMode: 'always',
      staleTime: 10_000,
      refetchOnWindowFocus: true,
      // Only a gateway that did not answer is asked again; a refusal stays one.
      retry: (count, error) => count < triesMax && error instanceof Problem && error.status === 0,
    },
    mutations: {
      networkMode: 'always',
      onError(error) {
        if (error instanceof Problem && error.status === 401) leaveForSignIn()
      },
    },
  },
})

const router = buildRouter(client)

function leaveForSignIn(): void {
  const { href, pathname } = router.state.location
  if (pathname.endsWith('/sign-in')) return
  client.clear()
  client.setQueryData(sessionQuery.queryKey, null)
  void router.navigate({ to: '/sign-in', search: { next: href, ended: true } })
}

const element = document.getElementById('root')
if (element === null) throw new Error('The page has no element with the id root.')
createRoot(element).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
)
loadLater()
