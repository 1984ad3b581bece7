/** Takes the read-only token of an account and checks it before it is kept. */
import { useState } from 'react'
import { t } from '../messages/t.ts'
import { Problem } from '../problem.ts'
import { Notice } from '../ui/card.tsx'
import { TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { LanguageLinks } from '../ui/preferences.tsx'
import { Brand, Contact, useTitle } from './frame.tsx'
import { ask } from './read.ts'
import { keepToken, lastEnd, mistakeIn } from './token.ts'

export function SignIn() {
  const [text, setText] = useState('')
  const token = text.trim()
  const mistake = mistakeIn(token)
  useTitle()
  const enter = async (): Promise<void> => {
    try {
      await ask('/account', {}, { token })
    } catch (error) {
      if (!(error instanceof Problem) || error.status !== 401) throw error
      throw new Problem(401, { detail: t('account.wrongToken') })
    }
  }
  return (
    <main className="holder-sign-in">
      <div className="holder-sign-in-card">
        <Brand />
        <h1>{t('account.yours')}</h1>
        {lastEnd() === 'refused' && <Notice tone="warn">{t('account.endedToken')}</Notice>}
        {lastEnd() === 'asked' && <Notice>{t('account.forgotten')}</Notice>}
        <Form
          action={t('account.enter')}
          isDisabled={mistake !== undefined}
          onSubmit={enter}
          onDone={() => keepToken(token)}
        >
          {() => (
            <TextField
              label={t('account.token')}
              type="password"
              placeholder="ro_…"
              autoFocus
              spellCheck={false}
              value={text}
              onChange={setText}
              error={token.length < 3 ? undefined : mistake}
              hint={t('account.tokenHint')}
            />
          )}
        </Form>
        <Contact />
        <LanguageLinks />
      </div>
    </main>
  )
}
