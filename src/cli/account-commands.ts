/** `turnpike account …` and `turnpike usage`. */
import type { Command } from 'commander'
import { accountEndpoints } from '../endpoints/accounts.ts'
import {
  limitAccount,
  setAccountStatus,
  type AccountView,
  type Credited,
} from '../operations/accounts.ts'
import { accountUsage, usageAnswer, type AccountUsage } from '../operations/reports/usage.ts'
import {
  command,
  declined,
  hasConsent,
  plainCommand,
  shown,
  withStore,
  type Answer,
} from './command.ts'
import { formatFields, formatTable, usdAsNumbers } from './output.ts'
import { addStatementCommand } from './statement-command.ts'

export function addAccountCommands(program: Command): void {
  const account = program
    .command('account')
    .description('manage accounts: balance, limits, statement')
  addCreateCommand(account)
  account
    .command('list')
    .description('list all accounts')
    .action(
      command({ store: 'existing' }, async ({ callAll }) =>
        shown(await callAll(accountEndpoints.list), showList),
      ),
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
  addLimitsCommand(account)
  addCreditCommand(account)
  addStatusCommand(account, 'suspend', 'suspended', 'refuse all requests of an account')
  addStatusCommand(account, 'resume', 'active', 'accept requests of a suspended account again')
  addStatementCommand(account)
  addUsageCommand(program)
}

function addCreateCommand(account: Command): void {
  const create = account
    .command('create')
    .description('create an account; creates the store too where there is none')
    .argument('<name>', 'a unique name, at most 64 characters')
    .option('--balance <usd>', 'book a first credit, in USD')
  addLimitOptions(create)
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
            ...limitOptions(options),
          }),
          showOne,
        ),
      ),
    )
}

function addLimitsCommand(account: Command): void {
  const limits = account
    .command('limits')
    .description('change limits; options that you leave out stay as they are')
    .argument('<account>', 'name or id of the account')
  addLimitOptions(limits).action(
    command({ store: 'existing' }, async ({ context, arguments: [name], options }) =>
      shown(await limitAccount(context, { account: name, ...limitOptions(options) }), showOne),
    ),
  )
}

function addLimitOptions(to: Command): Command {
  return to
    .option('--daily <usd>', 'spending limit per day (UTC), in USD; 0 = no limit')
    .option('--rpm <n>', 'requests per minute; 0 = no limit')
    .option('--window <minutes>', 'sliding window for --rpm, 1 to 1440 minutes')
    .option('--multiplier <factor>', 'factor on list prices; 0.85 = 15 % discount')
}

function limitOptions(options: Readonly<Record<string, unknown>>) {
  return {
    daily_usd: options['daily'],
    rpm: options['rpm'],
    window_minutes: options['window'],
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
    .option('--yes', 'book a negative amount without a question')
    .addHelpText(
      'after',
      `
Examples:
  turnpike account credit acme 25 --reference invoice-1042
  turnpike account credit acme -3.50 --reference correction-7`,
    )
    .action(
      plainCommand(async (given) => {
        const { arguments: words, options } = given
        const [name = '', amount = ''] = words
        const question = `This takes ${amount.slice(1)} USD from the account ${name}.`
        if (Number(amount) < 0 && !(await hasConsent(question, given))) return declined
        return withStore(given, 'existing', async ({ call }) =>
          shown(
            await call(accountEndpoints.credit, {
              account: name,
              amount_usd: amount,
              reference: options['reference'],
              note: options['note'],
            }),
            showCredited,
          ),
        )
      }),
    )
}

function addStatusCommand(
  account: Command,
  word: 'suspend' | 'resume',
  status: AccountView['status'],
  description: string,
): void {
  account
    .command(word)
    .description(description)
    .argument('<account>', 'name or id of the account')
    .action(
      command({ store: 'existing' }, async ({ context, arguments: [name] }) =>
        shown(await setAccountStatus(context, { account: name, status }), showOne),
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
      command({ store: 'existing' }, async ({ context, arguments: [name], options }) =>
        shown(await accountUsage(context, { account: name, period: options['period'] }), showUsage),
      ),
    )
}

function showOne(account: AccountView): Answer {
  const { limits, ...rest } = account
  return { json: usdAsNumbers(account), text: formatFields({ ...rest, ...limits }) }
}

function showCredited(credited: Credited): Answer {
  const verdict = credited.repeated
    ? 'This reference is booked already. Nothing changed.'
    : `Booked ${credited.amount_usd} USD.`
  return { json: usdAsNumbers(credited), text: `${verdict}\nbalance  ${credited.balance_usd} USD` }
}

function showList(accounts: readonly AccountView[]): Answer {
  const text = formatTable(
    ['name', 'id', 'status', 'balance USD', 'daily USD', 'rpm', 'window'],
    accounts.map((account) => [
      account.name,
      account.id,
      account.status,
      account.balance_usd,
      account.limits.daily_usd,
      account.limits.rpm,
      account.limits.window_minutes,
    ]),
    'There are no accounts. Create one with: turnpike account create NAME --balance 10',
  )
  return { json: usdAsNumbers(accounts), text }
}

function showUsage({ figures, period }: AccountUsage): Answer {
  const answer = usageAnswer(figures, period)
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
    period,
    'balance USD': answer.balance_usd,
    'cost USD': answer.usage.cost_usd,
    'used today USD': answer.limits.daily_used_usd,
    'daily limit USD': answer.limits.daily_usd,
    requests: answer.usage.requests,
    'input tokens': answer.usage.input_tokens,
    'output tokens': answer.usage.output_tokens,
    'cache tokens': answer.usage.cache_tokens,
  })
  return { json: answer, text: `${head}\n\n${table}` }
}
