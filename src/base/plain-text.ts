/** Text of values in tables and files. */

/** Formats a number without an exponent: `0.00000022`. The smallest amounts have twelve decimals. */
export function plainText(value: string | number | boolean): string {
  const text = String(value)
  return typeof value === 'number' && text.includes('e-')
    ? value.toFixed(12).replace(/\.?0+$/, '')
    : text
}
