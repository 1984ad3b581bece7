/**
 * One search over accounts, keys, requests, channels and models, by name or id. It answers a few of each
 * kind, so it costs the same on any store but for the names of accounts and keys, which it reads once. A
 * whole secret is hashed as soon as the input is read.
 */
import { z } from 'zod'
import { parseSecret, traceSecret, type SecretTrace } from '../../access/key.ts'
import { listAllKeys, type KeysQuestion, type ListedKey } from '../../access/key-list.ts'
import { readCatalogueNames, type CatalogueName } from '../../channels/channel-store.ts'
import { searchAccounts } from '../../ledger/account-store.ts'
import { findExchange } from '../../ledger/exchange-store.ts'
import { fits, type Fit, type Queryable } from '../../storage/database.ts'
import { type Answer } from '../answer-forms.ts'
import { stateOf } from '../keys/key-view.ts'
import { operation } from '../operation.ts'

/** Of each kind. */
const hitsMax = 6

const hitForm = z.strictObject({
  kind: z.enum(['account', 'key', 'request', 'channel', 'model']),
  id: z.string().meta({ description: 'By which other endpoints know it.' }),
  name: z
    .string()
    .meta({ description: 'Of a key without a name its head; of a request its model.' }),
  account_name: z.string().nullable().meta({ description: 'Of a key or a request.' }),
  detail: z.string().nullable().meta({
    description:
      'Status of an account, head of a key, outcome of a request, vendor of a channel or model.',
  }),
  state: z.enum(['active', 'expired', 'revoked']).nullable().meta({ description: 'Of a key.' }),
})

type Hit = Answer<typeof hitForm>

/** A hit with how well it fits. */
interface Found {
  readonly hit: Hit
  readonly fit: Fit
}

interface Searched {
  /** Undefined for a whole secret, which no name has. */
  readonly text: string | undefined
  readonly trace: SecretTrace | undefined
}

const searchText = z
  .string('must be text')
  .min(1, 'must not be empty')
  .max(256, 'is too long')
  .transform((given): Searched => {
    const text = given.trim()
    const isSecret = parseSecret(text) !== undefined
    return { text: isSecret || text === '' ? undefined : text, trace: traceSecret(text) }
  })
  .describe('A name or a part of one, an id, or how a secret begins.')

export const search = operation(
  {
    input: z.strictObject({ text: searchText }),
    answer: z.strictObject({
      items: z.array(hitForm).meta({ description: 'The best fit first, a few of each kind.' }),
    }),
  },
  ({ database, clock }, { text: searched }) =>
    database.snapshot(async (snapshot) => {
      const found = [
        ...(await findAccounts(snapshot, searched)),
        ...(await findKeys(snapshot, searched, clock.now())),
        ...(await findRequests(snapshot, searched)),
        ...(await findInCatalogue(snapshot, searched)),
      ]
      return { items: found.sort((left, right) => left.fit - right.fit).map(({ hit }) => hit) }
    }),
)

const nothing = { account_name: null, detail: null, state: null } as const

async function findAccounts(snapshot: Queryable, { text }: Searched): Promise<readonly Found[]> {
  if (text === undefined) return []
  const accounts = await searchAccounts(snapshot, { text, countMax: hitsMax })
  return accounts.map(({ id, name, status, fit }) => ({
    fit,
    hit: { ...nothing, kind: 'account', id, name, detail: status },
  }))
}

async function findKeys(
  snapshot: Queryable,
  { text, trace }: Searched,
  nowMs: number,
): Promise<readonly Found[]> {
  const found = new Map<string, Found>()
  const add = async (
    by: Omit<KeysQuestion, 'nowMs' | 'countMax' | 'order'>,
    fitOf: (key: ListedKey) => Fit,
  ): Promise<void> => {
    const question: KeysQuestion = { order: 'asc', ...by, nowMs, countMax: hitsMax }
    for (const key of await listAllKeys(snapshot, question))
      if (!found.has(key.id)) found.set(key.id, { fit: fitOf(key), hit: hitOfKey(key, nowMs) })
  }
  if (trace?.hash !== undefined)
    await add({ secretHash: trace.hash, sort: 'created' }, () => fits.whole)
  if (trace?.headStart !== undefined && trace.headStart.length > headPrefixLength)
    await add({ headStart: trace.headStart, sort: 'created' }, () => fits.beginning)
  if (text !== undefined) {
    if (text.startsWith('key_')) await add({ id: text, sort: 'created' }, () => fits.whole)
    await add({ nameContains: text, sort: 'fit' }, ({ key: [fit] }) => Number(fit) as Fit)
  }
  return [...found.values()].slice(0, hitsMax)
}

/** `cr_` alone begins every key. */
const headPrefixLength = 3

function hitOfKey(key: ListedKey, nowMs: number): Hit {
  return {
    kind: 'key',
    id: key.id,
    name: key.name === '' ? key.head : key.name,
    account_name: key.accountName ?? null,
    detail: key.head,
    state: stateOf(key, nowMs),
  }
}

/** Ids of requests have no spaces, and no name of another thing is so long that this would matter. */
const requestId = /^[\w.:-]{6,}$/

async function findRequests(snapshot: Queryable, { text }: Searched): Promise<readonly Found[]> {
  if (text === undefined || !requestId.test(text)) return []
  const exchange = await findExchange(snapshot, { id: text })
  if (exchange === undefined) return []
  const { exchangeId: id, model, askedModel, accountName, ending } = exchange
  const name = model ?? askedModel ?? id
  const hit: Hit = {
    ...nothing,
    kind: 'request',
    id,
    name,
    account_name: accountName,
    detail: ending,
  }
  return [{ fit: fits.whole, hit }]
}

async function findInCatalogue(snapshot: Queryable, { text }: Searched): Promise<readonly Found[]> {
  if (text === undefined) return []
  const { channels, models } = await readCatalogueNames(snapshot)
  const fitting = (kind: 'channel' | 'model', names: readonly CatalogueName[]): Found[] =>
    names
      .flatMap(({ name, vendor }) => {
        const fit = fitOf(name, text)
        const hit: Hit = { ...nothing, kind, id: name, name, detail: vendor }
        return fit === undefined ? [] : [{ fit, hit }]
      })
      .sort((left, right) => left.fit - right.fit)
      .slice(0, hitsMax)
  return [...fitting('channel', channels), ...fitting('model', models)]
}

/** As `fitSql` does it. */
function fitOf(name: string, text: string): Fit | undefined {
  const [given, asked] = [name.toLowerCase(), text.toLowerCase()]
  const place = given.indexOf(asked)
  if (place === -1) return undefined
  if (place > 0) return fits.part
  return given.length === asked.length ? fits.whole : fits.beginning
}
