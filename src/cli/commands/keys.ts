/** `turnpike key …`, `turnpike token …`, `turnpike admin-token …`. */
import { hashSecret, parseSecret } from '../../access/key.ts'
import type { ListedKeyView } from '../../operations/keys/all-keys.ts'
import { keyEndpoints } from '../../operations/keys/endpoints.ts'
import type { KeyView, NewKey } from '../../operations/keys/key-view.ts'
import { tableOf, type Column } from '../columns.ts'
import { shown, type Answer } from '../command.ts'
import { usdAsNumbers, type Cell } from '../output.ts'
import { callRow, listRow, runRow, type CommandRow } from '../row.ts'

const limits: readonly Column<KeyView>[] = [
  ['day USD', (key) => usedOf(key.used.day_usd, key.daily_usd)],
  ['month USD', (key) => usedOf(key.used.month_usd, key.monthly_usd)],
  ['total USD', (key) => usedOf(key.used.total_usd, key.total_usd)],
  'rpm',
  'tpm',
]

const times = ['created_at', 'expires_at', 'last_used_at'] as const

const foundColumns: readonly Column<ListedKeyView>[] = [
  'id',
  'head',
  'kind',
  ['account', ({ account_name: name }): Cell => name],
  'name',
  'state',
  ['month USD', (key) => usedOf(key.used.month_usd, key.monthly_usd)],
  ...times,
]

/** A whole secret is sent as its hash. */
function searchFor(text: string): { readonly hash: string } | { readonly head: string } {
  return parseSecret(text) === undefined ? { head: text } : { hash: hashSecret(text) }
}

const list = { empty: 'There are none.', json: usdAsNumbers }
const revoke = { show: revokedText, json: usdAsNumbers }

export const keyCommands: readonly CommandRow[] = [
  callRow(keyEndpoints.createKey, {
    words: 'key create',
    help: `Example:
  turnpike key create acme --name ci --models large-1,small-1 --daily 2 --ip 192.0.2.0/24`,
    show: (made) => showSecret('key', made),
  }),
  callRow(keyEndpoints.showKey, { words: 'key show', json: usdAsNumbers }),
  callRow(keyEndpoints.editKey, {
    words: 'key edit',
    help: `Examples:
  turnpike key edit key_… --monthly 50 --rpm 60
  turnpike key edit key_… --models all --expires never --daily 0`,
    json: usdAsNumbers,
  }),
  listRow(keyEndpoints.listKeys, {
    ...list,
    words: 'key list',
    columns: [
      'id',
      'head',
      'name',
      'state',
      ['models', ({ models }): Cell => models ?? 'all'],
      ['ip', ({ ip }): Cell => ip ?? 'all'],
      ...limits,
      ...times,
    ],
  }),
  runRow(keyEndpoints.findKeys, {
    words: 'key find',
    options: [],
    more: { '<head>': 'The first characters of the secret, such as cr_ab12.' },
    help: `A whole secret is found too: it is hashed, and neither kept nor sent. But your shell may keep what you type.

Example:
  turnpike key find cr_ab12`,
    work: async (run) => {
      const found = await run.callAll(keyEndpoints.findKeys, searchFor(run.arguments[0] ?? ''))
      return shown(found, (keys) => ({
        json: usdAsNumbers(keys),
        text: tableOf(keys, foundColumns, 'There is none.'),
      }))
    },
  }),
  callRow(keyEndpoints.rotateKey, {
    words: 'key rotate',
    show: (made) => showSecret('key', made),
  }),
  callRow(keyEndpoints.revokeKey, { ...revoke, words: 'key revoke' }),
  callRow(keyEndpoints.createToken, {
    words: 'token create',
    show: (made) => showSecret('token', made),
  }),
  listRow(keyEndpoints.listTokens, {
    ...list,
    words: 'token list',
    columns: ['id', 'head', 'name', 'state', ...times],
  }),
  callRow(keyEndpoints.revokeToken, { ...revoke, words: 'token revoke' }),
  callRow(keyEndpoints.createAdminToken, {
    words: 'admin-token create',
    show: (made) => showSecret('admin-token', made),
  }),
  listRow(keyEndpoints.listAdminTokens, {
    ...list,
    words: 'admin-token list',
    columns: ['id', 'head', 'name', 'role', 'state', ...times],
  }),
  callRow(keyEndpoints.revokeAdminToken, { ...revoke, words: 'admin-token revoke' }),
]

function showSecret(word: 'key' | 'token' | 'admin-token', { key, secret }: NewKey): Answer {
  const { id, ...rest } = key
  const field = word === 'key' ? 'key' : 'token'
  return {
    json: usdAsNumbers({ id, [field]: secret, ...rest }),
    text: `${secret}\n\nCopy it now: it is not shown again. Its id is ${id}.`,
    ifLost: `The secret is lost. Revoke it: turnpike ${word} revoke ${id}`,
  }
}

function revokedText({ id, head }: KeyView): string {
  return `${id} (${head}) is revoked.`
}

/** The used amount, of the limit where there is one. */
function usedOf(usedUsd: string, limitUsd: string): string {
  return limitUsd === '0' ? usedUsd : `${usedUsd} of ${limitUsd}`
}
