/** Mistakes that the gateway found in the catalogue file; each leads to its line. */
import type { RefObject } from 'react'
import { Problem } from '../../api/client.ts'
import { Notice } from '../../ui/card.tsx'

export interface Mistake {
  readonly line: number
  readonly column: number
  /** Such as `channels.alpha-main.url`; empty for the file as a whole. */
  readonly path: string
  readonly message: string
}

export function mistakesOf(error: unknown): readonly Mistake[] {
  return error instanceof Problem ? error.mistakes.filter(isMistake) : []
}

function isMistake(value: unknown): value is Mistake {
  return (
    typeof value === 'object' &&
    value !== null &&
    'line' in value &&
    typeof value.line === 'number' &&
    'column' in value &&
    typeof value.column === 'number' &&
    'path' in value &&
    typeof value.path === 'string' &&
    'message' in value &&
    typeof value.message === 'string'
  )
}

interface MistakesProps {
  readonly mistakes: readonly Mistake[]
  readonly area: RefObject<HTMLTextAreaElement | null>
}

export function Mistakes({ mistakes, area }: MistakesProps) {
  return (
    <Notice tone="bad">
      <p>
        <strong>
          {mistakes.length === 1 ? 'One mistake' : `${mistakes.length} mistakes`} in the file.
        </strong>{' '}
        Nothing was changed.
      </p>
      <ul className="models-mistakes">
        {mistakes.map((mistake, index) => (
          <li key={index}>
            <button
              type="button"
              className="models-line-link"
              onClick={() => {
                if (area.current !== null) goTo(area.current, mistake)
              }}
            >
              Line {mistake.line}
            </button>{' '}
            {mistake.path !== '' && <code className="break">{mistake.path}: </code>}
            {mistake.message}
          </li>
        ))}
      </ul>
    </Notice>
  )
}

/** Puts the cursor at the mistake, and its line into view. */
function goTo(area: HTMLTextAreaElement, { line, column }: Mistake): void {
  const before = area.value.split('\n').slice(0, line - 1)
  const start = before.reduce((sum, each) => sum + each.length + 1, 0)
  const end = area.value.indexOf('\n', start)
  area.focus()
  area.setSelectionRange(start + column - 1, end < 0 ? area.value.length : end)
  const lineHeight = Number.parseFloat(getComputedStyle(area).lineHeight)
  area.scrollTop = Math.max((line - 1) * lineHeight - area.clientHeight / 3, 0)
  area.scrollIntoView({ block: 'nearest' })
}
