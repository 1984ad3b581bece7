/** What the pages of models, prices and the catalogue read. */
import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'
import { readAll } from '../../api/list.ts'

const limit = 1_000
/** More than any catalogue has. */
const countMax = 10_000

export const modelsQuery = queryOptions({
  queryKey: ['models'],
  queryFn: () =>
    readAll(
      (cursor) => bodyOf(api.GET('/admin/v1/models', { params: { query: { limit, ...cursor } } })),
      countMax,
    ),
})

export const pricesQuery = queryOptions({
  queryKey: ['prices'],
  queryFn: () =>
    readAll(
      (cursor) => bodyOf(api.GET('/admin/v1/prices', { params: { query: { limit, ...cursor } } })),
      countMax,
    ),
})

/** The figures of the last 30 days by model. */
export const figuresQuery = queryOptions({
  queryKey: ['reports', 'models', 'last 30 days'],
  queryFn: () =>
    readAll(
      (cursor) =>
        bodyOf(
          api.GET('/admin/v1/reports', { params: { query: { by: 'model', limit, ...cursor } } }),
        ),
      countMax,
    ),
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
export type ModelFigures = ResultOf<typeof figuresQuery>[number]
export type CatalogueFieldsAnswer = ResultOf<typeof fieldsQuery>
export type CatalogueFile = ResultOf<typeof catalogueQuery>
