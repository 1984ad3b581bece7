/** The page of account holders: the sign-in, or the account of the token that this tab has. */
import { QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { StrictMode, useEffect } from 'react'
import { createRoot } from 'react-dom/client'
import { Problem } from '../problem.ts'
import { applyTheme } from '../ui/theme.ts'
import { TipLayer } from '../ui/tip.tsx'
import { Account } from './frame.tsx'
import { SignIn } from './sign-in.tsx'
import { forgetToken, useToken } from './token.ts'
import '../ui/tokens.css'
import './account-page.css'

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

function AccountPage() {
  const token = useToken()
  useEffect(() => {
    // Figures of one account must not stay for the next.
    if (token === null) client.removeQueries({ queryKey: ['account'] })
  }, [token])
  return token === null ? <SignIn /> : <Account key={token} />
}

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
