/** Takes a read-only token. A wrong kind of secret is refused here and not sent. */
import { useEffect, useState } from 'react'
import { Problem } from '../problem.ts'
import { Notice } from '../ui/card.tsx'
import { TextField } from '../ui/field.tsx'
import { Form } from '../ui/form.tsx'
import { LanguageLinks } from '../ui/preferences.tsx'
import { ask } from './client.ts'
import { Brand, Contact, useOperatorName } from './operator.tsx'
import { keepToken, lastEnd, mistakeIn } from './token.ts'

export function SignIn() {
  const operator = useOperatorName()
  const [text, setText] = useState('')
  const token = text.trim()
  const mistake = token.length < 3 ? undefined : mistakeIn(token)
  useEffect(() => {
    document.title =
      operator === undefined || operator === 'Account' ? 'Account' : `Account · ${operator}`
  }, [operator])
  const enter = async (): Promise<void> => {
    try {
      await ask('/account', {}, { token })
    } catch (error) {
      throw explain(error)
    }
  }
  return (
    <main className="holder-sign-in">
      <div className="holder-sign-in-card">
        <Brand />
        <h1>Your account</h1>
        {lastEnd() === 'refused' && (
          <Notice tone="warn">
            Your token is no longer accepted: it was revoked or has expired. Ask for a new one.
          </Notice>
        )}
        {lastEnd() === 'asked' && <Notice>This tab has forgotten your token.</Notice>}
        <Form
          action="Show my account"
          isDisabled={token === '' || mistakeIn(token) !== undefined}
          onSubmit={enter}
          onDone={() => keepToken(token)}
        >
          {() => (
            <TextField
              label="Read-only token"
              type="password"
              placeholder="ro_…"
              autoFocus
              spellCheck={false}
              value={text}
              onChange={setText}
              error={mistake}
              hint="It reads figures only. This tab forgets it when you close it."
            />
          )}
        </Form>
        <Contact />
        <LanguageLinks />
      </div>
    </main>
  )
}

function explain(error: unknown): unknown {
  if (!(error instanceof Problem) || error.status !== 401) return error
  const detail = 'This token is not valid: it is mistyped, revoked or expired. Ask for a new one.'
  return new Problem(401, { detail })
}
