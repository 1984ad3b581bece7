/**
 * Reads a catalogue file and checks it as a whole. Pure; the result is plain data, which a thread can
 * post.
 */
import { readDocument, type Mistake } from './document.ts'
import { reviewCatalogue, type Catalogue } from './review.ts'

type Place = Pick<Mistake, 'line' | 'column'>

/** The fields of a channel that may refer to a secret. */
export type SecretKey = 'credential' | 'headers' | 'proxy'

export type CatalogueFile =
  | {
      readonly kind: 'catalogue'
      /** The valid entries; complete only where there are no mistakes. */
      readonly catalogue: Catalogue
      readonly mistakes: readonly Mistake[]
      /** The place of each secret that a channel sends its vendor, by the channel. */
      readonly places: ReadonlyMap<string, Readonly<Record<SecretKey, Place>>>
    }
  /** The text is not a file that could be checked. */
  | { readonly kind: 'mistakes'; readonly list: readonly Mistake[] }

export function readCatalogueFile(text: string): CatalogueFile {
  const read = readDocument(text)
  if (read.kind === 'mistakes') return read
  const { document, duplicates } = read
  const { catalogue, mistakes } = reviewCatalogue(document)
  const placeOf = (name: string, key: string): Place =>
    document.place(['channels', name, key], 'value')
  return {
    kind: 'catalogue',
    catalogue,
    mistakes: [...duplicates, ...mistakes],
    places: new Map(
      [...catalogue.channels.keys()].map((name) => [
        name,
        {
          credential: placeOf(name, 'credential'),
          headers: placeOf(name, 'headers'),
          proxy: placeOf(name, 'proxy'),
        },
      ]),
    ),
  }
}
