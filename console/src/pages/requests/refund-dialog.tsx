/** Gives back the charge of a request, whole or in part. A request is refunded once. */
import { api, bodyOf } from '../../api/client.ts'
import { t } from '../../messages/t.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { choiceField, textField, usdField } from '../../ui/form-fields.tsx'
import { NewForm } from '../../ui/form.tsx'
import { formatUsdExact } from '../../ui/format.ts'
import type { RequestInFull } from './queries.ts'

const shares = [
  ['whole', t('requests.refundWhole')],
  ['part', t('requests.refundPart')],
] as const

const fields = {
  share: choiceField(t('requests.refundAmount'), shares, { initial: 'whole' }),
  amount_usd: usdField(t('requests.refundUsd')),
  reason: textField(t('requests.refundReason'), { hint: t('requests.refundReasonHint') }),
}

interface RefundProps {
  readonly request: RequestInFull
  readonly onClose: () => void
}

export function RefundDialog({ request, onClose }: RefundProps) {
  const { id, account, cost_usd: charge } = request
  const isAmount = (text: string): boolean => /^\d+(\.\d+)?$/.test(text.trim())
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
      <NewForm
        fields={fields}
        action={({ share, amount_usd: part }) => {
          const amount = share === 'whole' ? charge : part.trim()
          return isAmount(amount)
            ? t('requests.refundGive', { amount: formatUsdExact(amount) })
            : t('requests.refundGiveNone')
        }}
        isReady={({ share, amount_usd: part }) => share === 'whole' || isAmount(part)}
        send={({ draft: { share, amount_usd: part, reason }, once }) =>
          bodyOf(
            api.POST('/admin/v1/requests/{request}/refund', {
              params: { path: { request: id }, header: { 'Idempotency-Key': once } },
              body: {
                ...(share === 'part' && { amount_usd: part.trim() }),
                ...(reason.trim() !== '' && { reason: reason.trim() }),
              },
            }),
          )
        }
        toast={({ amount_usd: booked, account: name }) =>
          t('requests.refundDone', { amount: formatUsdExact(booked), account: name })
        }
        refresh={[['request'], ['request-list'], ['accounts'], ['overview'], ['reports']]}
      >
        {({ draft, field }) => (
          <>
            {field('share')}
            {draft.share === 'part' &&
              field('amount_usd', t('requests.refundAtMost', { amount: formatUsdExact(charge) }))}
            {field('reason')}
          </>
        )}
      </NewForm>
    </Dialog>
  )
}
