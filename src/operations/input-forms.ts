/**
 * What the OpenAPI document says about inputs that are text with a meaning: amounts, counts, times, and
 * durations. Pure. A schema decides by its own code; these forms describe the same set, as far as JSON
 * Schema can.
 */

type Form = Readonly<Record<string, unknown>>

/** The forms of `pattern` are anchored and know Unicode, as JSON Schema wants. */
export function printableForm(lengths: { readonly min?: number; readonly max: number }): Form {
  const { min = 0, max } = lengths
  return {
    ...(min > 0 && { minLength: min }),
    maxLength: max,
    pattern: String.raw`^[^\p{C}\u2028\u2029]*${min > 0 ? String.raw`[^\p{C}\p{Z}][^\p{C}\u2028\u2029]*` : ''}$`,
  }
}

/** Printable lines with something in them. */
export function linesForm({ max }: { readonly max: number }): Form {
  const sign = String.raw`(?:[^\p{C}\u2028\u2029]|\n)`
  const pattern = String.raw`^${sign}*[^\p{C}\p{Z}]${sign}*$`
  return { minLength: 1, maxLength: max, pattern }
}

interface Range {
  readonly min: number
  readonly max: number
}

/** A whole number, or the same as text; no number is negative. */
export function wholeNumberForm({ min, max }: Range): Form {
  const text = { type: 'string', pattern: `^(${digitsOf(min, max)})$` }
  return { anyOf: [text, { type: 'integer', minimum: min, maximum: max }] }
}

interface Amounts extends Range {
  /** False where 0 is no amount. */
  readonly hasZero: boolean
}

/** USD. A JSON number holds six decimals of every amount; text holds twelve. */
export function usdForm({ min, max, hasZero }: Amounts): Form {
  const sign = min < 0 ? '-?' : ''
  const fraction = String.raw`(\.\d{1,12})?`
  const whole = `(${digitsOf(hasZero ? 0 : 1, max - 1)})${fraction}|${max}`
  const text = hasZero ? whole : String.raw`${whole}|0\.\d{0,11}[1-9]`
  const step = 0.000_001
  const number = (bounds: Form): Form => ({ type: 'number', multipleOf: step, ...bounds })
  const numbers = hasZero
    ? [number({ minimum: min, maximum: max })]
    : [
        number({ minimum: step, maximum: max }),
        ...(min < 0 ? [number({ minimum: min, maximum: -step })] : []),
      ]
  return { anyOf: [{ type: 'string', pattern: `^${sign}(${text})$` }, ...numbers] }
}

/** A factor with at most six decimals. */
export const factorForm: Form = {
  anyOf: [
    { type: 'string', pattern: String.raw`^\d{1,3}(\.\d{1,6})?$` },
    { type: 'number', minimum: 0, maximum: 999, multipleOf: 0.000_001 },
  ],
}

/** A day, or a time with its zone. */
export const dateForm: Form = {
  type: 'string',
  anyOf: [{ format: 'date' }, { format: 'date-time' }],
}

/** Returns the pattern of the whole numbers from `min`, below 10, to `max`, without leading zeros. */
function digitsOf(min: number, max: number): string {
  const digits = String(max)
  const rest = (count: number): string => (count === 0 ? '' : String.raw`\d{${count}}`)
  const shorter =
    digits.length === 1
      ? []
      : min <= 1
        ? [String.raw`[1-9]\d{0,${digits.length - 2}}`]
        : [
            `[${min}-9]`,
            ...(digits.length > 2 ? [String.raw`[1-9]\d{1,${digits.length - 2}}`] : []),
          ]
  const asLong = Array.from(digits).flatMap((digit, index) => {
    const least = index === 0 ? 1 : 0
    const below = Number(digit) - 1
    if (below < least) return []
    return [`${digits.slice(0, index)}[${least}-${below}]${rest(digits.length - 1 - index)}`]
  })
  return [...(min === 0 ? ['0'] : []), ...shorter, ...asLong, digits].join('|')
}
