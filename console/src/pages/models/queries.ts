/** What the pages of models, prices and the catalogue read, and the requests that change whole files. */
import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'
import { readAll } from '../../api/list.ts'
import { readReport } from '../../api/reports.ts'

const limit = 1_000
/** More than any catalogue has. */
const countMax = 10_000

const page = (cursor: { cursor?: string }) => ({ params: { query: { limit, ...cursor } } })

export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: () => readAll((cursor) => bodyOf(api.GET('/admin/v1/models', page(cursor))), countMax),
})

export const pricesQuery = queryOptions({
  queryKey: ['prices'],
  queryFn: () => readAll((cursor) => bodyOf(api.GET('/admin/v1/prices', page(cursor))), countMax),
})

/** The figures of the last 30 days by model. */
export const figuresQuery = queryOptions({
  queryKey: ['reports', 'models', 'last 30 days'],
  queryFn: () => readReport({ by: 'model' }),
})

/** The catalogue as a file, with the tag that a change of it sends back. */
export const catalogueQuery = queryOptions({
  queryKey: ['catalogue'],
  async queryFn() {
    const asked = api.GET('/admin/v1/catalogue')
    const { text } = await bodyOf(asked)
    const { response } = await asked
    return { text, tag: response.headers.get('etag') }
  },
})

/** What entries of the catalogue are made of; it changes with the program only. */
export const fieldsQuery = queryOptions({
  queryKey: ['catalogue', 'fields'],
  staleTime: Infinity,
  queryFn: () => bodyOf(api.GET('/admin/v1/catalogue/fields')),
})

type ResultOf<Query extends { queryFn?: unknown }> =
  NonNullable<Query['queryFn']> extends (...given: never[]) => infer Result
    ? Awaited<Result>
    : never

export type Model = ResultOf<typeof modelsQuery>[number]
export type PriceVersion = ResultOf<typeof pricesQuery>[number]
export type CatalogueFieldsAnswer = ResultOf<typeof fieldsQuery>
export type CatalogueFile = ResultOf<typeof catalogueQuery>

/** Applies `text` only if the catalogue is still the one of `base`. */
export function sendCatalogue(text: string, base: CatalogueFile, isDryRun: boolean) {
  return bodyOf(
    api.PUT('/admin/v1/catalogue', {
      params: {
        query: { dry_run: isDryRun },
        header: base.tag === null ? {} : { 'If-Match': base.tag },
      },
      body: { text },
    }),
  )
}

export type CatalogueResult = Awaited<ReturnType<typeof sendCatalogue>>

export interface ImportRequest {
  /** A price list. */
  readonly text: string
  /** A UTC day; empty = at once. */
  readonly from: string
  /** Model → its name in the list. */
  readonly names: Readonly<Record<string, string>>
}

/** With `models` and the revision of what was shown, it imports these; else it shows the changes. */
export function sendImport(
  { text, from, names }: ImportRequest,
  chosen?: { readonly models: readonly string[]; readonly revision: string },
) {
  return bodyOf(
    api.POST('/admin/v1/prices/import', {
      body: {
        text,
        names: { ...names },
        ...(chosen !== undefined && { models: [...chosen.models], revision: chosen.revision }),
        ...(from !== '' && { valid_from: from }),
        dry_run: chosen === undefined,
      },
    }),
  )
}

export type ImportResult = Awaited<ReturnType<typeof sendImport>>
