/** `turnpike key …`, `turnpike token …`, `turnpike admin-token …`: create, list, edit, revoke. */
import type { Command } from 'commander'
import type { KeyKind } from '../access/key.ts'
import { keyEndpoints } from '../operations/keys/endpoints.ts'
import type { KeyView, NewKey } from '../operations/keys/key-view.ts'
import { command, shown, type Answer } from './command.ts'
import { formatFields, formatTable, usdAsNumbers } from './output.ts'

export function addKeyCommands(program: Command): void {
  addClientKeyCommands(program)
  addReaderTokenCommands(program)
  addAdminTokenCommands(program)
}

function addClientKeyCommands(program: Command): void {
  const key = program.command('key').description('manage keys (cr_…) for model requests')
  const create = key
    .command('create')
    .description('create a key; it is shown only once')
    .argument('<account>', 'name or id of the account')
    .option('--name <name>', 'a label, at most 64 characters')
    .option('--models <ids>', 'allow only these models; separate with commas', splitList)
    .option('--expires <date>', 'last day (UTC), or a time such as 2027-01-31T12:00:00Z')
    .option('--ip <cidr>', 'allow only these addresses; separate with commas or repeat', addToList)
  addLimitOptions(create)
    .addHelpText(
      'after',
      `
Example:
  turnpike key create acme --name ci --models large-1,small-1 --daily 2 --ip 192.0.2.0/24`,
    )
    .action(
      command({ store: 'existing' }, async ({ call, arguments: [account], options }) =>
        shown(
          await call(keyEndpoints.createKey, {
            account,
            name: options['name'],
            models: options['models'],
            expires: options['expires'],
            ip: options['ip'],
            ...limitOptions(options),
          }),
          (made) => showSecret('key', made),
        ),
      ),
    )
  key
    .command('show')
    .description('show one key: limits, what it has used of them, and its restrictions')
    .argument('<id>', 'the id, such as key_…, as the list shows it')
    .action(
      command({ store: 'existing' }, async ({ call, arguments: [id] }) =>
        shown(await call(keyEndpoints.showKey, { id }), showKey),
      ),
    )
  addEditCommand(key)
  addListCommand(key, 'client', 'list the keys of an account')
  addRevokeCommand(key, 'client', 'revoke a key; its next request is refused')
}

function addEditCommand(key: Command): void {
  const edit = key
    .command('edit')
    .description('change a key; options that you leave out stay as they are')
    .argument('<id>', 'the id, such as key_…, as the list shows it')
    .option('--name <name>', "a label, at most 64 characters; '' removes it")
    .option('--models <ids>', "allow only these models; 'all' allows every model", splitList)
    .option('--expires <date>', "last day (UTC), or a time; 'never' removes it")
    .option('--ip <cidr>', "allow only these addresses; 'all' allows every address", addToList)
  addLimitOptions(edit)
    .addHelpText(
      'after',
      `
Examples:
  turnpike key edit key_… --monthly 50 --rpm 60
  turnpike key edit key_… --models all --expires never --daily 0`,
    )
    .action(
      command({ store: 'existing' }, async ({ call, arguments: [id], options }) =>
        shown(
          await call(keyEndpoints.editKey, {
            id,
            name: options['name'],
            models: unlessWord(options['models'], 'all'),
            expires: unlessWord(options['expires'], 'never'),
            ip: unlessWord(options['ip'], 'all'),
            ...limitOptions(options),
          }),
          showKey,
        ),
      ),
    )
}

/** Null where the option has only this word, which removes a restriction. */
function unlessWord(value: unknown, word: string): unknown {
  return value === word || (Array.isArray(value) && value.length === 1 && value[0] === word)
    ? null
    : value
}

function addLimitOptions(to: Command): Command {
  return to
    .option('--daily <usd>', 'spending limit of this key per day (UTC), in USD; 0 = no limit')
    .option('--monthly <usd>', 'the same per calendar month (UTC)')
    .option('--total <usd>', 'the same in all')
    .option('--rpm <n>', 'requests per minute of this key; 0 = no limit')
    .option('--tpm <n>', 'tokens per minute, of requests that have ended; 0 = no limit')
}

function limitOptions(options: Readonly<Record<string, unknown>>) {
  return {
    daily_usd: options['daily'],
    monthly_usd: options['monthly'],
    total_usd: options['total'],
    rpm: options['rpm'],
    tpm: options['tpm'],
  }
}

function addReaderTokenCommands(program: Command): void {
  const token = program.command('token').description('manage read-only tokens (ro_…) for /v1/usage')
  token
    .command('create')
    .description('create a read-only token; it is shown only once')
    .argument('<account>', 'name or id of the account')
    .option('--name <name>', 'a label, at most 64 characters')
    .action(
      command({ store: 'existing' }, async ({ call, arguments: [account], options }) =>
        shown(await call(keyEndpoints.createToken, { account, name: options['name'] }), (made) =>
          showSecret('token', made),
        ),
      ),
    )
  addListCommand(token, 'reader', 'list the read-only tokens of an account')
  addRevokeCommand(token, 'reader', 'revoke a read-only token; its next request is refused')
}

