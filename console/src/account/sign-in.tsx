/** The ways in: a link by mail or a provider for members, and a read-only token, which is checked first. */
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState, type ReactNode } from 'react'
import { t } from '../messages/t.ts'
import { Problem } from '../problem.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/card.tsx'
import { textField } from '../ui/form-fields.tsx'
import { NewForm } from '../ui/form.tsx'
import { LanguageLinks } from '../ui/preferences.tsx'
import { takeProof, type Proof } from '../ui/proof.ts'
import { ProviderButton } from '../ui/provider.tsx'
import { Failure } from '../ui/states.tsx'
import { record, text, type ValueOf } from './answers.ts'
import { Brand, Contact, useTitle } from './frame.tsx'
import { ask, operatorQuery } from './read.ts'
import { call, lastLeft } from './session.ts'
import { askedForm, begunForm, emailField, NewAccount, SignUpForm, type Begun } from './sign-up.tsx'
import { forgetToken, keepToken, lastEnd, mistakeIn } from './token.ts'

const tokenField = textField(t('account.token'), {
  hint: t('account.tokenHint'),
  input: { type: 'password', placeholder: 'ro_…', spellCheck: false },
})

const fields = {
  token: {
    ...tokenField,
    /** The mistake is named once a beginning is there. */
    input: (bound: Parameters<typeof tokenField.input>[0]) => {
      const token = bound.value.trim()
      return tokenField.input({ ...bound, error: token.length < 3 ? undefined : mistakeIn(token) })
    },
  },
}

/** Returns the token once the gateway has taken it. */
async function enter(token: string): Promise<string> {
  try {
    await ask('/account', {}, { token })
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 401) throw error
    throw new Problem(401, { detail: t('account.wrongToken') })
  }
  return token
}

const view = new URLSearchParams(location.search).get('view')
export const proof = takeProof(view === 'sign-in' || view === 'sign-up')

/** The ways in by mail; further ones stand before the token. */
function MailForm({ children }: { children: ReactNode }) {
  const [asked, setAsked] = useState<ValueOf<typeof askedForm>>()
  return (
    <>
      {asked !== undefined && <Notice>{t('members.linkSent', asked)}</Notice>}
      <NewForm
        fields={{ email: emailField }}
        action={t('members.sendLink')}
        send={({ draft }) => call('POST /sign-in', askedForm, draft)}
        onDone={setAsked}
      />
      {children}
      <p className="soft">{t('members.orToken')}</p>
    </>
  )
}

/** Returns true where a session has begun; else the member has to choose an account. */
function begin({ session }: Begun): boolean {
  if (session === null) return false
  forgetToken('asked')
  location.reload()
  return true
}

let hasAnswered = false

/** A link waits for a button: programs that scan mails open links, too. A provider's answer does not. */
function ProofPage({ given }: { given: Proof }) {
  const { mutate, error, isPending, data } = useMutation({
    mutationFn: (body: object) => call('POST /session', begunForm, body),
    onSuccess: begin,
  })
  useEffect(() => {
    // It works once; the page may be drawn twice.
    if (hasAnswered || !('oidc' in given)) return
    hasAnswered = true
    mutate(given)
  }, [given, mutate])
  const choices =
    data?.accounts ?? ('oidc' in given ? [] : [{ id: undefined, name: t('members.signIn') }])
  return (
    <>
      {error !== null && <Failure error={error} onRetry={() => location.reload()} />}
      {choices.length > 1 && <p>{t('members.chooseAccount')}</p>}
      {choices.map(({ id, name }) => (
        <Button
          key={name}
          look="primary"
          isBusy={isPending}
          onClick={() => mutate({ ...(data?.code ? { code: data.code } : given), account: id })}
        >
          {name}
        </Button>
      ))}
    </>
  )
}

export function SignIn() {
  useTitle()
  const [isNew, setNew] = useState(view === 'sign-up')
  return (
    <main className="sign-in">
      <div className="stack sign-in-card">
        <Brand />
        <h1>{t('account.yours')}</h1>
        {proof === undefined ? (
          <Ways />
        ) : isNew && 'code' in proof ? (
          <NewAccount code={proof.code} onDone={(begun) => setNew(begin(begun))} />
        ) : (
          <ProofPage given={proof} />
        )}
        <Contact />
      </div>
    </main>
  )
}

function Ways() {
  const { data: operator } = useQuery(operatorQuery)
  const [isNew, setNew] = useState(false)
  const signUp = operator?.sign_up ?? null
  if (isNew) return <SignUpForm isInvited={signUp === 'invite'} onCancel={() => setNew(false)} />
  return (
    <>
      <WhyHere />
      {operator && operator.oidc !== null && (
        <ProviderButton
          provider={operator.oidc}
          begin={() => call('POST /oidc', record({ url: text }))}
        />
      )}
      {operator?.members === true && (
        <MailForm>
          {signUp !== null && (
            <Button onClick={() => setNew(true)}>{t('members.newAccount')}</Button>
          )}
        </MailForm>
      )}
      <NewForm
        fields={fields}
        action={t('account.enter')}
        isReady={({ token }) => mistakeIn(token.trim()) === undefined}
        send={({ draft }) => enter(draft.token.trim())}
        onDone={keepToken}
      />
      <LanguageLinks />
    </>
  )
}

/** Why the account is no longer shown. */
function WhyHere() {
  const left = lastLeft()
  if (left !== undefined) return <Notice>{t(`members.left.${left}`)}</Notice>
  if (lastEnd() === 'refused') return <Notice tone="warn">{t('account.endedToken')}</Notice>
  return lastEnd() === 'asked' && <Notice>{t('account.forgotten')}</Notice>
}
