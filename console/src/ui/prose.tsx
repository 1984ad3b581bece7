/** A text of the API in which backticks mark code; of links only the text shows. */
import { Fragment } from 'react'

export function Prose({ text }: { text: string }) {
  return text
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1')
    .split('`')
    .map((part, index) =>
      index % 2 === 1 ? <code key={index}>{part}</code> : <Fragment key={index}>{part}</Fragment>,
    )
}
