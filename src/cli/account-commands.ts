/** `turnpike account …` and `turnpike usage`. */
import { InvalidArgumentError, type Command } from 'commander'
import { accountEndpoints } from '../operations/accounts/endpoints.ts'
import type { ListedAccountView } from '../operations/accounts/account-list.ts'
import type { AccountView, Credited } from '../operations/accounts/accounts.ts'
import type { OperationRefusal } from '../operations/operation.ts'
import type { AccountUsage } from '../operations/reports/usage.ts'
import { command, declined, hasConsent, plainCommand, shown, type Answer } from './command.ts'
import { formatFields, formatTable, usdAsNumbers } from './output.ts'
import { addRefundCommand } from './refund-command.ts'
import { withRun, type Run } from './run.ts'
import { addStatementCommand } from './statement-command.ts'
import type { Given } from './store-run.ts'

export function addAccountCommands(program: Command): void {
  const account = program
    .command('account')
    .description('manage accounts: balance, limits, statement')
  addCreateCommand(account)
  account
    .command('list')
    .description('list accounts with their spend of the last 30 days')
    .option('--status <status>', 'only accounts that are active, suspended or closed')
    .option('--name <part>', 'only accounts whose name contains this')
    .option('--external-id <id>', 'only the account with this external id')
    .option('--low', 'only active accounts that are short of money')
    .option('--sort <by>', 'name, balance or spend', 'name')
    .option('--order <order>', 'asc or desc; by name asc, else desc')
    .action(
      command({ store: 'existing' }, async ({ callAll, options }) => {
        const filter = {
          status: options['status'],
          name_contains: options['name'],
          external_id: options['externalId'],
          low: options['low'],
        }
        const order = { sort: options['sort'], order: options['order'] }
        return shown(await callAll(accountEndpoints.list, { ...filter, ...order }), (accounts) =>
          showList(accounts, Object.values(filter).some(Boolean)),
        )
      }),
    )
  account
    .command('show')
    .description('show one account')
    .argument('<account>', 'name or id of the account')
    .action(
      command({ store: 'existing' }, async ({ call, arguments: [name] }) =>
        shown(await call(accountEndpoints.show, { account: name }), showOne),
      ),
    )
  addEditCommand(account)
  addLimitsCommand(account)
  addCreditCommand(account)
  addRefundCommand(account)
  for (const change of statusChanges) addStatusCommand(account, change)
  addStatementCommand(account)
  addUsageCommand(program)
}

function addCreateCommand(account: Command): void {
  const create = account
    .command('create')
    .description('create an account; creates the store too where there is none')
    .argument('<name>', 'a unique name, at most 64 characters')
    .option('--balance <usd>', 'book a first credit, in USD')
  addLimitOptions(addProfileOptions(create))
    .addHelpText(
      'after',
      `
Example:
  turnpike account create acme --balance 25 --daily 5 --rpm 60`,
    )
    .action(
      command({ store: 'create' }, async ({ call, arguments: [name], options }) =>
        shown(
          await call(accountEndpoints.create, {
            name,
            balance_usd: options['balance'],
            ...profileOptions(options),
            ...limitOptions(options),
          }),
          showOne,
        ),
      ),
    )
}

function addEditCommand(account: Command): void {
  const edit = account
    .command('edit')
    .description(
      'change name, note, contact, alert threshold, external id, metadata; the rest stays as it is',
    )
    .argument('<account>', 'name or id of the account')
    .option('--name <name>', 'a new unique name; the id stays')
  addProfileOptions(edit)
    .addHelpText(
      'after',
      `
Examples:
  turnpike account edit acme --name acme-europe --contact billing@acme.example
  turnpike account edit acme --metadata plan=gold --metadata region=eu
  turnpike account edit acme --metadata region= --note ""      remove both`,
    )
    .action(
      command({ store: 'existing' }, async ({ call, arguments: [account], options }) =>
        shown(
          await call(accountEndpoints.change, {
            account,
            name: options['name'],
            ...profileOptions(options),
          }),
          showOne,
        ),
      ),
    )
}

