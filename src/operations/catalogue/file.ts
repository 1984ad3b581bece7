/**
 * Reads a catalogue file and checks it as a whole. Pure; the result is plain data, which a thread can
 * post.
 */
import { readDocument, type Mistake } from './document.ts'
import { reviewCatalogue, type Catalogue } from './review.ts'

type Place = Pick<Mistake, 'line' | 'column'>

export type CatalogueFile =
  | {
      readonly kind: 'catalogue'
      /** The valid entries; complete only where there are no mistakes. */
      readonly catalogue: Catalogue
      readonly mistakes: readonly Mistake[]
      /** Where the credential of each channel stands. */
      readonly credentialPlaces: ReadonlyMap<string, Place>
    }
  /** The text is not a file that could be checked. */
  | { readonly kind: 'mistakes'; readonly list: readonly Mistake[] }

export function readCatalogueFile(text: string): CatalogueFile {
  const read = readDocument(text)
  if (read.kind === 'mistakes') return read
  const { document, duplicates } = read
  const { catalogue, mistakes } = reviewCatalogue(document)
  const placeOf = (name: string): Place => document.place(['channels', name, 'credential'], 'value')
  return {
    kind: 'catalogue',
    catalogue,
    mistakes: [...duplicates, ...mistakes],
    credentialPlaces: new Map([...catalogue.channels.keys()].map((name) => [name, placeOf(name)])),
  }
}