function addAdminTokenCommands(program: Command): void {
  const admin = program
    .command('admin-token')
    .description('manage admin tokens (ad_…) for the admin API and /metrics')
  admin
    .command('create')
    .description('create an admin token; it is shown only once')
    .option('--name <name>', 'a label, at most 64 characters')
    .option('--role <role>', 'viewer, operator or owner', 'owner')
    .option('--expires <date>', 'last day (UTC), or a time such as 2027-01-31T12:00:00Z')
    .action(
      command({ store: 'existing' }, async ({ call, options }) =>
        shown(
          await call(keyEndpoints.createAdminToken, {
            name: options['name'],
            role: options['role'],
            expires: options['expires'],
          }),
          (made) => showSecret('admin-token', made),
        ),
      ),
    )
  admin
    .command('list')
    .description('list all admin tokens')
    .action(
      command({ store: 'existing' }, async ({ callAll }) =>
        shown(await callAll(keyEndpoints.listAdminTokens), showAdminTokens),
      ),
    )
  addRevokeCommand(admin, 'admin', 'revoke an admin token; its next request is refused')
}

function addListCommand(parent: Command, kind: 'client' | 'reader', description: string): void {
  parent
    .command('list')
    .description(description)
    .argument('<account>', 'name or id of the account')
    .action(
      command({ store: 'existing' }, async ({ callAll, arguments: [account] }) => {
        return kind === 'client'
          ? shown(await callAll(keyEndpoints.listKeys, { account }), showKeys)
          : shown(await callAll(keyEndpoints.listTokens, { account }), (tokens) =>
              showTokens(tokens),
            )
      }),
    )
}

const revocations = {
  client: keyEndpoints.revokeKey,
  reader: keyEndpoints.revokeToken,
  admin: keyEndpoints.revokeAdminToken,
} as const

function addRevokeCommand(parent: Command, kind: KeyKind, description: string): void {
  parent
    .command('revoke')
    .description(description)
    .argument('<id>', 'the id, such as key_…, as the list shows it')
    .action(
      command({ store: 'existing' }, async ({ call, arguments: [id] }) =>
        shown(await call(revocations[kind], { id }), (revoked) => ({
          json: usdAsNumbers(revoked),
          text: `${revoked.id} (${revoked.head}) is revoked.`,
        })),
      ),
    )
}

function showSecret(word: 'key' | 'token' | 'admin-token', { key, secret }: NewKey): Answer {
  const { id, ...rest } = key
  const field = word === 'key' ? 'key' : 'token'
  return {
    json: usdAsNumbers({ id, [field]: secret, ...rest }),
    text: `${secret}\n\nCopy it now: it is not shown again. Its id is ${id}.`,
    ifLost: `The secret is lost. Revoke it: turnpike ${word} revoke ${id}`,
  }
}

function showKey(key: KeyView): Answer {
  return { json: usdAsNumbers(key), text: formatFields(key) }
}

function showKeys(keys: readonly KeyView[]): Answer {
  const text = formatTable(
    ['id', 'head', 'name', 'status', 'models', 'ip', ...limitHeading, ...timeHeading],
    keys.map((key) => [
      key.id,
      key.head,
      key.name,
      key.state,
      key.models ?? 'all',
      key.ip ?? 'all',
      usedOf(key.used.day_usd, key.daily_usd),
      usedOf(key.used.month_usd, key.monthly_usd),
      usedOf(key.used.total_usd, key.total_usd),
      key.rpm,
      key.tpm,
      key.created_at,
      key.expires_at,
      key.last_used_at,
    ]),
    'There are none.',
  )
  return { json: usdAsNumbers(keys), text }
}

function showAdminTokens(tokens: readonly KeyView[]): Answer {
  return showTokens(tokens, ['role'])
}

function showTokens(tokens: readonly KeyView[], more: readonly 'role'[] = []): Answer {
  const text = formatTable(
    ['id', 'head', 'name', ...more, 'status', ...timeHeading],
    tokens.map((token) => [
      token.id,
      token.head,
      token.name,
      ...more.map((field) => token[field]),
      token.state,
      token.created_at,
      token.expires_at,
      token.last_used_at,
    ]),
    'There are none.',
  )
  return { json: usdAsNumbers(tokens), text }
}

const timeHeading = ['created', 'expires', 'last used']
const limitHeading = ['day USD', 'month USD', 'total USD', 'rpm', 'tpm']

/** What is used, of the limit where there is one. */
function usedOf(usedUsd: string, limitUsd: string): string {
  return limitUsd === '0' ? usedUsd : `${usedUsd} of ${limitUsd}`
}

export function splitList(text: string): readonly string[] {
  return text.split(',').map((item) => item.trim())
}

function addToList(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), ...splitList(text)]
}
