/**
 * Reads the files that operators send: catalogues, price lists, exports of vendors. A large one takes
 * seconds, so a thread reads it, and a gateway relays meanwhile. One is read at a time: each needs much
 * memory.
 */
import { runInThread, ThreadMemoryError } from '../base/thread.ts'
import { readCatalogueFile, type CatalogueFile } from './catalogue/file.ts'
import { conflict, invalid } from './operation.ts'
import { readPriceList, type PriceList } from './prices/community-list.ts'
import { readVendorCounts, type VendorExport } from './reconcile/vendor-counts.ts'
import type { Bucket } from './reconcile/vendor-files.ts'

export type FileOrder =
  | { readonly kind: 'catalogue'; readonly text: string }
  | { readonly kind: 'price_list'; readonly text: string }
  | { readonly kind: 'vendor_counts'; readonly texts: readonly string[]; readonly period: Bucket }

/** A thread takes longer to start than a file of this length takes to be read. */
const smallLengthMax = 16_384
const heapMbMax = 1_024
const waitingMax = 8

export function readCatalogueText(text: string): Promise<CatalogueFile> {
  return text.length <= smallLengthMax
    ? Promise.resolve(readCatalogueFile(text))
    : readInTurn<CatalogueFile>({ kind: 'catalogue', text })
}

/** Resolves with the list, or with the mistake in the file. */
export function readPriceText(text: string): Promise<PriceList | string> {
  return text.length <= smallLengthMax
    ? Promise.resolve(readPriceList(text))
    : readInTurn<PriceList | string>({ kind: 'price_list', text })
}

/** Resolves with the counts, or with the mistake in the files. */
export function readVendorTexts(
  texts: readonly string[],
  period: Bucket,
): Promise<VendorExport | string> {
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  return length <= smallLengthMax
    ? Promise.resolve(readVendorCounts(texts, period))
    : readInTurn<VendorExport | string>({ kind: 'vendor_counts', texts, period })
}

let waitingCount = 0
let last: Promise<unknown> = Promise.resolve()

async function readInTurn<Result>(order: FileOrder): Promise<Result> {
  if (waitingCount >= waitingMax)
    throw conflict('Several large files are being read already. Try again when they are done.')
  waitingCount++
  const url = new URL('./read-file-thread.ts', import.meta.url)
  const turn = last.then(() => runInThread<Result>(url, { order, heapMbMax }))
  last = turn.catch(() => undefined)
  try {
    return await turn
  } catch (error) {
    if (!(error instanceof ThreadMemoryError)) throw error
    throw invalid(`The file needs more than ${heapMbMax} MB of memory. Split it.`)
  } finally {
    waitingCount--
  }
}
