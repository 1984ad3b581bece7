/** The dialog that books a credit, or takes money back; it asks before an amount that may be a mistake. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf, newIdempotencyKey, Problem } from '../../api/client.ts'
import { Notice } from '../../ui/card.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { formatUsdExact } from '../../ui/format.ts'
import { announce } from '../../ui/toast.tsx'
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
      title={`Credit ${account.name}`}
      hint={
        <>
          The balance is <Usd value={account.balance_usd} />. A negative amount takes money back.
        </>
      }
      isOpen={isOpen}
      onClose={onClose}
    >
      <CreditForm account={account} onClose={onClose} />
    </Dialog>
  )
}

function CreditForm({ account, onClose }: Omit<CreditProps, 'isOpen'>) {
  const client = useQueryClient()
  const [amount, setAmount] = useState('')
  const [reference, setReference] = useState('')
  const [note, setNote] = useState('')
  const [question, setQuestion] = useState<string>()
  const [once] = useState(newIdempotencyKey)
  const exact = amount.trim().replace('−', '-')
  const isTaking = exact.startsWith('-')
  const submit = async () => {
    if (isTaking && question === undefined) {
      setQuestion('This takes money back. Check the amount.')
      return undefined
    }
    const credit = {
      amount_usd: exact,
      reference,
      ...(note.trim() !== '' && { note }),
      confirm: question !== undefined,
    }
    return book(account.id, credit, once).catch((error: unknown) => {
      if (!isQuestion(error)) throw error
      setQuestion(error.message)
      return undefined
    })
  }
  return (
    <Form
      action={question === undefined ? 'Book' : isTaking ? 'Take it back' : 'Book it anyway'}
      // It may only ask.
      isStep
      isDisabled={exact === '' || reference.trim() === ''}
      onCancel={onClose}
      onSubmit={submit}
      onDone={(booked) => {
        if (booked === undefined) return
        announce(
          booked.repeated
            ? 'This reference is booked already. Nothing changed.'
            : `Booked ${formatUsdExact(booked.amount_usd)}. The balance is ${formatUsdExact(booked.balance_usd)}.`,
        )
        void client.invalidateQueries({ queryKey: ['accounts'] })
        void client.invalidateQueries({ queryKey: ['statements'] })
        onClose()
      }}
    >
      {(errorOf) => (
        <>
          <TextField
            label="Amount"
            unit="$"
            inputMode="decimal"
            autoFocus
            value={amount}
            error={errorOf('amount_usd')}
            onChange={(text) => {
              setAmount(text)
              setQuestion(undefined)
            }}
          />
          <TextField
            label="Reference"
            hint="Your own id of the payment, such as invoice-1042. A reference is booked once."
            value={reference}
            onChange={setReference}
            error={errorOf('reference')}
          />
          <TextField
            label="Note"
            hint="Only operators see it"
            value={note}
            onChange={setNote}
            error={errorOf('note')}
          />
          {question !== undefined && <Notice tone="warn">{question}</Notice>}
        </>
      )}
    </Form>
  )
}

interface Credit {
  readonly amount_usd: string
  readonly reference: string
  readonly note?: string
  readonly confirm: boolean
}

function book(account: string, body: Credit, once: string) {
  const params = { path: { account }, header: { 'Idempotency-Key': once } }
  return bodyOf(api.POST('/admin/v1/accounts/{account}/credits', { params, body }))
}

/** The gateway asks before an amount that is probably a mistake. */
function isQuestion(error: unknown): error is Problem {
  return error instanceof Problem && error.code === 'operations.confirmation_required'
}
