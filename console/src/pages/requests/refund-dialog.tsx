/** Gives back the charge of a request, whole or in part. A request is refunded once. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf, newIdempotencyKey } from '../../api/client.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { formatUsdExact } from '../../ui/format.ts'
import { announce } from '../../ui/toast.tsx'
import type { RequestInFull } from './queries.ts'

const shares = [
  ['whole', 'The whole charge'],
  ['part', 'A part of it'],
] as const

interface RefundProps {
  readonly request: RequestInFull
  readonly onClose: () => void
}

export function RefundDialog({ request, onClose }: RefundProps) {
  const { id, account, cost_usd: charge } = request
  const client = useQueryClient()
  const [repeatKey] = useState(newIdempotencyKey)
  const [share, setShare] = useState<'whole' | 'part'>('whole')
  const [amount, setAmount] = useState('')
  const [reason, setReason] = useState('')
  const given = share === 'whole' ? charge : amount.trim()
  const isAmount = /^\d+(\.\d+)?$/.test(given)
  const send = () =>
    bodyOf(
      api.POST('/admin/v1/requests/{request}/refund', {
        params: { path: { request: id }, header: { 'Idempotency-Key': repeatKey } },
        body: {
          ...(share === 'part' && { amount_usd: given }),
          ...(reason.trim() !== '' && { reason: reason.trim() }),
        },
      }),
    )
  return (
    <Dialog
      title="Refund this request"
      hint={
        <>
          The account <strong className="break">{account}</strong> paid {formatUsdExact(charge)}.
          The refund goes to its balance. A request is refunded once, and a refund cannot be undone.
        </>
      }
      isOpen
      onClose={onClose}
    >
      <Form
        action={isAmount ? `Give back ${formatUsdExact(given)}` : 'Give back'}
        isDisabled={!isAmount}
        onSubmit={send}
        onDone={({ amount_usd: booked, account: name }) => {
          announce(`${formatUsdExact(booked)} went back to ${name}.`)
          for (const word of ['request', 'request-list', 'accounts', 'overview', 'reports'])
            void client.invalidateQueries({ queryKey: [word] })
          onClose()
        }}
      >
        {(errorOf) => (
          <>
            <SelectField label="Amount" value={share} options={shares} onChange={setShare} />
            {share === 'part' && (
              <TextField
                label="Amount in USD"
                unit="$"
                inputMode="decimal"
                value={amount}
                onChange={setAmount}
                hint={`At most ${formatUsdExact(charge)}`}
                error={errorOf('amount_usd')}
              />
            )}
            <TextField
              label="Reason"
              hint="For operators: it stands in the log of actions and in your statement of the account."
              value={reason}
              onChange={setReason}
              error={errorOf('reason')}
            />
          </>
        )}
      </Form>
    </Dialog>
  )
}
