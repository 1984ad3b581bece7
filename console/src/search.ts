/**
 * Reads the state that a page keeps in its address. A wrong value is left out, so that an old link
 * still opens the page.
 */
type Search = Readonly<Record<string, unknown>>

/** A text; the router gives digits as a number. */
export function textIn(search: Search, name: string): string | undefined {
  const value = search[name]
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function choiceIn<Word extends string>(
  search: Search,
  name: string,
  words: readonly Word[],
): Word | undefined {
  return words.find((word) => word === search[name])
}

/** Without its undefined fields, so that the address stays short. */
export function compact<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''),
  ) as { [Name in keyof Fields]?: NonNullable<Fields[Name]> }
}

/**
 * Returns a reader that drops from the address each value that `read` leaves out. The router would
 * otherwise hand it to the page as it came.
 */
export function withoutOthers<Page extends object>(
  read: (search: Record<string, unknown>) => Page,
): (search: Record<string, unknown>) => Page {
  return (search) => ({
    ...Object.fromEntries(Object.keys(search).map((name) => [name, undefined])),
    ...read(search),
  })
}
