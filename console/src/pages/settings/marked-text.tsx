/** A sentence of the reference: code between backticks, and links as their text. */
export function MarkedText({ text }: { text: string }) {
  const plain = text.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
  return plain
    .split('`')
    .map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))
}
