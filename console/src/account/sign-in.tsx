/** Takes the read-only token of an account and checks it before it is kept. */
import { t } from '../messages/t.ts'
import { Problem } from '../problem.ts'
import { Notice } from '../ui/card.tsx'
import { textField } from '../ui/form-fields.tsx'
import { NewForm } from '../ui/form.tsx'
import { LanguageLinks } from '../ui/preferences.tsx'
import { Brand, Contact, useTitle } from './frame.tsx'
import { ask } from './read.ts'
import { keepToken, lastEnd, mistakeIn } from './token.ts'

const tokenField = textField(t('account.token'), {
  hint: t('account.tokenHint'),
  input: { type: 'password', placeholder: 'ro_…', autoFocus: true, spellCheck: false },
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

export function SignIn() {
  useTitle()
  return (
    <main className="sign-in">
      <div className="stack sign-in-card">
        <Brand />
        <h1>{t('account.yours')}</h1>
        {lastEnd() === 'refused' && <Notice tone="warn">{t('account.endedToken')}</Notice>}
        {lastEnd() === 'asked' && <Notice>{t('account.forgotten')}</Notice>}
        <NewForm
          fields={fields}
          action={t('account.enter')}
          isReady={({ token }) => mistakeIn(token.trim()) === undefined}
          send={({ draft }) => enter(draft.token.trim())}
          onDone={keepToken}
        />
        <Contact />
        <LanguageLinks />
      </div>
    </main>
  )
}
