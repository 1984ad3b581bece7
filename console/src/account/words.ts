/** Words of the API as a reader knows them. */
import type { Tone } from '../ui/card.tsx'

export const outcomes = [
  ['completed', 'Completed', 'good'],
  ['client_left', 'Left early', 'warn'],
  ['upstream_cut', 'Cut by vendor', 'bad'],
  ['gateway_cut', 'Cut by gateway', 'bad'],
  ['refused', 'Refused by vendor', 'warn'],
  ['failed', 'Failed', 'bad'],
  ['not_admitted', 'Refused by gateway', 'warn'],
] as const satisfies readonly (readonly [string, string, Tone])[]

export function outcomeOf(word: string): { readonly name: string; readonly tone: Tone } {
  const found = outcomes.find(([each]) => each === word)
  return found === undefined ? { name: word, tone: 'neutral' } : { name: found[1], tone: found[2] }
}

/** Classes of tokens and uses, in the order of a price list. */
const classNames: ReadonlyMap<string, string> = new Map([
  ['input', 'Input'],
  ['output', 'Output'],
  ['cache_read', 'Cache read'],
  ['cache_write_5m', 'Cache write, 5 min'],
  ['cache_write_1h', 'Cache write, 1 h'],
  ['input_audio', 'Audio input'],
  ['output_audio', 'Audio output'],
  ['cache_read_audio', 'Audio cache read'],
])

export function className(word: string): string {
  const text = classNames.get(word) ?? word.replaceAll('_', ' ')
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Returns the classes among `words` in the order of a price list, unknown ones last. */
export function inPriceOrder(words: Iterable<string>): readonly string[] {
  const order = [...classNames.keys()]
  const place = (word: string): number => {
    const found = order.indexOf(word)
    return found === -1 ? order.length : found
  }
  return [...words].sort((one, other) => place(one) - place(other) || (one < other ? -1 : 1))
}
