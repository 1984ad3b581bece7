/** The inputs of an account's profile and limits, for a new account and for changes of one. */
import { TextField } from '../../ui/field.tsx'
import type { Account } from './queries.ts'

/** As a person types them. Amounts stay text. */
export interface AccountDraft {
  readonly name: string
  readonly external_id: string
  readonly contact: string
  readonly note: string
  readonly alert_below_usd: string
  readonly credit_line_usd: string
  readonly daily_usd: string
  readonly monthly_usd: string
  readonly rpm: string
  readonly tpm: string
  readonly window_minutes: string
  readonly price_multiplier: string
}

export const accountLabels: Readonly<Record<keyof AccountDraft, string>> = {
  name: 'Name',
  external_id: 'External id',
  contact: 'Contact',
  note: 'Note',
  alert_below_usd: 'Alert below',
  credit_line_usd: 'Credit line',
  daily_usd: 'Daily limit',
  monthly_usd: 'Monthly limit',
  rpm: 'Requests per minute',
  tpm: 'Tokens per minute',
  window_minutes: 'Window in minutes',
  price_multiplier: 'Price multiplier',
}

export const emptyDraft: AccountDraft = {
  name: '',
  external_id: '',
  contact: '',
  note: '',
  alert_below_usd: '0',
  credit_line_usd: '0',
  daily_usd: '0',
  monthly_usd: '0',
  rpm: '0',
  tpm: '0',
  window_minutes: '1',
  price_multiplier: '1',
}

export function draftOf({ limits, ...account }: Account): AccountDraft {
  return {
    name: account.name,
    external_id: account.external_id ?? '',
    contact: account.contact,
    note: account.note,
    alert_below_usd: account.alert_below_usd,
    credit_line_usd: limits.credit_line_usd,
    daily_usd: limits.daily_usd,
    monthly_usd: limits.monthly_usd,
    rpm: String(limits.rpm),
    tpm: String(limits.tpm),
    window_minutes: String(limits.window_minutes),
    price_multiplier: String(limits.price_multiplier),
  }
}

/** The fields that differ: the log of actions then names these and no others. */
export function changesOf(draft: AccountDraft, before: AccountDraft) {
  const known = new Map(Object.entries(before))
  const changed = Object.entries(draft).filter(([name, text]) => text !== known.get(name))
  return Object.fromEntries(changed)
}

interface FieldsProps {
  readonly draft: AccountDraft
  readonly onChange: (draft: AccountDraft) => void
  readonly errorOf: (field: string) => string | undefined
}

export function ProfileFields({ draft, onChange, errorOf }: FieldsProps) {
  const bind = bindTo(draft, onChange, errorOf)
  return (
    <>
      <div className="form-pair">
        <TextField maxLength={64} autoFocus {...bind('name')} />
        <TextField hint="Your own id of the account holder" {...bind('external_id')} />
      </div>
      <div className="form-pair">
        <TextField type="email" hint="Gets alerts about the balance" {...bind('contact')} />
        <TextField
          unit="$"
          inputMode="decimal"
          hint="A lower balance raises an alert; 0 for none"
          {...bind('alert_below_usd')}
        />
      </div>
      <TextField hint="Only operators see it" maxLength={256} {...bind('note')} />
    </>
  )
}

export function LimitFields({ draft, onChange, errorOf }: FieldsProps) {
  const bind = bindTo(draft, onChange, errorOf)
  return (
    <>
      <div className="form-pair">
        <TextField
          unit="$"
          inputMode="decimal"
          hint="Per UTC day; 0 for no limit"
          {...bind('daily_usd')}
        />
        <TextField
          unit="$"
          inputMode="decimal"
          hint="Per UTC calendar month; 0 for no limit"
          {...bind('monthly_usd')}
        />
      </div>
      <div className="form-pair">
        <TextField
          unit="$"
          inputMode="decimal"
          hint="How far below zero the balance may go"
          {...bind('credit_line_usd')}
        />
        <TextField
          inputMode="decimal"
          hint="Factor on list prices, such as 0.85"
          {...bind('price_multiplier')}
        />
      </div>
      <div className="form-pair">
        <TextField inputMode="numeric" hint="0 for no limit" {...bind('rpm')} />
        <TextField inputMode="numeric" hint="0 for no limit" {...bind('tpm')} />
        <TextField
          inputMode="numeric"
          hint="Requests are counted over it"
          {...bind('window_minutes')}
        />
      </div>
    </>
  )
}

function bindTo(
  draft: AccountDraft,
  onChange: FieldsProps['onChange'],
  errorOf: FieldsProps['errorOf'],
) {
  return (field: keyof AccountDraft) => ({
    label: accountLabels[field],
    value: draft[field],
    error: errorOf(field),
    onChange: (text: string) => onChange({ ...draft, [field]: text }),
  })
}
