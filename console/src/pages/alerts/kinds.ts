/** The kinds of alerts in words, and the tones of severities. */
import type { Firing } from './queries.ts'

export const kindNames: Readonly<Record<Firing['kind'], string>> = {
  'account.balance_low': 'Balance of an account is low',
  'account.running_out': 'Balance of an account will soon be spent',
  'account.exhausted': 'Balance of an account is spent',
  'account.daily_limit_reached': 'An account has reached its daily limit',
  'account.monthly_limit_reached': 'An account has reached its monthly limit',
  'key.limit_reached': 'A key has reached its limit',
  'channel.off': 'A channel is off',
  'channel.credential_refused': 'A vendor refuses a credential',
  'channel.no_credit': 'A vendor account has no credit',
  'channel.model_missing': 'A vendor does not have a model',
  'channel.limit_ignored': 'A vendor does not keep an output limit',
  'channel.counts_high': 'A vendor counts far more input than usual',
  'channel.cache_fallen': 'A prompt cache serves far less than usual',
  'model.reserve_only': 'A model runs on reserves only',
  'model.no_usable_channel': 'A model has no usable channel',
  'ledger.audit_failed': 'An audit of the books has failed',
  'store.outage': 'The store does not answer',
  'backup.too_old': 'The last backup is too old',
  'alert.test': 'Test message',
}

export const severityTones = { info: 'neutral', warning: 'warn', critical: 'bad' } as const
