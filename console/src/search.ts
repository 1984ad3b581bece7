/**
 * Reads the state that a page keeps in its address, by one declaration: a reader for each field. A wrong
 * value is left out, so that an old link still opens the page.
 */
export type Reader<Value> = (value: unknown) => Value | undefined

/** A text; the router gives digits as a number. */
export const text: Reader<string> = (value) => {
  if (typeof value === 'number') return String(value)
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function oneOf<const Word extends string>(words: readonly Word[]): Reader<Word> {
  return (value) => words.find((word) => word === value)
}

export const flag: Reader<true> = (value) => (value === true ? true : undefined)

/** A UTC day such as 2026-11-23. */
export const day: Reader<string> = (value) => {
  const given = text(value)
  return given !== undefined && /^\d{4}-\d\d-\d\d$/.test(given) ? given : undefined
}

type Readers = Readonly<Record<string, Reader<unknown>>>

/** The state of a page whose address has these fields. */
type StateOf<Fields extends Readers> = {
  readonly [Name in keyof Fields]?: NonNullable<ReturnType<Fields[Name]>>
}

/** The state that a reader made by `addressOf` reads. */
export type AddressOf<Read extends (search: Record<string, unknown>) => unknown> = ReturnType<Read>

/** Returns the reader of an address. Fields without a value are absent, so that the address stays short. */
export function addressOf<Fields extends Readers>(
  fields: Fields,
): (search: Record<string, unknown>) => StateOf<Fields> {
  return (search) =>
    compact(
      Object.fromEntries(Object.entries(fields).map(([name, read]) => [name, read(search[name])])),
    ) as StateOf<Fields>
}

export function textIn(search: Readonly<Record<string, unknown>>, name: string) {
  return text(search[name])
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
