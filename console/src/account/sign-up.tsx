/** Making an account: the form that asks for a link by mail, and the page of that link. */
import { useState } from 'react'
import { language } from '../messages/language.ts'
import { t } from '../messages/t.ts'
import { Notice } from '../ui/card.tsx'
import { textField } from '../ui/form-fields.tsx'
import { NewForm } from '../ui/form.tsx'
import { list, nullable, number, record, text, type ValueOf } from './answers.ts'
import { call } from './session.ts'

export const emailField = textField(t('members.email'), {
  isRequired: true,
  input: { type: 'email', autoComplete: 'email', autoFocus: true, spellCheck: false },
})

export const askedForm = record({ email: text, minutes: number })

const choicesForm = list(record({ id: text, name: text }))
export const begunForm = record({
  session: nullable(record({})),
  code: nullable(text),
  accounts: choicesForm,
})
export type Begun = ValueOf<typeof begunForm>

interface SignUpProps {
  /** Only with a code. */
  readonly isInvited: boolean
  readonly onCancel: () => void
}

export function SignUpForm({ isInvited, onCancel }: SignUpProps) {
  const [asked, setAsked] = useState<ValueOf<typeof askedForm>>()
  if (asked !== undefined) return <Notice>{t('members.signUpSent', asked)}</Notice>
  const code = textField(t('members.code'), {
    isRequired: isInvited,
    hint: t('members.inviteHint'),
    input: { placeholder: 'tc_…', spellCheck: false },
  })
  return (
    <NewForm
      fields={{ email: emailField, code }}
      action={t('members.sendLink')}
      send={({ changes }) => call('POST /sign-up', askedForm, { ...changes, language })}
      onDone={setAsked}
      onCancel={onCancel}
    />
  )
}

const nameFields = {
  name: textField(t('members.accountName'), {
    isRequired: true,
    hint: t('members.accountNameHint'),
    input: { autoFocus: true },
  }),
}

/** Only its button makes the account: programs that scan mails open links, too. */
export function NewAccount({ code, onDone }: { code: string; onDone: (begun: Begun) => void }) {
  return (
    <NewForm
      fields={nameFields}
      action={t('members.newAccount')}
      send={({ draft: { name } }) => call('POST /session', begunForm, { code, name, language })}
      onDone={onDone}
      onCancel={() => location.reload()}
    />
  )
}
