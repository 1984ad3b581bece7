/** The form of an account: for a new one, which it then leads to, and for one as it was read. */
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, bodyOf } from '../../api/client.ts'
import { languageNames, languages } from '../../messages/language.ts'
import { t } from '../../messages/t.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { choiceField, textField, usdField } from '../../ui/form-fields.tsx'
import { DraftForm, More, NewForm } from '../../ui/form.tsx'
import { Pair } from '../../ui/layout.tsx'
import { accountQuery, type TaggedAccount } from './queries.ts'

const number = { inputMode: 'numeric' } as const

const profileFields = {
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
  alert_below_usd: usdField(t('accounts.alertBelow'), {
    hint: t('accounts.alertBelowHint'),
    initial: '0',
  }),
  note: textField(t('accounts.note'), { hint: t('accounts.operatorsOnly') }),
}

/** Numbers stay texts, so that the gateway names the mistake in one. */
const limitFields = {
  daily_usd: usdField(t('accounts.dailyLimit'), { hint: t('accounts.perDayHint'), initial: '0' }),
  monthly_usd: usdField(t('accounts.monthlyLimit'), {
    hint: t('accounts.perMonthHint'),
    initial: '0',
  }),
  credit_line_usd: usdField(t('accounts.creditLine'), {
    hint: t('accounts.creditLineHint'),
    initial: '0',
  }),
  price_multiplier: textField(t('accounts.multiplier'), {
    hint: t('accounts.multiplierHint'),
    initial: '1',
    input: { inputMode: 'decimal' },
  }),
  rpm: textField(t('accounts.rpm'), {
    hint: t('accounts.noLimitHint'),
    initial: '0',
    input: number,
  }),
  tpm: textField(t('accounts.tpm'), {
    hint: t('accounts.noLimitHint'),
    initial: '0',
    input: number,
  }),
  window_minutes: textField(t('accounts.window'), {
    hint: t('accounts.windowHint'),
    initial: '1',
    input: number,
  }),
}

const accountFields = { ...profileFields, ...limitFields }
const newFields = {
  ...accountFields,
  balance_usd: usdField(t('accounts.firstCredit'), {
    hint: t('accounts.firstCreditHint'),
    initial: '0',
  }),
}

type FieldOf = (name: keyof typeof accountFields) => ReactNode

function profile(field: FieldOf): ReactNode {
  return (
    <>
      <Pair>
        {field('name')}
        {field('external_id')}
      </Pair>
      <Pair>
        {field('contact')}
        {field('language')}
      </Pair>
      <Pair>
        {field('alert_below_usd')}
        {field('note')}
      </Pair>
    </>
  )
}

function limits(field: FieldOf): ReactNode {
  return (
    <>
      <Pair>
        {field('daily_usd')}
        {field('monthly_usd')}
      </Pair>
      <Pair>
        {field('credit_line_usd')}
        {field('price_multiplier')}
      </Pair>
      <Pair>
        {field('rpm')}
        {field('tpm')}
        {field('window_minutes')}
      </Pair>
    </>
  )
}

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
      >
        {({ field }) => (
          <>
            {profile(field)}
            {field('balance_usd')}
            <More title={t('accounts.limits')}>{limits(field)}</More>
          </>
        )}
      </NewForm>
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
      >
        {({ field }) => (
          <>
            {profile(field)}
            {limits(field)}
          </>
        )}
      </DraftForm>
    </Dialog>
  )
}
