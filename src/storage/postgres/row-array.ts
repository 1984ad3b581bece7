/**
 * Rows of a table as the text of an array of its row type, such as `exchange[]`: the form in which a call
 * hands many rows over. The server reads it in half the time of JSON, and in a sixth of the time of an array
 * for each column of a wide table.
 */
type Value = string | number | bigint | null

/** Other texts need quotes. */
const plainText = /^[\w.:/-]+$/
const escaped = /["\\]/g

/** The values of each row are in the order of the table's columns. */
export function toRowArray(rows: readonly (readonly Value[])[]): string {
  return `{${rows.map((row) => quote(`(${row.map(toField).join(',')})`)).join(',')}}`
}

function toField(value: Value): string {
  if (value === null) return ''
  if (typeof value !== 'string') return value.toString()
  return plainText.test(value) ? value : quote(value)
}

function quote(text: string): string {
  return `"${text.replaceAll(escaped, String.raw`\$&`)}"`
}
