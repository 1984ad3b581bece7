/** Shows the sign-in, or the account of the token that this tab has. */
import { useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { SignIn } from './sign-in.tsx'
import { Signed } from './signed.tsx'
import { useToken } from './token.ts'
import './account-page.css'

export function AccountPage() {
  const client = useQueryClient()
  const token = useToken()
  useEffect(() => {
    // Figures of one account must not stay for the next.
    if (token === null) client.removeQueries({ queryKey: ['account'] })
  }, [client, token])
  return token === null ? <SignIn /> : <Signed key={token} />
}
