/** Requests that change prices and the catalogue, or only show the changes. */
import type { QueryClient } from '@tanstack/react-query'
import { api, bodyOf, Problem } from '../../api/client.ts'
import { catalogueQuery, type CatalogueFile } from './queries.ts'

export interface ImportRequest {
  /** A price list. */
  readonly text: string
  /** A UTC day; empty = at once. */
  readonly from: string
  /** Model → its name in the list. */
  readonly names?: Readonly<Record<string, string>>
  /** All where absent. */
  readonly models?: readonly string[] | undefined
}

function sendImport(
  { text, from, names, models }: ImportRequest,
  tag: string | null,
  isDryRun: boolean,
) {
  return bodyOf(
    api.POST('/admin/v1/prices/import', {
      params: { header: tag === null ? {} : { 'If-Match': tag } },
      body: {
        text,
        names: { ...names },
        ...(models !== undefined && { models: [...models] }),
        ...(from !== '' && { valid_from: from }),
        dry_run: isDryRun,
      },
    }),
  )
}

export type ImportResult = Awaited<ReturnType<typeof sendImport>>

export interface PlannedImport {
  readonly request: ImportRequest
  readonly result: ImportResult
  /** Of the catalogue that the changes were computed from. */
  readonly tag: string | null
}

/** Asks what an import would change. Writes nothing. */
export async function planImport(
  client: QueryClient,
  request: ImportRequest,
): Promise<PlannedImport> {
  // The tag is read first: it may be too old, which applying finds out, but never too new.
  const { tag } = await client.fetchQuery({ ...catalogueQuery, staleTime: 0 })
  return { request, result: await sendImport(request, null, true), tag }
}

/** Imports the prices, only if no other operator has changed the catalogue since. */
export function applyImport(
  { request, tag }: PlannedImport,
  models = request.models,
): Promise<ImportResult> {
  return sendImport({ ...request, models }, tag, false)
}

/** Whether another operator has changed the catalogue since it was read. */
export function isOutdated(error: Error): boolean {
  return error instanceof Problem && error.status === 412
}

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

const changedWords: readonly unknown[] = ['catalogue', 'models', 'prices', 'channels']

/** Has everything that the catalogue decides read again. */
export function refreshCatalogue(client: QueryClient): Promise<void> {
  return client.invalidateQueries({
    predicate: ({ queryKey: [word] }) => changedWords.includes(word),
  })
}
