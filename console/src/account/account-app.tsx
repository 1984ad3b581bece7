/** The page of account holders: the sign-in, or the account of this tab's token or this browser's session. */
import {
  MutationCache,
  QueryCache,
  QueryClient,
  QueryClientProvider,
  useQuery,
} from '@tanstack/react-query'
import { StrictMode, useEffect } from 'react'
import { createRoot } from 'react-dom/client'
import { watchInteraction } from '../api/interaction.ts'
import { Problem } from '../problem.ts'
import { applyTheme } from '../ui/theme.ts'
import { TipLayer } from '../ui/tip.tsx'
import { ToastLayer } from '../ui/toast.tsx'
import { Account } from './frame.tsx'
import { operatorQuery } from './read.ts'
import { sessionQuery } from './session.ts'
import { proof, SignIn } from './sign-in.tsx'
import { forgetToken, readToken, useToken } from './token.ts'
import '../ui/tokens.css'
import './account-page.css'

applyTheme()
watchInteraction()

const triesMax = 3
/** Refusals that pass: too many questions at once, or the gateway is busy. */
const passing: ReadonlySet<number> = new Set([0, 429, 503])

/** A token is forgotten. A session may have ended, or its member may have another role: it is read again. */
function onError(error: unknown): void {
  if (!(error instanceof Problem) || (error.status !== 401 && error.status !== 403)) return
  if (readToken() === null) void client.invalidateQueries({ queryKey: sessionQuery.queryKey })
  else if (error.status === 401) forgetToken('refused')
}

const client = new QueryClient({
  queryCache: new QueryCache({ onError }),
  mutationCache: new MutationCache({
    onError,
    onSuccess: () => void client.invalidateQueries({ queryKey: ['account'] }),
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
  const { data: operator, isPending } = useQuery(operatorQuery)
  const hasMembers = operator !== undefined && (operator.members || operator.oidc !== null)
  const session = useQuery({
    ...sessionQuery,
    enabled: hasMembers && proof === undefined && token === null,
  })
  const who = token ?? session.data?.member_id
  useEffect(() => {
    // Figures of one account must not stay for the next.
    if (who === undefined) client.removeQueries({ queryKey: ['account'] })
  }, [who])
  if (proof !== undefined) return <SignIn />
  if (who !== undefined) return <Account key={who} />
  return isPending || (hasMembers && session.isPending) ? null : <SignIn />
}

const element = document.getElementById('root')
if (element === null) throw new Error('The page has no element with the id root.')
createRoot(element).render(
  <StrictMode>
    <QueryClientProvider client={client}>
      <AccountPage />
      <TipLayer />
      <ToastLayer />
    </QueryClientProvider>
  </StrictMode>,
)
