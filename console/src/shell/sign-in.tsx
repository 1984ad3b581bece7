/** Signs in by an admin token, a provider, or the code in the link that `turnpike console` prints. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { sessionQuery, signIn } from '../api/session.ts'
import { t } from '../messages/t.ts'
import { Notice } from '../ui/card.tsx'
import { textField } from '../ui/form-fields.tsx'
import { NewForm } from '../ui/form.tsx'
import { Problem } from '../problem.ts'
import { Prose } from '../ui/prose.tsx'
import { takeProof } from '../ui/proof.ts'
import { describeFailure, Loading } from '../ui/states.tsx'
import { LanguageLinks } from '../ui/preferences.tsx'
import { OtherWays } from './other-ways.tsx'
import icon from '../icon.svg'

const proof = location.pathname.endsWith('/sign-in') ? takeProof(location.hash !== '') : undefined

let linkSignIn: Promise<void> | undefined

export function SignIn() {
  const client = useQueryClient()
  const navigate = useNavigate()
  const { next, ended } = useSearch({ from: '/sign-in' })
  const [linkError, setLinkError] = useState<unknown>()
  const [isWaiting, setIsWaiting] = useState(proof !== undefined && window.isSecureContext)
  const enter = async (): Promise<void> => {
    await client.fetchQuery({ ...sessionQuery, staleTime: 0 })
    await navigate({ to: next ?? '/', replace: true })
  }
  useEffect(() => {
    if (proof === undefined || !window.isSecureContext) return
    // It works once; the page may be drawn twice.
    linkSignIn ??= signIn(proof)
    linkSignIn.then(enter, (error: unknown) => {
      setLinkError(error)
      setIsWaiting(false)
    })
    // oxlint-disable-next-line react-hooks/exhaustive-deps
  }, [])
  return (
    <main className="sign-in">
      <div className="stack sign-in-card">
        <img src={icon} alt="" width={40} height={40} />
        <h1>{t('shell.signIn.title')}</h1>
        {isWaiting ? (
          <Loading rows={2} />
        ) : (
          <>
            {ended && <Notice>{t('shell.signIn.ended')}</Notice>}
            {linkError !== undefined && (
              <Notice tone="warn">
                {describeFailure(linkError).title} <Prose text={t('shell.signIn.newLink')} />
              </Notice>
            )}
            {window.isSecureContext && <TokenForm onDone={() => void enter()} />}
            <OtherWays />
          </>
        )}
        <LanguageLinks />
      </div>
    </main>
  )
}

const fields = {
  token: textField(t('shell.signIn.token'), {
    isRequired: true,
    input: {
      type: 'password',
      placeholder: 'ad_…',
      autoFocus: true,
      spellCheck: false,
      autoComplete: 'current-password',
    },
  }),
}

function TokenForm({ onDone }: { onDone: () => void }) {
  return (
    <>
      <NewForm
        fields={fields}
        action={t('shell.signIn.action')}
        send={({ draft }) => signInByToken(draft.token.trim())}
        onDone={onDone}
      />
      <p className="soft">
        <Prose text={t('shell.signIn.hint')} />
      </p>
    </>
  )
}

/** The API's own words for a refused credential are for programs. */
async function signInByToken(token: string): Promise<void> {
  try {
    await signIn({ token })
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 401) throw error
    throw new Problem(401, { detail: t('shell.signIn.invalid') })
  }
}
