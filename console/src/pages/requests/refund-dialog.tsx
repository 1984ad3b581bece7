/** Gives back the charge of a request, whole or in part. A request is refunded once. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf, newIdempotencyKey } from '../../api/client.ts'
import { t } from '../../messages/t.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Form } from '../../ui/form.tsx'
import { formatUsdExact } from '../../ui/format.ts'
import { announce } from '../../ui/toast.tsx'
import type { RequestInFull } from './queries.ts'

const shares = [
  ['whole', t('requests.refundWhole')],
  ['part', t('requests.refundPart')],
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
      title={t('requests.refundTitle')}
      hint={t.rich('requests.refundHint', {
        account: () => <strong className="break">{account}</strong>,
        amount: formatUsdExact(charge),
      })}
      isOpen
      onClose={onClose}
    >
      <Form
        action={
          isAmount
            ? t('requests.refundGive', { amount: formatUsdExact(given) })
            : t('requests.refundGiveNone')
        }
        isDisabled={!isAmount}
        onSubmit={send}
        onDone={({ amount_usd: booked, account: name }) => {
          announce(t('requests.refundDone', { amount: formatUsdExact(booked), account: name }))
          for (const word of ['request', 'request-list', 'accounts', 'overview', 'reports'])
            void client.invalidateQueries({ queryKey: [word] })
          onClose()
        }}
      >
        {(errorOf) => (
          <>
            <SelectField
              label={t('requests.refundAmount')}
              value={share}
              options={shares}
              onChange={setShare}
            />
            {share === 'part' && (
              <TextField
                label={t('requests.refundUsd')}
                unit="$"
                inputMode="decimal"
                value={amount}
                onChange={setAmount}
                hint={t('requests.refundAtMost', { amount: formatUsdExact(charge) })}
                error={errorOf('amount_usd')}
              />
            )}
            <TextField
              label={t('requests.refundReason')}
              hint={t('requests.refundReasonHint')}
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
