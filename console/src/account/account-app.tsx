/** The page of account holders: their figures, read with the token that they paste. */
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Problem } from '../problem.ts'
import { applyTheme } from '../ui/theme.ts'
import { TipLayer } from '../ui/tip.tsx'
import { AccountPage } from './account-page.tsx'
import { forgetToken } from './token.ts'
import '../ui/tokens.css'

applyTheme()

const triesMax = 3
/** Refusals that pass: too many questions at once, or the gateway is busy. */
const passing: ReadonlySet<number> = new Set([0, 429, 503])

const client = new QueryClient({
  queryCache: new QueryCache({
    onError(error) {
      if (error instanceof Problem && error.status === 401) forgetToken('refused')
    },
  }),
  defaultOptions: {
    queries: {
      staleTime: 10_000,
      retry: (count, error) =>
        count < triesMax && error instanceof Problem && passing.has(error.status),
    },
  },
})

const element = document.getElementById('root')
if (element === null) throw new Error('The page has no element with the id root.')
createRoot(element).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <AccountPage />
      <TipLayer />
    </QueryClientProvider>
  </StrictMode>,
)
