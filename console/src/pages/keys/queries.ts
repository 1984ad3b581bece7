/** Reads and revokes keys of all accounts. */
import { api, bodyOf } from '../../api/client.ts'
import { readSecret } from '../../secret.ts'
import type { ListSearch } from './address.ts'

const pageSize = 50

export function readKeys({ q, ...filter }: ListSearch) {
  const start = readSecret(q ?? '')
  const query = {
    ...filter,
    ...(start?.kind === 'head' && { head: start.head }),
    ...(q !== undefined && start === undefined && { name_contains: q }),
    limit: pageSize,
  }
  return (cursor: { cursor?: string }) =>
    bodyOf(api.GET('/admin/v1/keys', { params: { query: { ...query, ...cursor } } }))
}

export type Key = Awaited<ReturnType<ReturnType<typeof readKeys>>>['items'][number]

export const kindNames: Readonly<Record<Key['kind'], string>> = {
  client: 'key',
  reader: 'read-only token',
  admin: 'admin token',
}

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