function addProfileOptions(to: Command): Command {
  return to
    .option('--note <text>', 'a note for operators')
    .option('--contact <email>', 'address for alerts about this account')
    .option('--alert-below <usd>', 'alert when the balance is lower, in USD; 0 = never')
    .option('--external-id <id>', 'your own id of the account holder; unique')
    .option(
      '--metadata <name=text>',
      'a fact to keep; repeat it for more, leave the text out to remove',
      collectMetadata,
    )
}

function collectMetadata(
  given: string,
  before: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [name = '', ...rest] = given.split('=')
  if (rest.length === 0) throw new InvalidArgumentError('Write it as name=text.')
  return { ...before, [name]: rest.join('=') }
}

function profileOptions(options: Readonly<Record<string, unknown>>) {
  return {
    note: options['note'],
    contact: options['contact'],
    alert_below_usd: options['alertBelow'],
    external_id: options['externalId'],
    metadata: options['metadata'],
  }
}

function addLimitsCommand(account: Command): void {
  const limits = account
    .command('limits')
    .description('change limits; options that you leave out stay as they are')
    .argument('<account>', 'name or id of the account')
  addLimitOptions(limits).action(
    command({ store: 'existing' }, async ({ call, arguments: [account], options }) =>
      shown(await call(accountEndpoints.change, { account, ...limitOptions(options) }), showOne),
    ),
  )
}

function addLimitOptions(to: Command): Command {
  return to
    .option('--daily <usd>', 'spending limit per day (UTC), in USD; 0 = no limit')
    .option('--rpm <n>', 'requests per minute; 0 = no limit')
    .option('--window <minutes>', 'sliding window for --rpm, 1 to 1440 minutes')
    .option('--tpm <n>', 'tokens per minute, of requests that have ended; 0 = no limit')
    .option('--multiplier <factor>', 'factor on list prices; 0.85 = 15 % discount')
}

function limitOptions(options: Readonly<Record<string, unknown>>) {
  return {
    daily_usd: options['daily'],
    rpm: options['rpm'],
    window_minutes: options['window'],
    tpm: options['tpm'],
    price_multiplier: options['multiplier'],
  }
}

function addCreditCommand(account: Command): void {
  account
    .command('credit')
    .description('book a credit; a negative amount takes money back')
    .argument('<account>', 'name or id of the account')
    .argument('<usd>', 'amount in USD, such as 12.50 or -3')
    .requiredOption('--reference <ref>', 'your own id of this entry; repeating it books nothing')
    .option('--note <text>', 'a note that is stored with the entry')
    .option('--yes', 'book a negative or an unusually large amount without a question')
    .addHelpText(
      'after',
      `
Examples:
  turnpike account credit acme 25 --reference invoice-1042
  turnpike account credit acme -3.50 --reference correction-7`,
    )
    .action(
      plainCommand(async (given) => {
        const [name = '', amount = ''] = given.arguments
        const isNegative = Number(amount) < 0
        const question = `This takes ${amount.slice(1)} USD from the account ${name}.`
        if (isNegative && !(await hasConsent(question, given))) return declined
        return withRun(given, 'existing', (run) => bookCredit(run, given, isNegative))
      }),
    )
}

/** Asks where the operation wants a confirmation, and books with it. */
async function bookCredit(
  { call }: Pick<Run, 'call'>,
  given: Given,
  isConfirmed: boolean,
): Promise<Answer | OperationRefusal | undefined> {
  const { arguments: words, options } = given
  const booked = await call(accountEndpoints.credit, {
    account: words[0],
    amount_usd: words[1],
    reference: options['reference'],
    note: options['note'],
    confirm: isConfirmed || options['yes'] === true,
  })
  const isQuestion = booked.kind === 'refusal' && booked.code === 'operations.confirmation_required'
  if (!isQuestion) return shown(booked, showCredited)
  return (await hasConsent(booked.message, given)) ? bookCredit({ call }, given, true) : declined
}

interface StatusChange {
  readonly word: string
  readonly status: AccountView['status']
  readonly description: string
}

