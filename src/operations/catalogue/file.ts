/**
 * Reads a catalogue file and checks it as a whole. Pure. The invariant: every mistake in the file is
 * reported with its line.
 */
import { isObject } from '../../base/object.ts'
import { invalidFile } from '../operation.ts'
import { readDocument, type Fault, type Mistake } from './document.ts'
import { reviewCatalogue, type Catalogue } from './review.ts'
import { readRevision } from './revision.ts'

/** A catalogue to apply in place of the stored one. */
export interface Draft {
  /** The valid entries; complete only where nothing is refused. */
  readonly catalogue: Catalogue
  /** Returns the refusal for all faults of the draft and for these; undefined where there are none. */
  refuse(others: readonly Fault[]): Error | undefined
}

export interface CatalogueFile extends Draft {
  /** The revision that the file's export has written; undefined where the file has none. */
  readonly revision: string | undefined
}

/** Throws the refusal of a text that is no file to check. */
export async function readCatalogueFile(text: string): Promise<CatalogueFile> {
  const read = readDocument(text)
  if (read.kind === 'mistakes') throw hasMistakes(read.list)
  const { document, duplicates } = read
  const { catalogue, faults: found } = await reviewCatalogue(document.value)
  const revision = revisionOf(document.value)
  const faults = typeof revision === 'object' ? [...found, revision] : found
  return {
    catalogue,
    revision: typeof revision === 'object' ? undefined : revision,
    refuse(others) {
      const located = [...faults, ...others].map((fault) => document.locate(fault))
      const list = [...duplicates, ...located]
      return list.length === 0 ? undefined : hasMistakes(inFileOrder(list))
    },
  }
}

function revisionOf(value: unknown): string | Fault | undefined {
  const given = isObject(value) ? value['revision'] : undefined
  if (given === undefined || given === null) return undefined
  const text = typeof given === 'number' ? `${given}` : given
  if (typeof text === 'string' && readRevision(text) !== undefined) return text
  const message = 'must be the revision that an export has written; leave it out of a new file'
  return { path: ['revision'], message, prefer: 'value' }
}

function inFileOrder(mistakes: readonly Mistake[]): readonly Mistake[] {
  return mistakes.toSorted((left, right) => left.line - right.line || left.column - right.column)
}

/** More than an operator reads at once. */
const mistakesMax = 1_000

function hasMistakes(all: readonly Mistake[]): Error {
  const list = all.slice(0, mistakesMax)
  const lines = list.map(
    ({ line, column, path, message }) =>
      `line ${line}, column ${column}: ${path === '' ? '' : `${path}: `}${message}`,
  )
  if (all.length > list.length) lines.push(`and ${all.length - list.length} more mistakes`)
  return invalidFile(
    `Nothing was applied, because the file has mistakes:\n${lines.join('\n')}`,
    list,
  )
}
