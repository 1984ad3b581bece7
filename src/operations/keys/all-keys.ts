/**
 * Keys of all accounts: the list, and the search for a leaked one by what is known of its secret. A whole
 * secret is hashed as soon as the input is read, so that no log, refusal or answer can have it.
 */
import { z } from 'zod'
import { headStartPattern, keyKinds, traceSecret } from '../../access/key.ts'
import { sortOrders } from '../../ledger/account-store.ts'
import {
  keySorts,
  keyStates,
  listAllKeys as readKeys,
  type KeysQuestion,
  type ListedKey,
} from '../../access/key-list.ts'
import { noKeyUsage, readKeyUsage } from '../../ledger/key-usage.ts'
import type { Queryable } from '../../storage/database.ts'
import { getAccount } from '../accounts/accounts.ts'
import { pageForm, type Answer } from '../answer-forms.ts'
import { accountReference, namePart } from '../input.ts'
import { invalid, operation } from '../operation.ts'
import { orderedKey, pageFields, pageOf, readOrderedKey, type Page } from '../paging.ts'
import { keyForm, viewKey } from './key-view.ts'

const listedForm = keyForm.extend({
  account_name: z.string().nullable().meta({ description: 'Null for admin tokens.' }),
})

export type ListedKeyView = Answer<typeof listedForm>

const keyReference = z
  .string('must be an id')
  .max(256, 'is too long')
  .describe('Only the key with this id.')

const headStart = z
  .string('must be how a secret begins')
  .regex(
    new RegExp(headStartPattern),
    'must be at most the first 7 characters, such as cr_ab12, as lists show them; ' +
      'more of a secret goes in the body of POST /admin/v1/keys/find, never in an address',
  )
  .transform((text) => traceSecret(text)?.headStart)
  .describe('Only keys whose secret begins so: at most 7 characters, such as `cr_ab12`.')

export const listAllKeys = operation(
  {
    input: z.strictObject({
      kind: z.enum(keyKinds).optional().describe('Only keys, read-only tokens or admin tokens.'),
      key: keyReference.optional(),
      head: headStart.optional(),
      account: accountReference.optional(),
      state: z.enum(keyStates).optional().describe('Only keys in this state.'),
      name_contains: namePart.optional().describe('Only keys whose name contains this.'),
      sort: z
        .enum(keySorts)
        .default('created')
        .describe('What the list is sorted by; `spend` is that of the UTC calendar month.'),
      order: z.enum(sortOrders).default('desc').describe('Direction.'),
      ...pageFields,
    }),
    answer: pageForm(listedForm),
  },
  async ({ database, clock }, { account, sort, order, cursor, limit, head, ...filter }) => {
    const listOrder = { sort, order, keyLength: sort === 'created' ? 1 : 2 }
    const found = await readKeys(database, {
      id: filter.key,
      kind: filter.kind,
      state: filter.state,
      nameContains: filter.name_contains,
      headStart: head,
      accountId: account === undefined ? undefined : (await getAccount(database, account)).id,
      sort,
      order,
      after: readOrderedKey(cursor, listOrder),
      nowMs: clock.now(),
      countMax: limit + 1,
    })
    return viewPage(database, found, {
      limit,
      nowMs: clock.now(),
      cursorOf: ({ key }) => orderedKey(listOrder, key),
    })
  },
)

const secretHash = z
  .string('must be a SHA-256 in hex')
  .regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 as 64 characters of 0-9 and a-f')
  .describe('SHA-256 of the whole secret, in hex, so that the secret need not be sent.')

const secretStart = z
  .string('must be how a secret begins')
  .max(256, 'is too long')
  .transform((text, context) => {
    const trace = traceSecret(text)
    if (trace !== undefined) return trace
    context.addIssue('must be how a secret begins, such as cr_ab12, ro_ab12 or ad_ab12')
    return z.NEVER
  })
  .describe('How the secret begins, such as `cr_ab12`. A whole secret is hashed at once.')

/** Of every kind and in every state, the newest first; at most one where a whole secret is known. */
export const findKeys = operation(
  {
    input: z.strictObject({
      head: secretStart.optional(),
      hash: secretHash.optional(),
      ...pageFields,
    }),
    answer: pageForm(listedForm),
  },
  ({ database, clock }, { head, hash: given, cursor, limit }) => {
    if ((head === undefined) === (given === undefined)) throw invalid('Give either head or hash.')
    const nowMs = clock.now()
    const newest = { sort: 'created', order: 'desc', nowMs, countMax: limit + 1 } as const
    const after = cursor === undefined ? undefined : [cursor]
    const hash = given ?? head?.hash
    return database.snapshot(async (snapshot) => {
      const find = (by: Pick<KeysQuestion, 'secretHash' | 'headStart'>): Promise<ListedKey[]> =>
        readKeys(snapshot, { ...newest, after, ...by })
      const exact = hash === undefined ? [] : await find({ secretHash: hash })
      const isByStart = exact.length === 0 && head?.headStart !== undefined
      const found = isByStart ? await find({ headStart: head.headStart }) : exact
      return viewPage(snapshot, found, { limit, nowMs, cursorOf: ({ id }) => id })
    })
  },
)

async function viewPage(
  queryable: Queryable,
  found: readonly ListedKey[],
  page: {
    readonly limit: number
    readonly nowMs: number
    readonly cursorOf: (key: ListedKey) => string
  },
): Promise<Page<ListedKeyView>> {
  const { limit, nowMs, cursorOf } = page
  const used = await readKeyUsage(queryable, { keys: found.slice(0, limit), atMs: nowMs })
  return pageOf(found, {
    limit,
    cursorOf,
    view: (key) => ({
      ...viewKey(key, used.get(key.id) ?? noKeyUsage, nowMs),
      account_name: key.accountName ?? null,
    }),
  })
}
