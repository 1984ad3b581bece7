/**
 * The mail to the contact of an account, in the language of the account: about its money only, without
 * commands and facts for operators. Its content depends only on its row in the outbox.
 */
import { invariant } from '../../base/errors.ts'
import type { Language } from '../../base/languages.ts'
import { isHolderKind } from './account-rules.ts'
import type { Finding } from './alert-kind.ts'
import type { Message } from './delivery-store.ts'
import { factText, type Email } from './message.ts'
import { english, type HolderMessages } from './messages/english.ts'
import { chinese } from './messages/chinese.ts'

export const holderMessages: Readonly<Record<Language, HolderMessages>> = {
  en: english,
  'zh-CN': chinese,
}

const formats = {
  date: {
    moment: {
      year: 'numeric',
      month: 'short',
      day: 'numeric',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
      timeZone: 'UTC',
      timeZoneName: 'short',
    },
  },
} as const

/** Mails are few, so what formats them is loaded for the first one. */
export async function holderEmailOf({ notice, language }: Message): Promise<Email> {
  const { condition, event, firedAtMs } = notice
  const { kind } = condition
  invariant(isHolderKind(kind), 'account holders get alerts about their money only')
  const { IntlMessageFormat } = await import('intl-messageformat')
  const values = { ...valuesOf(condition), since: new Date(firedAtMs) }
  const say = (message: string, more: Readonly<Record<string, string>> = {}): string =>
    String(new IntlMessageFormat(message, language, formats).format({ ...values, ...more }))
  const messages = holderMessages[language]
  const isOver = event === 'resolved'
  const about = say(messages.titles[kind])
  const title = isOver ? say(messages.resolved, { title: about }) : about
  const text = say(isOver ? messages.over : messages.texts[kind])
  return { subject: title, text: `${title}\n\n${text}\n\n${say(messages.since)}\n` }
}

/** The arguments of the messages. A condition has some of them. */
function valuesOf({ facts }: Finding): Readonly<Record<string, string>> {
  const fact = (name: string): string => factText(facts[name] ?? null)
  const keyName = fact('key_name')
  return {
    account: fact('account'),
    key: keyName === '' ? fact('key_head') : keyName,
    balance: fact('balance_usd'),
    spend: fact('spend_24h_usd'),
    hours: fact('hours_left'),
    limit: fact('limit_usd'),
    used: fact('used_usd'),
    period: fact('period'),
    step: fact('step'),
    limitOf: fact('limit_of'),
  }
}
