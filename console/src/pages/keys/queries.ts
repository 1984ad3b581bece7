/** Reads and revokes keys of all accounts. */
import { api, bodyOf, csvAddressOf } from '../../api/client.ts'
import { readSecret } from '../../secret.ts'
import type { ListSearch } from './address.ts'

const pageSize = 50

type KeyQuery = Omit<ListSearch, 'open' | 'q'>

function queryOf({ open: _open, q, ...filter }: ListSearch): KeyQuery & Record<string, unknown> {
  const start = readSecret(q ?? '')
  return {
    ...filter,
    ...(start?.kind === 'head' && { head: start.head }),
    ...(q !== undefined && start === undefined && { name_contains: q }),
  }
}

export function readKeys(search: ListSearch) {
  const query = { ...queryOf(search), limit: pageSize }
  return (cursor: { cursor?: string }) =>
    bodyOf(api.GET('/admin/v1/keys', { params: { query: { ...query, ...cursor } } }))
}

/** All keys of the filter as a file. */
export function csvAddress(search: ListSearch): string {
  return csvAddressOf('/admin/v1/keys', queryOf(search))
}

export type Key = Awaited<ReturnType<ReturnType<typeof readKeys>>>['items'][number]

/** What people call it. */
export function nameOf({ name, head }: Pick<Key, 'name' | 'head'>): string {
  return name === '' ? head : name
}

export function revokeKey({ id, kind }: Pick<Key, 'id' | 'kind'>): Promise<unknown> {
  const params = { path: { id } }
  if (kind === 'client') return bodyOf(api.DELETE('/admin/v1/keys/{id}', { params }))
  return kind === 'reader'
    ? bodyOf(api.DELETE('/admin/v1/tokens/{id}', { params }))
    : bodyOf(api.DELETE('/admin/v1/admin-tokens/{id}', { params }))
}
