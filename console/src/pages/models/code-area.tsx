/** A text with line numbers, to read or to edit. */
import { useRef, type RefObject } from 'react'

interface CodeAreaProps {
  readonly label: string
  readonly text: string
  /** Lines with a mistake, counted from 1. */
  readonly mistakes: readonly number[]
  /** Without it the text is only read. */
  readonly onText?: (text: string) => void
  readonly area?: RefObject<HTMLTextAreaElement | null>
}

export function CodeArea({ label, text, mistakes, onText, area }: CodeAreaProps) {
  const numbers = useRef<HTMLDivElement>(null)
  const lineCount = text.split('\n').length
  return (
    <div className="models-code">
      <div ref={numbers} className="models-code-numbers" aria-hidden>
        {Array.from({ length: lineCount }, (_, index) => (
          <div key={index} data-mistake={mistakes.includes(index + 1) || undefined}>
            {index + 1}
          </div>
        ))}
      </div>
      <textarea
        ref={area}
        className="models-code-text"
        aria-label={label}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
        wrap="off"
        readOnly={onText === undefined}
        value={text}
        onChange={({ target }) => onText?.(target.value)}
        onScroll={({ currentTarget }) => {
          if (numbers.current !== null) numbers.current.scrollTop = currentTarget.scrollTop
        }}
      />
    </div>
  )
}
