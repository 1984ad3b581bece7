/** Money in: a top-up code is redeemed, or an amount is paid at a page of Stripe. */
import { useQuery } from '@tanstack/react-query'
import { t } from '../messages/t.ts'
import { Card, Notice } from '../ui/card.tsx'
import { textField, usdField } from '../ui/form-fields.tsx'
import { NewForm } from '../ui/form.tsx'
import { formatUsdExact } from '../ui/format.ts'
import { Columns } from '../ui/layout.tsx'
import { Usd } from '../ui/values.tsx'
import { useAddress } from './address.tsx'
import { record, text, truth } from './answers.ts'
import { accountQuery, operatorQuery } from './read.ts'
import { call } from './session.ts'

const codeFields = {
  code: textField(t('members.code'), { isRequired: true, input: { placeholder: 'tc_…' } }),
}

const amountField = (hint: string) => usdField(t('figures.amount'), { isRequired: true, hint })

const redeemedForm = record({ amount_usd: text, balance_usd: text, repeated: truth })

export function TopUp() {
  const { paid } = useAddress()
  const { data: operator } = useQuery(operatorQuery)
  const payments = operator?.payments ?? null
  return (
    <>
      {paid !== undefined && <Paid />}
      <Columns>
        <Card title={t('members.redeem')} hint={t('members.redeemHint')}>
          <NewForm
            fields={codeFields}
            action={t('members.redeem')}
            send={({ draft }) => call('POST /codes', redeemedForm, draft)}
            toast={({ amount_usd: amount, balance_usd: balance, repeated }) =>
              t(repeated ? 'members.redeemedBefore' : 'members.redeemed', {
                amount: formatUsdExact(amount),
                balance: formatUsdExact(balance),
              })
            }
          />
        </Card>
        {payments !== null && (
          <Card title={t('members.pay')} hint={t('members.payHint')}>
            <NewForm
              fields={{ amount_usd: amountField(t('members.amountHint', payments)) }}
              action={t('members.goToPay')}
              send={async ({ draft }) => {
                const { url } = await call('POST /checkout', record({ url: text }), draft)
                location.assign(url)
              }}
            />
          </Card>
        )}
      </Columns>
    </>
  )
}

const lookMs = 3_000

/** Stripe tells the gateway, often a moment after the person is back. */
function Paid() {
  const { data } = useQuery({ ...accountQuery, refetchInterval: lookMs })
  return (
    <Notice>
      {t.rich('members.waiting', { balance: () => <Usd value={data?.balance ?? null} /> })}
    </Notice>
  )
}
