/** Who may use the admin side: admin tokens, and the sessions of this one. */
import { AdminTokens } from './admin-tokens.tsx'
import { Sessions } from './sessions.tsx'

export function Access() {
  return (
    <>
      <AdminTokens />
      <Sessions />
    </>
  )
}
