/** `turnpike key …`, `turnpike token …`, `turnpike admin-token …`: making, listing, revoking secrets. */
import type { Command } from 'commander'
import type { KeyKind } from '../access/principal.ts'
import {
  createAdminToken,
  createClientKey,
  createReaderToken,
  listAccountKeys,
  listAdminTokens,
  revoke,
  type KeyView,
  type NewKey,
} from '../operations/keys.ts'
import { onExistingStore } from './existing-store.ts'
import type { Answer } from './shell.ts'
import { formatTable } from './table.ts'

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('cr_ keys, which send model requests')
  key
    .command('create')
    .description('make a key; it is shown once')
    .argument('<account>')
    .option('--name <name>', 'a label for people')
    .option('--models <ids>', 'only these models, separated by commas', splitList)
    .option('--expires <date>', 'last day (UTC) or moment on which it works')
    .option('--daily <usd>', "the key's own daily spending limit")
    .option('--ip <cidr>', 'only from these addresses; separated by commas or repeated', addToList)
    .action(
      onExistingStore(async (context, { arguments: [account], options }) =>
        showSecret(
          'key',
          await createClientKey(context, {
            account,
            name: options['name'],
            models: options['models'],
            expires: options['expires'],
            daily_usd: options['daily'],
            ip: options['ip'],
          }),
        ),
      ),
    )
  addListCommand(key, 'client')
  addRevokeCommand(key, 'client')

  const token = program.command('token').description('ro_ tokens, which read /v1/usage')
  token
    .command('create')
    .description('make a read-only token; it is shown once')
    .argument('<account>')
    .option('--name <name>', 'a label for people')
    .action(
      onExistingStore(async (context, { arguments: [account], options }) =>
        showSecret('token', await createReaderToken(context, { account, name: options['name'] })),
      ),
    )
  addListCommand(token, 'reader')
  addRevokeCommand(token, 'reader')

  const admin = program.command('admin-token').description('ad_ tokens, which operate the gateway')
  admin
    .command('create')
    .description('make an admin token; it is shown once')
    .option('--name <name>', 'a label for people')
    .action(
      onExistingStore(async (context, { options }) =>
        showSecret('admin-token', await createAdminToken(context, { name: options['name'] })),
      ),
    )
  admin
    .command('list')
    .description('all admin tokens, by their heads')
    .action(onExistingStore(async (context) => showKeys(await listAdminTokens(context))))
  addRevokeCommand(admin, 'admin')
}

function addListCommand(parent: Command, kind: 'client' | 'reader'): void {
  parent
    .command('list')
    .description('those of an account, by their heads')
    .argument('<account>')
    .action(
      onExistingStore(async (context, { arguments: [account] }) =>
        showKeys(await listAccountKeys(context, kind, { account })),
      ),
    )
}

function addRevokeCommand(parent: Command, kind: KeyKind): void {
  parent
    .command('revoke')
    .description('refuse it from the next request on')
    .argument('<id>')
    .action(
      onExistingStore(async (context, { arguments: [id] }) => {
        const revoked = await revoke(context, kind, { id })
        return { json: revoked, text: `${revoked.id} (${revoked.head}) is revoked.` }
      }),
    )
}

type Word = 'key' | 'token' | 'admin-token'

function showSecret(word: Word, { key, secret }: NewKey): Answer {
  const { id, ...rest } = key
  const field = word === 'key' ? 'key' : 'token'
  return {
    json: { id, [field]: secret, ...rest },
    text: `${secret}\n\nThis is the only time it is shown. Its id is ${id}.`,
    ifLost: `It was made, and nobody has seen it. Revoke it: turnpike ${word} revoke ${id}`,
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
  return { json: keys, text }
}

function splitList(text: string): readonly string[] {
  return text.split(',').map((item) => item.trim())
}

function addToList(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), ...splitList(text)]
}
