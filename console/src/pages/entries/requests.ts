/** What the forms of the catalogue read, and the requests that change entries or try a channel before. */
import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'
import { readChannels } from '../../api/names.ts'
import type { CatalogueFieldsAnswer } from '../models/queries.ts'
import type { Entry, Section } from './entry.ts'

const limit = 1_000

/** What a change of the catalogue has read again. */
export const changedByCatalogue = [['catalogue'], ['models'], ['prices'], ['channels']] as const

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
      readChannels({ limit }),
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

/** Changes of entries by section and name: of each a merge patch, or null to retire it. */
export type CataloguePatch = { readonly [Name in Section]?: Readonly<Record<string, Entry | null>> }

interface Sending {
  /** As the form has read it: another operator's change of the same entries since then is a refusal. */
  readonly revision: string
  readonly isDryRun: boolean
}

export function sendPatch(patch: CataloguePatch, { revision, isDryRun }: Sending) {
  return bodyOf(
    api.PATCH('/admin/v1/catalogue', {
      params: { query: { dry_run: isDryRun, revision } },
      body: patch,
    }),
  )
}

export type Planned = Awaited<ReturnType<typeof sendPatch>>
export type EntryDiff = Planned['diff'][number]

/** Asks the vendor which models it lists. */
export function listVendorModels(channel: string, draft: CataloguePatch) {
  return bodyOf(
    api.POST('/admin/v1/channels/{channel}/models', {
      params: { path: { channel } },
      body: { draft },
    }),
  )
}

export type VendorModels = Awaited<ReturnType<typeof listVendorModels>>
export type VendorModel = VendorModels['models'][number]

/** Sends one tiny real request, which the vendor bills. Saves nothing. */
export function testChannel(channel: string, draft: CataloguePatch) {
  return bodyOf(
    api.POST('/admin/v1/channels/{channel}/test', {
      params: { path: { channel } },
      body: { draft },
    }),
  )
}

export type Tested = Awaited<ReturnType<typeof testChannel>>

/** Saves it only where it has served a request; `force` saves it untested. */
export function replaceCredential(channel: string, change: { credential: string; force: boolean }) {
  return bodyOf(
    api.PUT('/admin/v1/channels/{channel}/credential', {
      params: { path: { channel } },
      body: change,
    }),
  )
}

export function restoreCredential(channel: string) {
  return bodyOf(
    api.POST('/admin/v1/channels/{channel}/credential/restore', {
      params: { path: { channel } },
    }),
  )
}
