/** The dialog that books a credit, or takes money back; it asks before an amount that may be a mistake. */
import { useState } from 'react'
import { api, bodyOf, Problem } from '../../api/client.ts'
import { t } from '../../messages/t.ts'
import { Notice } from '../../ui/card.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import type { DraftOf } from '../../ui/draft.ts'
import { textField, usdField } from '../../ui/form-fields.tsx'
import { NewForm } from '../../ui/form.tsx'
import { formatUsdExact } from '../../ui/format.ts'
import { Usd } from '../../ui/values.tsx'
import type { Account } from './queries.ts'

interface CreditProps {
  readonly account: Account
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function CreditDialog({ account, isOpen, onClose }: CreditProps) {
  return (
    <Dialog
      title={t('accounts.creditTitle', { name: account.name })}
      hint={t.rich('accounts.creditHint', { balance: () => <Usd value={account.balance_usd} /> })}
      isOpen={isOpen}
      onClose={onClose}
    >
      <CreditForm account={account} onClose={onClose} />
    </Dialog>
  )
}

const creditFields = {
  amount_usd: usdField(t('accounts.amount'), { isRequired: true, input: { autoFocus: true } }),
  reference: textField(t('accounts.reference'), {
    isRequired: true,
    hint: t('accounts.referenceHint'),
  }),
  note: textField(t('accounts.note'), { hint: t('accounts.operatorsOnly') }),
}

/** What was asked about an amount; another amount is another question. */
interface Question {
  readonly amount: string
  readonly text: string
}

function CreditForm({ account, onClose }: Omit<CreditProps, 'isOpen'>) {
  const [question, setQuestion] = useState<Question>()
  const isAsked = (amount: string): boolean => question?.amount === amount
  return (
    <NewForm
      fields={creditFields}
      // It may only ask.
      isStep
      action={({ amount_usd: amount }) => {
        if (!isAsked(amount)) return t('accounts.book')
        return t(isTaking(amount) ? 'accounts.takeBack' : 'accounts.bookAnyway')
      }}
      send={async ({ draft, once }) => {
        const { amount_usd: amount } = draft
        const asked = isTaking(amount) && !isAsked(amount) ? t('accounts.takesBack') : undefined
        const answer =
          asked ?? (await book({ account: account.id, draft, once, isSure: isAsked(amount) }))
        if (typeof answer !== 'string') return answer
        setQuestion({ amount, text: answer })
        return undefined
      }}
      toast={(booked) =>
        booked &&
        (booked.repeated
          ? t('accounts.bookedBefore')
          : t('accounts.booked', {
              amount: formatUsdExact(booked.amount_usd),
              balance: formatUsdExact(booked.balance_usd),
            }))
      }
      refresh={[['accounts'], ['statements']]}
      onDone={(booked) => booked && onClose()}
    >
      {({ draft, field }) => (
        <>
          {field('amount_usd')}
          {field('reference')}
          {field('note')}
          {isAsked(draft.amount_usd) && <Notice tone="warn">{question?.text}</Notice>}
        </>
      )}
    </NewForm>
  )
}

interface Booking {
  readonly account: string
  readonly draft: DraftOf<typeof creditFields>
  readonly once: string
  readonly isSure: boolean
}

/** Returns a question in place of an answer where the amount is probably a mistake. */
async function book({ account, draft, once, isSure }: Booking) {
  const { reference, note } = draft
  const body = {
    amount_usd: creditFields.amount_usd.send(draft.amount_usd),
    reference,
    ...(note.trim() !== '' && { note }),
    confirm: isSure,
  }
  const params = { path: { account }, header: { 'Idempotency-Key': once } }
  try {
    return await bodyOf(api.POST('/admin/v1/accounts/{account}/credits', { params, body }))
  } catch (error) {
    if (error instanceof Problem && error.code === 'operations.confirmation_required')
      return error.message
    throw error
  }
}

function isTaking(amount: string): boolean {
  return /^\s*[-−]/.test(amount)
}
