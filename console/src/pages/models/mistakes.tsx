/** Mistakes that the gateway found in the catalogue file; each leads to its line. */
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
  readonly onGoTo: (mistake: Mistake) => void
}

export function Mistakes({ mistakes, onGoTo }: MistakesProps) {
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
            <button type="button" className="models-line-link" onClick={() => onGoTo(mistake)}>
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
