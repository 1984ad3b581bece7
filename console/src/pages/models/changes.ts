/** Requests that change prices and the catalogue, or only show the changes. */
import type { QueryClient } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'
import type { CatalogueFile } from './queries.ts'

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

export function sendImport({ text, from, names, models }: ImportRequest, isDryRun: boolean) {
  return bodyOf(
    api.POST('/admin/v1/prices/import', {
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
