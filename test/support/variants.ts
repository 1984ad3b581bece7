/**
 * Which variants of a suite run. `npm test` runs those that can fail alone; `npm run test:long` runs all of
 * them: each format, width, language and engine with each case.
 */

const isLong = process.env['TURNPIKE_TEST_LONG'] === '1'

/** All of `list`, or in `npm test` those that `isNeeded` names. */
export function variants<Item>(
  list: readonly Item[],
  isNeeded: (item: Item) => boolean,
): readonly Item[] {
  return isLong ? list : list.filter(isNeeded)
}

/** How often something is repeated: `all` times, or in `npm test` only `few` times. */
export function volume(amounts: { readonly few: number; readonly all: number }): number {
  return isLong ? amounts.all : amounts.few
}
