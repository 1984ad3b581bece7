/**
 * Reads the files that operators send: catalogues, price lists, exports of vendors. A large one takes
 * seconds, so a thread reads it, and a gateway relays meanwhile. One is read at a time: each needs much
 * memory.
 */
import { runInThread, ThreadMemoryError } from '../base/thread.ts'
import { readCatalogueFile } from './catalogue/file.ts'
import { conflict, invalid } from './operation.ts'
import { readPriceList } from './prices/community-list.ts'
import { readVendorCounts } from './reconcile/vendor-counts.ts'

/** Each takes text and returns plain data, which a thread can post. */
const readers = {
  catalogue: readCatalogueFile,
  priceList: readPriceList,
  vendorCounts: readVendorCounts,
}

type Readers = typeof readers

/** What a thread is to read. */
export interface FileOrder {
  readonly kind: keyof Readers
  readonly given: readonly unknown[]
}

/** A thread takes longer to start than a file of this length takes to be read. */
const smallLengthMax = 16_384
const heapMbMax = 1_024
const waitingMax = 8

/** Resolves with what the reader of this kind returns: the content, or the mistake in the file. */
export async function readFile<Kind extends keyof Readers>(
  kind: Kind,
  ...given: Parameters<Readers[Kind]>
): Promise<ReturnType<Readers[Kind]>> {
  const texts = given.flat().filter((one) => typeof one === 'string')
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  const read = length <= smallLengthMax ? carryOut({ kind, given }) : readInTurn({ kind, given })
  return (await read) as ReturnType<Readers[Kind]>
}

/** Reads here and now. */
export function carryOut({ kind, given }: FileOrder): unknown {
  const read = readers[kind] as (...texts: readonly unknown[]) => unknown
  return read(...given)
}

let waitingCount = 0
let last: Promise<unknown> = Promise.resolve()

async function readInTurn(order: FileOrder): Promise<unknown> {
  if (waitingCount >= waitingMax)
    throw conflict('Several large files are being read already. Try again when they are done.')
  waitingCount++
  const url = new URL('./read-file-thread.ts', import.meta.url)
  const turn = last.then(() => runInThread<unknown>(url, { order, heapMbMax }))
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
