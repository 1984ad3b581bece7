/** `turnpike key …`, `turnpike token …`, `turnpike admin-token …`: create, list, revoke. */
import type { Command } from 'commander'
import type { KeyKind } from '../access/key.ts'
import { keyEndpoints } from '../endpoints/keys.ts'
import type { KeyView, NewKey } from '../operations/keys.ts'
import { command, shown, type Answer } from './command.ts'
import { formatTable, usdAsNumbers } from './output.ts'

export function addKeyCommands(program: Command): void {
  addClientKeyCommands(program)
  addReaderTokenCommands(program)
  addAdminTokenCommands(program)
}

function addClientKeyCommands(program: Command): void {
  const key = program.command('key').description('manage keys (cr_…) for model requests')
  key
    .command('create')
    .description('create a key; it is shown only once')
    .argument('<account>', 'name or id of the account')
    .option('--name <name>', 'a label, at most 64 characters')
    .option('--models <ids>', 'allow only these models; separate with commas', splitList)
    .option('--expires <date>', 'last day (UTC), or a time such as 2027-01-31T12:00:00Z')
    .option('--daily <usd>', 'spending limit of this key per day (UTC), in USD; 0 = no limit')
    .option('--ip <cidr>', 'allow only these addresses; separate with commas or repeat', addToList)
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
            daily_usd: options['daily'],
            ip: options['ip'],
          }),
          (made) => showSecret('key', made),
        ),
      ),
    )
  addListCommand(key, 'client', 'list the keys of an account')
  addRevokeCommand(key, 'client', 'revoke a key; its next request is refused')
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
        shown(await callAll(keyEndpoints.listAdminTokens), showKeys),
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
        const list = kind === 'client' ? keyEndpoints.listKeys : keyEndpoints.listTokens
        return shown(await callAll(list, { account }), showKeys)
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

function showKeys(keys: readonly KeyView[]): Answer {
  const text = formatTable(
    ['id', 'head', 'name', 'status', 'models', 'ip', 'daily USD', 'created', 'expires'],
    keys.map((key) => [
      key.id,
      key.head,
      key.name,
      key.status,
      key.models ?? 'all',
      key.ip ?? 'all',
      key.daily_usd,
      key.created_at,
      key.expires_at,
    ]),
    'There are none.',
  )
  return { json: usdAsNumbers(keys), text }
}

export function splitList(text: string): readonly string[] {
  return text.split(',').map((item) => item.trim())
}

function addToList(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), ...splitList(text)]
}
