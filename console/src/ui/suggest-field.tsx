/**
 * A filter with suggestions. Its value is applied when a suggestion is chosen, by Enter, and when the focus
 * leaves it: half a name is no filter.
 */
import { useId, useState } from 'react'
import { withoutSecrets } from '../secret.ts'
import { TextField } from './field.tsx'

export interface Suggestion {
  readonly value: string
  /** Shown beside the value, such as the name that belongs to an id. */
  readonly text?: string
}

interface SuggestFieldProps {
  readonly label: string
  readonly value: string
  readonly suggestions: readonly Suggestion[]
  readonly onApply: (value: string) => void
  /** Each text on the way to a value, for suggestions that are looked up. */
  readonly onTyped?: (text: string) => void
  readonly placeholder?: string
}

export function SuggestField(props: SuggestFieldProps) {
  const { label, value, suggestions, onApply, onTyped, placeholder } = props
  const id = useId()
  const [text, setText] = useState(value)
  const [shown, setShown] = useState(value)
  // The address has changed by another way, such as a link.
  if (shown !== value) {
    setShown(value)
    setText(value)
  }
  const apply = (given: string): void => {
    if (given.trim() !== value) onApply(given.trim())
  }
  const change = (typed: string): void => {
    const given = withoutSecrets(typed)
    setText(given)
    onTyped?.(given)
    if (given === '' || suggestions.some((each) => each.value === given)) apply(given)
  }
  return (
    <>
      <TextField
        label={label}
        type="search"
        list={id}
        spellCheck={false}
        placeholder={placeholder}
        value={text}
        onChange={change}
        onBlur={() => apply(text)}
        onKeyDown={({ key }) => key === 'Enter' && apply(text)}
      />
      <datalist id={id}>
        {suggestions.map((each) => (
          <option key={each.value} value={each.value}>
            {each.text}
          </option>
        ))}
      </datalist>
    </>
  )
}
