/** The names of accounts, models and channels, to choose from; and channels with all that is known. */
import { t } from '../messages/t.ts'
import type { NamesQuery } from '../ui/list/define.ts'
import { api, bodyOf } from './client.ts'
import { readAll } from './list.ts'

const limit = 1_000
/** More than any catalogue has; a list of this length ends. */
const countMax = 10_000

export const modelNamesQuery: NamesQuery = {
  queryKey: ['models', 'names'],
  staleTime: 60_000,
  async queryFn(): Promise<readonly string[]> {
    const models = await readAll(
      (cursor) => bodyOf(api.GET('/admin/v1/models', { params: { query: { limit, ...cursor } } })),
      countMax,
    )
    return models.map(({ id }) => id)
  },
}

export const channelNamesQuery: NamesQuery = {
  queryKey: ['catalogue', 'channel names'],
  staleTime: 60_000,
  async queryFn(): Promise<readonly string[]> {
    const channels = await readAll(
      (cursor) =>
        bodyOf(
          api.GET('/admin/v1/channels', {
            params: { query: { limit, fields: 'name', ...cursor } },
          }),
        ),
      countMax,
    )
    return channels.map(({ name }) => name)
  },
}

const suggestedMax = 12

/** Accounts are many: only those whose name has this part. */
function accountNamesQuery(part: string): NamesQuery {
  return {
    queryKey: ['accounts', 'names', part],
    staleTime: 60_000,
    async queryFn(): Promise<readonly string[]> {
      const query = { limit: suggestedMax, ...(part !== '' && { name_contains: part }) }
      const { items } = await bodyOf(api.GET('/admin/v1/accounts', { params: { query } }))
      return items.map(({ name }) => name)
    },
  }
}

/** Reads a page of channels with their settings, health and traffic. */
export async function readChannels(query: { readonly limit: number; readonly cursor?: string }) {
  const page = await bodyOf(api.GET('/admin/v1/channels', { params: { query } }))
  if ('revision' in page) return page
  throw new TypeError('the page of channels has only names')
}

const names = {
  account: accountNamesQuery,
  model: () => modelNamesQuery,
  channel: () => channelNamesQuery,
}

/** A filter by one of these names. */
export function nameFilter<Name extends keyof typeof names>(name: Name, label: string) {
  const placeholder = t(name === 'account' ? 'list.nameOrId' : 'list.any')
  return { kind: 'suggest', name, label, placeholder, suggestions: names[name] } as const
}
