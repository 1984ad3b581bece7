/** The form of an account: for a new one, which it then leads to, and for one as it was read. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { api, bodyOf } from '../../api/client.ts'
import { languageNames, languages } from '../../messages/language.ts'
import { t } from '../../messages/t.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { choiceField, textField, usdField } from '../../ui/form-fields.tsx'
import { DraftForm, NewForm } from '../../ui/form.tsx'
import { accountQuery, type TaggedAccount } from './queries.ts'

/** Zero stands for none. */
const zero = (hint: string) => ({ hint, initial: '0' })
/** Numbers stay texts, so that the gateway names the mistake in one. */
const number = (hint: string, initial = '0') =>
  ({ hint, initial, input: { inputMode: 'numeric' } }) as const

const accountFields = {
  name: textField(t('accounts.name'), { isRequired: true, input: { autoFocus: true } }),
  external_id: textField(t('accounts.externalId'), { hint: t('accounts.externalIdHint') }),
  contact: textField(t('accounts.contact'), {
    hint: t('accounts.contactHint'),
    input: { type: 'email' },
  }),
  language: choiceField(
    t('accounts.language'),
    languages.map((each) => [each, languageNames[each]] as const),
    { hint: t('accounts.languageHint'), initial: 'en' },
  ),
  alert_below_usd: usdField(t('accounts.alertBelow'), zero(t('accounts.alertBelowHint'))),
  note: textField(t('accounts.note'), { hint: t('accounts.operatorsOnly') }),
  daily_usd: usdField(t('accounts.dailyLimit'), zero(t('accounts.perDayHint'))),
  monthly_usd: usdField(t('accounts.monthlyLimit'), zero(t('accounts.perMonthHint'))),
  credit_line_usd: usdField(t('accounts.creditLine'), zero(t('accounts.creditLineHint'))),
  price_multiplier: textField(t('accounts.multiplier'), {
    hint: t('accounts.multiplierHint'),
    initial: '1',
    input: { inputMode: 'decimal' },
  }),
  rpm: textField(t('accounts.rpm'), number(t('accounts.noLimitHint'))),
  tpm: textField(t('accounts.tpm'), number(t('accounts.noLimitHint'))),
  window_minutes: textField(t('accounts.window'), number(t('accounts.windowHint'), '1')),
}
const newFields = {
  ...accountFields,
  balance_usd: usdField(t('accounts.firstCredit'), zero(t('accounts.firstCreditHint'))),
}

const profileRows = [
  ['name', 'external_id'],
  ['contact', 'language'],
  ['alert_below_usd', 'note'],
] as const
const limitRows = [
  ['daily_usd', 'monthly_usd'],
  ['credit_line_usd', 'price_multiplier'],
  ['rpm', 'tpm', 'window_minutes'],
] as const

interface DialogProps {
  readonly isOpen: boolean
  readonly onClose: () => void
}

export function NewAccount(props: DialogProps) {
  const navigate = useNavigate()
  return (
    <Dialog title={t('accounts.new')} hint={t('accounts.newHint')} {...props}>
      <NewForm
        fields={newFields}
        action={t('accounts.create')}
        send={({ draft: { name }, changes, once }) =>
          bodyOf(
            api.POST('/admin/v1/accounts', {
              params: { header: { 'Idempotency-Key': once } },
              body: { ...changes, name },
            }),
          )
        }
        toast={({ name }) => t('accounts.createdToast', { name })}
        refresh={[['accounts']]}
        onDone={({ id }) => void navigate({ to: '/accounts/$account', params: { account: id } })}
        rows={[...profileRows, ['balance_usd']]}
        more={[t('accounts.limits'), limitRows]}
      />
    </Dialog>
  )
}

export function EditAccount({ tagged, ...props }: DialogProps & { tagged: TaggedAccount }) {
  const client = useQueryClient()
  const { id, name } = tagged.account
  return (
    <Dialog title={t('accounts.editTitle', { name })} hint={t('accounts.actsAtOnce')} {...props}>
      <DraftForm
        fields={accountFields}
        read={tagged}
        valuesOf={({ account }) => ({ ...account, ...account.limits })}
        readAgain={() => client.fetchQuery({ ...accountQuery(id), staleTime: 0 })}
        action={t('accounts.save')}
        send={({ changes, read }) =>
          bodyOf(
            api.PATCH('/admin/v1/accounts/{account}', {
              params: { path: { account: id }, header: { 'If-Match': read.tag } },
              body: changes,
            }),
          )
        }
        toast={(account) => t('accounts.changed', { name: account.name })}
        refresh={[['accounts']]}
        rows={[...profileRows, ...limitRows]}
      />
    </Dialog>
  )
}
