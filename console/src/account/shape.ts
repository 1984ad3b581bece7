/** Checks answers of the gateway where they come in, so that the rest of the page can trust their types. */
export type Shape<Value> = (given: unknown) => Value

export type ValueOf<Of> = Of extends Shape<infer Value> ? Value : never

export const text: Shape<string> = (given) => {
  if (typeof given !== 'string') throw new Error('The answer has no text where one belongs.')
  return given
}

export const number: Shape<number> = (given) => {
  if (typeof given !== 'number') throw new Error('The answer has no number where one belongs.')
  return given
}

export const truth: Shape<boolean> = (given) => given === true

export function nullable<Value>(shape: Shape<Value>): Shape<Value | null> {
  return (given) => (given === null || given === undefined ? null : shape(given))
}

export function list<Value>(shape: Shape<Value>): Shape<readonly Value[]> {
  return (given) => {
    if (!Array.isArray(given)) throw new Error('The answer has no list where one belongs.')
    return given.map(shape)
  }
}

/** Values by any names. */
export function table<Value>(shape: Shape<Value>): Shape<Readonly<Record<string, Value>>> {
  return (given) =>
    Object.fromEntries(Object.entries(fieldsOf(given)).map(([name, value]) => [name, shape(value)]))
}

/** Fields that are not named here are left out. */
export function record<Fields extends Readonly<Record<string, Shape<unknown>>>>(
  shapes: Fields,
): Shape<{ readonly [Name in keyof Fields]: ValueOf<Fields[Name]> }> {
  return (given) => {
    const fields = fieldsOf(given)
    const checked = Object.entries(shapes).map(([name, shape]) => [name, shape(fields[name])])
    // Object.fromEntries does not keep which name has which type.
    return Object.fromEntries(checked) as { [Name in keyof Fields]: ValueOf<Fields[Name]> }
  }
}

export function fieldsOf(given: unknown): Readonly<Record<string, unknown>> {
  if (typeof given !== 'object' || given === null)
    throw new Error('The answer has no object where one belongs.')
  return Object.fromEntries(Object.entries(given))
}
