/** What the forms of the catalogue read: the entries that there are, and one entry to edit. */
import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'
import type { CatalogueFieldsAnswer } from '../models/queries.ts'
import type { Entry, Section } from './entry.ts'

const limit = 1_000

/** The vendors, models and channels as they are now, with the revision that a change sends back. */
export const catalogueListQuery = queryOptions({
  queryKey: ['catalogue', 'lists'],
  staleTime: 0,
  async queryFn() {
    const page = { params: { query: { limit } } }
    // The revision of the first answer may be too old for the others, which a change finds out.
    const vendors = await bodyOf(api.GET('/admin/v1/vendors', page))
    const [models, channels] = await Promise.all([
      bodyOf(api.GET('/admin/v1/models', page)),
      bodyOf(api.GET('/admin/v1/channels', page)),
    ])
    return {
      revision: vendors.revision,
      vendors: vendors.items,
      models: models.items,
      channels: channels.items,
    }
  },
})

export type CatalogueLists = Awaited<ReturnType<NonNullable<typeof catalogueListQuery.queryFn>>>

/** What each form is given. */
export interface FormFacts {
  readonly declared: CatalogueFieldsAnswer
  readonly lists: CatalogueLists
  readonly onClose: () => void
}

interface ReadEntry {
  readonly entry: Entry
  readonly revision: string
}

export function entryQuery(section: Section, name: string) {
  return queryOptions({
    queryKey: ['catalogue', 'entry', section, name],
    staleTime: 0,
    gcTime: 0,
    queryFn: () => readEntry(section, name),
  })
}

async function readEntry(section: Section, name: string): Promise<ReadEntry> {
  switch (section) {
    case 'vendors':
      return bodyOf(api.GET('/admin/v1/vendors/{vendor}', { params: { path: { vendor: name } } }))
    case 'models':
      return bodyOf(api.GET('/admin/v1/models/{model}', { params: { path: { model: name } } }))
    case 'channels':
      return bodyOf(
        api.GET('/admin/v1/channels/{channel}', { params: { path: { channel: name } } }),
      )
  }
}
