/**
 * Finds the key that an operation is about, or refuses with a sentence that helps. Also the models that a key
 * may be limited to.
 */
import { headOf, type KeyKind } from '../../access/key.ts'
import { findKey, type KeyRow } from '../../access/key-store.ts'
import { isInUse, readCatalogue } from '../../channels/channel-store.ts'
import type { Queryable } from '../../storage/database.ts'
import { reachesKey } from '../members/acting-member.ts'
import { conflict, invalidField, notFound, type OperationContext } from '../operation.ts'

/** A key that the caller may not reach is as unknown as one that does not exist. */
export async function getKey(
  context: OperationContext,
  queryable: Queryable,
  { id, kind }: { readonly id: string; readonly kind: KeyKind },
  adviseFor?: (word: string) => string,
): Promise<KeyRow> {
  const found = await findKey(queryable, id)
  const key = found !== undefined && reachesKey(context, found) ? found : undefined
  if (key?.kind !== kind) throw noSuchKey(id, kind, key?.kind, adviseFor)
  return key
}

/** The same of a key for model requests that is not revoked. */
export async function getUsableKey(
  context: OperationContext,
  queryable: Queryable,
  id: string,
): Promise<KeyRow> {
  const key = await getKey(context, queryable, { id, kind: 'client' })
  if (key.revokedAtMs === undefined) return key
  throw conflict(`The key ${id} is revoked. Create a new one.`)
}

export async function requireModels(queryable: Queryable, ids: readonly string[]): Promise<void> {
  const { models } = await readCatalogue(queryable)
  const known = models.filter(isInUse).map((model) => model.id)
  const unknown = ids.filter((id) => !known.includes(id))
  if (unknown.length === 0) return
  const list =
    known.length === 0 ? 'the catalogue has no models yet' : `choose from ${known.join(', ')}`
  throw invalidField('models', `unknown: ${unknown.join(', ')}; ${list}`)
}

const kindWords: Readonly<Record<KeyKind, string>> = {
  client: 'key',
  reader: 'token',
  admin: 'admin-token',
}

const articles: Readonly<Record<KeyKind, string>> = { client: 'a', reader: 'a', admin: 'an' }

/** Matches a mistyped secret too: it is too close to a real one to be shown. */
const secretLike = /^(?:cr|ro|ad)_/

function noSuchKey(
  id: string,
  kind: KeyKind,
  actual: KeyKind | undefined,
  adviseFor: (word: string) => string = () => '',
): Error {
  const word = kindWords[kind]
  if (secretLike.test(id))
    return notFound(`${headOf(id)} is a secret, not an id. turnpike ${word} list shows its id.`)
  if (actual === undefined) return notFound(`There is no ${word} with the id ${id}.`)
  const other = kindWords[actual]
  return notFound(
    `${id} is ${articles[actual]} ${other}, not ${articles[kind]} ${word}.${adviseFor(other)}`,
  )
}
