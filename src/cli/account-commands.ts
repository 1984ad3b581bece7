/** `turnpike account …` and `turnpike usage`: words and options in, tables out; operations do the rest. */
import type { Command } from 'commander'
import {
  createAccount,
  creditAccount,
  limitAccount,
  listAccounts,
  setAccountStatus,
  showAccount,
  type AccountView,
} from '../operations/accounts.ts'
import { accountUsage, usageAnswer } from '../operations/usage.ts'
import { onExistingStore } from './existing-store.ts'
import { onStore, type Answer } from './shell.ts'
import { addStatementCommand } from './statement-command.ts'
import { formatFields, formatTable } from './table.ts'

export function addAccountCommands(program: Command): void {
  const account = program.command('account').description('accounts: balance, limits, statement')
  account
    .command('create')
    .description('make an account')
    .argument('<name>')
    .option('--balance <usd>', 'a first credit')
    .option('--daily <usd>', 'daily spending limit; 0 = none')
    .option('--rpm <n>', 'requests per minute; 0 = no limit')
    .option('--window <minutes>', 'over how many minutes rpm is averaged')
    .option('--multiplier <factor>', 'what the account pays of the list price; 1 = all of it')
    .action(
      onStore(async (context, { arguments: [name], options }) =>
        showOne(
          await createAccount(context, {
            name,
            balance_usd: options['balance'],
            ...limitOptions(options),
          }),
        ),
      ),
    )
  account
    .command('list')
    .description('all accounts')
    .action(
      onExistingStore(async (context) => {
        const accounts = await listAccounts(context)
        return { json: accounts, text: accountTable(accounts) }
      }),
    )
  account
    .command('show')
    .description('one account')
    .argument('<name>')
    .action(
      onExistingStore(async (context, { arguments: [name] }) =>
        showOne(await showAccount(context, { account: name })),
      ),
    )
  for (const [word, status] of [
    ['suspend', 'suspended'],
    ['resume', 'active'],
  ] as const) {
    account
      .command(word)
      .description(word === 'suspend' ? 'refuse its keys from now on' : 'accept its keys again')
      .argument('<name>')
      .action(
        onExistingStore(async (context, { arguments: [name] }) =>
          showOne(await setAccountStatus(context, status, { account: name })),
        ),
      )
  }
  addMoneyCommands(account)
  program
    .command('usage')
    .description('what an account has used, as its read-only token sees it')
    .argument('<account>')
    .option('--period <period>', 'day, month or total', 'day')
    .action(
      onExistingStore(async (context, { arguments: [name], options }) =>
        showUsage(await accountUsage(context, { account: name, period: options['period'] })),
      ),
    )
}

function addMoneyCommands(account: Command): void {
  account
    .command('limits')
    .description('change limits; what is not named stays')
    .argument('<name>')
    .option('--daily <usd>', 'daily spending limit; 0 = none')
    .option('--rpm <n>', 'requests per minute; 0 = no limit')
    .option('--window <minutes>', 'over how many minutes rpm is averaged')
    .option('--multiplier <factor>', 'what the account pays of the list price; 1 = all of it')
    .action(
      onExistingStore(async (context, { arguments: [name], options }) =>
        showOne(await limitAccount(context, { account: name, ...limitOptions(options) })),
      ),
    )
  account
    .command('credit')
    .description(
      'add money, or take it back by a negative amount; repeating a reference changes nothing',
    )
    .argument('<name>')
    .argument('<usd>')
    .requiredOption('--reference <ref>', 'your own number for this booking')
    .option('--note <text>', 'kept with the entry')
    .action(
      onExistingStore(async (context, { arguments: [name, amount], options }) => {
        const credited = await creditAccount(context, {
          account: name,
          amount_usd: amount,
          reference: options['reference'],
          note: options['note'],
        })
        const word = credited.repeated
          ? 'This reference has been booked before; nothing changed.'
          : `Booked ${credited.amount_usd} USD.`
        return { json: credited, text: `${word}\nbalance  ${credited.balance_usd} USD` }
      }),
    )
  addStatementCommand(account)
}

function limitOptions(options: Readonly<Record<string, unknown>>) {
  return {
    daily_usd: options['daily'],
    rpm: options['rpm'],
    window_minutes: options['window'],
    price_multiplier: options['multiplier'],
  }
}

function showOne(account: AccountView): Answer {
  const { limits, ...rest } = account
  return { json: account, text: formatFields({ ...rest, ...limits }) }
}

function accountTable(accounts: readonly AccountView[]): string {
  return formatTable(
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
    'There are no accounts. Make one with: turnpike account create NAME --balance 10',
  )
}

function showUsage({ figures, period }: Awaited<ReturnType<typeof accountUsage>>): Answer {
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
    'Nothing was used.',
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
