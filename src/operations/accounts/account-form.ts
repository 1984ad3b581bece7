/** An account as operators see it, on every way. */
import { z } from 'zod'
import { holdRules } from '../../base/hold-rule.ts'
import { languages } from '../../base/languages.ts'
import { formatUsd } from '../../base/money.ts'
import type { Account, AccountProfile } from '../../ledger/account-store.ts'
import { moment, usd, type Answer } from '../answer-forms.ts'
import { timeOrNull, timeText } from '../operation.ts'

export const accountStatuses = ['active', 'suspended', 'closed'] as const

/** An account as operators set it up, with its balance. account-list.ts adds holds and spend. */
export const accountForm = z.strictObject({
  id: z.string(),
  name: z.string(),
  /** A suspended or closed account sends no requests. */
  status: z.enum(accountStatuses),
  balance_usd: usd,
  has_paid: z.boolean().meta({
    description:
      'A credit was booked. Until then each request needs the `most` that it can cost, whatever `holds` says.',
  }),
  limits: z.strictObject({
    credit_line_usd: usd.meta({ description: 'How far below zero the balance may go.' }),
    holds: z.enum(holdRules).nullable().meta({
      description: 'Amount that must be left for a request; null = as the setting `holds` says.',
    }),
    daily_usd: usd.meta({ description: '0 = no limit.' }),
    monthly_usd: usd.meta({ description: '0 = no limit.' }),
    rpm: z.int().meta({ description: 'Requests per minute; 0 = no limit.' }),
    window_minutes: z.int(),
    tpm: z.int().meta({ description: 'Tokens per minute; 0 = no limit.' }),
    price_multiplier: z.number().meta({ description: 'Factor on list prices.' }),
  }),
  note: z.string(),
  contact: z.string().meta({ description: 'E-mail address for alerts; empty = none.' }),
  language: z.enum(languages).meta({ description: 'Language of mails to the contact.' }),
  alert_below_usd: usd.meta({ description: 'A lower balance raises an alert; 0 = none does.' }),
  bill_to: z.string().meta({ description: 'Name, address and tax number for receipts.' }),
  external_id: z.string().nullable().meta({ description: "The operator's own id; unique." }),
  created_at: moment,
  closed_at: moment.nullable(),
})

export type AccountView = Answer<typeof accountForm>

export function viewAccount(account: Account): AccountView {
  return {
    id: account.id,
    name: account.name,
    status: account.status,
    balance_usd: formatUsd(account.balancePicos),
    has_paid: account.hasPaid,
    limits: {
      credit_line_usd: formatUsd(account.creditLinePicos),
      holds: account.holds ?? null,
      daily_usd: formatUsd(account.dailyLimitPicos),
      monthly_usd: formatUsd(account.monthlyLimitPicos),
      rpm: account.rpm,
      window_minutes: account.windowMinutes,
      tpm: account.tpm,
      price_multiplier: account.priceMultiplierPpm / 1_000_000,
    },
    ...viewProfile(account),
    created_at: timeText(account.createdAtMs),
    closed_at: timeOrNull(account.closedAtMs),
  }
}

export function viewProfile(account: Pick<Account, keyof AccountProfile>) {
  return {
    note: account.note,
    contact: account.contact,
    language: account.language,
    alert_below_usd: formatUsd(account.alertBelowPicos),
    bill_to: account.billTo,
    external_id: account.externalId ?? null,
  }
}