const statusChanges: readonly StatusChange[] = [
  { word: 'suspend', status: 'suspended', description: 'refuse all requests of an account' },
  {
    word: 'resume',
    status: 'active',
    description: 'accept requests of a suspended account again',
  },
  {
    word: 'close',
    status: 'closed',
    description: 'refuse all requests and credits of an account; its figures and balance stay',
  },
  { word: 'reopen', status: 'active', description: 'make a closed account active again' },
]

function addStatusCommand(account: Command, { word, status, description }: StatusChange): void {
  account
    .command(word)
    .description(description)
    .argument('<account>', 'name or id of the account')
    .action(
      command({ store: 'existing' }, async ({ call, arguments: [account] }) =>
        shown(await call(accountEndpoints.change, { account, status }), showOne),
      ),
    )
}

function addUsageCommand(program: Command): void {
  program
    .command('usage')
    .description('show the usage of an account, as its read-only token sees it')
    .argument('<account>', 'name or id of the account')
    .option('--period <period>', 'day, month (both UTC) or total', 'day')
    .action(
      command({ store: 'existing' }, async ({ call, arguments: [name], options }) =>
        shown(
          await call(accountEndpoints.usage, { account: name, period: options['period'] }),
          showUsage,
        ),
      ),
    )
}

/** The answer of a change has no figures. */
type ShownAccount = AccountView & Partial<ListedAccountView>

function showOne(account: ShownAccount): Answer {
  const { limits, metadata, spend, held_usd: _held, available_usd: _available, ...rest } = account
  const facts = Object.entries(metadata).map(([name, text]) => `${name}=${text}`)
  const spent = spend && { spent_today_usd: spend.today_usd, spent_30_days_usd: spend.total_usd }
  const fields = { ...rest, ...limits, ...spent, metadata: facts }
  return { json: accountJson(account), text: formatFields(fields) }
}

/**
 * Names in the metadata may end in `_usd`, too; their texts stay texts. Holds are left out: a command on the
 * store does not see those of a gateway on SQLite.
 */
function accountJson({
  metadata,
  held_usd: _held,
  available_usd: _available,
  ...account
}: ShownAccount): unknown {
  return { ...(usdAsNumbers(account) as object), metadata }
}

function showCredited(credited: Credited): Answer {
  const verdict = credited.repeated
    ? 'This reference is booked already. Nothing changed.'
    : `Booked ${credited.amount_usd} USD.`
  return { json: usdAsNumbers(credited), text: `${verdict}\nbalance  ${credited.balance_usd} USD` }
}

function showList(accounts: readonly ListedAccountView[], isFiltered: boolean): Answer {
  const text = formatTable(
    [
      'name',
      'id',
      'status',
      'balance USD',
      'today USD',
      '30 days USD',
      'daily USD',
      'rpm',
      'window',
    ],
    accounts.map((account) => [
      account.name,
      account.id,
      account.status,
      account.balance_usd,
      account.spend.today_usd,
      account.spend.total_usd,
      account.limits.daily_usd,
      account.limits.rpm,
      account.limits.window_minutes,
    ]),
    isFiltered
      ? 'No account fits these options.'
      : 'There are no accounts. Create one with: turnpike account create NAME --balance 10',
  )
  return { json: accounts.map(accountJson), text }
}

function showUsage(answer: AccountUsage): Answer {
  const table = formatTable(
    ['model', 'requests', 'input tokens', 'output tokens', 'cost USD'],
    answer.by_model.map((model) => [
      model.model,
      model.requests,
      model.input_tokens,
      model.output_tokens,
      model.cost_usd,
    ]),
    'No usage in this period.',
  )
  const head = formatFields({
    period: answer.period,
    'balance USD': answer.balance_usd,
    'cost USD': answer.usage.cost_usd,
    'used today USD': answer.limits.daily_used_usd,
    'daily limit USD': answer.limits.daily_usd,
    requests: answer.usage.requests,
    'input tokens': answer.usage.input_tokens,
    'output tokens': answer.usage.output_tokens,
    'cache tokens': answer.usage.cache_tokens,
  })
  return { json: usdAsNumbers(answer), text: `${head}\n\n${table}` }
}
