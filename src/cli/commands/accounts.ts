/** `turnpike account …` and `turnpike usage`. */
import { accountEndpoints } from '../../operations/accounts/endpoints.ts'
import type { ListedAccountView } from '../../operations/accounts/account-list.ts'
import type { AccountView } from '../../operations/accounts/account-form.ts'
import { requestEndpoints } from '../../operations/requests/endpoints.ts'
import { textOf } from '../columns.ts'
import { usdAsNumbers } from '../output.ts'
import { callRow, listRow, type CommandRow, type Input } from '../row.ts'
import { statementCommand } from './statement.ts'

const limits = [
  'credit_line_usd',
  'holds',
  'daily_usd',
  'monthly_usd',
  'rpm',
  'window_minutes',
  'tpm',
  'price_multiplier',
]
const profile = ['note', 'contact', 'language', 'alert_below_usd', 'external_id']
/** What all commands about one account show. */
const one = { show: accountText, json: accountJson }

export const accountCommands: readonly CommandRow[] = [
  callRow(accountEndpoints.create, {
    ...one,
    words: 'account create',
    text: 'create an account; creates the store too where there is none',
    arguments: ['name'],
    store: 'create',
    help: `Example:
  turnpike account create acme --balance 25 --daily 5 --rpm 60`,
  }),
  listRow(accountEndpoints.list, {
    words: 'account list',
    columns: [
      'name',
      'id',
      'status',
      'balance_usd',
      'spend.today_usd',
      ['month USD', 'spend.month_usd'],
      ['30 days USD', 'spend.total_usd'],
      'limits.daily_usd',
      'limits.monthly_usd',
      'limits.rpm',
      ['window', 'limits.window_minutes'],
    ],
    empty: 'There are no accounts. Create one with: turnpike account create NAME --balance 10',
    noneFits: 'No account fits these options.',
    json: (accounts) => accounts.map(accountJson),
  }),
  callRow(accountEndpoints.show, { ...one, words: 'account show' }),
  callRow(accountEndpoints.change, {
    ...one,
    words: 'account edit',
    text: 'change name, note, contact and its language, alert threshold, external id; what you leave out stays',
    options: ['name', ...profile],
    help: `Examples:
  turnpike account edit acme --name acme-europe --contact billing@acme.example
  turnpike account edit acme --external-id crm-17 --note ""`,
  }),
  callRow(accountEndpoints.change, {
    ...one,
    words: 'account limits',
    text: 'change limits; what you leave out stays',
    options: limits,
  }),
  callRow(accountEndpoints.credit, {
    words: 'account credit',
    arguments: ['account', 'amount_usd'],
    ask: askForNegative,
    help: `Examples:
  turnpike account credit acme 25 --reference invoice-1042
  turnpike account credit acme -3.50 --reference correction-7`,
    json: usdAsNumbers,
  }),
  callRow(requestEndpoints.refund, {
    words: 'account refund',
    hints: { amount_usd: { flags: '--usd <amount>' } },
    help: `Examples:
  turnpike account refund ex_01jd8m3v9k7c2h5n8q4r6t0w1x
  turnpike account refund ex_01jd8m3v9k7c2h5n8q4r6t0w1x --usd 0.02 --reason "half of the answer"`,
  }),
  statusRow('suspend', 'suspended', 'refuse all requests of an account'),
  statusRow('resume', 'active', 'accept requests of a suspended account again'),
  statusRow(
    'close',
    'closed',
    'refuse all requests and credits of an account; its figures and balance stay',
  ),
  statusRow('reopen', 'active', 'make a closed account active again'),
  statementCommand,
  callRow(accountEndpoints.usage, { words: 'usage', json: usdAsNumbers }),
]

function statusRow(word: string, status: AccountView['status'], text: string): CommandRow {
  return callRow(accountEndpoints.change, {
    ...one,
    words: `account ${word}`,
    text,
    options: [],
    fixed: { status },
  })
}

function askForNegative({ account, amount_usd: amount }: Input): string | undefined {
  return Number(amount) < 0
    ? `This takes ${String(amount).slice(1)} USD from the account ${String(account)}.`
    : undefined
}

/** The answer of a change has no holds and spend. */
type ShownAccount = AccountView & Partial<ListedAccountView>

/** A command on the store does not see the holds of a gateway on SQLite. */
function withoutHolds({ held_usd: _held, available_usd: _available, ...account }: ShownAccount) {
  return account
}

function accountText(shown: ShownAccount): string {
  const { spend, ...account } = withoutHolds(shown)
  const { today_usd, month_usd, total_usd } = spend ?? {}
  const spent = spend && { spend: { today_usd, month_usd, total_usd } }
  return textOf({ ...account, ...spent })
}

function accountJson(account: ShownAccount): unknown {
  return usdAsNumbers(withoutHolds(account))
}
