/** A filter with suggestions, some of which are looked up while a person types. */
import { Autocomplete } from '@base-ui/react/autocomplete'
import { useState } from 'react'
import { withoutSecrets } from '../secret.ts'
import { Field, type FieldProps } from './field.tsx'

export interface Suggestion {
  readonly value: string
  /** Shown in place of the value, such as the name that belongs to an id. */
  readonly text?: string
}

interface SuggestProps extends FieldProps {
  readonly value: string
  readonly suggestions: readonly Suggestion[]
  readonly onApply: (value: string) => void
  /** Each text on the way to a value, for suggestions that are looked up. */
  readonly onTyped?: (text: string) => void
  readonly placeholder?: string
}

/**
 * A text with suggestions. Its value is applied when a suggestion is chosen, by Enter, and when the focus
 * leaves it: half a name is no filter.
 */
export function SuggestField(props: SuggestProps) {
  const { label, hint, error, value, suggestions, onApply, onTyped, placeholder } = props
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
  const change = (typed: string, reason: string): void => {
    const given = withoutSecrets(typed)
    setText(given)
    onTyped?.(given)
    if (given === '' || reason === 'item-press') apply(given)
  }
  return (
    <Field label={label} hint={hint} error={error}>
      {(wired) => (
        <Autocomplete.Root
          items={suggestions}
          value={text}
          openOnInputClick
          itemToStringValue={(one: Suggestion) => one.value}
          filter={(one: Suggestion, query) => isLike(one, query)}
          onValueChange={(typed, { reason }) => change(typed, reason)}
        >
          <Autocomplete.Input
            {...wired}
            className="input"
            type="search"
            spellCheck={false}
            placeholder={placeholder}
            onBlur={() => apply(text)}
            onKeyDown={({ key }) => key === 'Enter' && apply(text)}
          />
          <Autocomplete.Portal>
            <Autocomplete.Positioner className="menu-place" align="start" sideOffset={4}>
              <Autocomplete.Popup className="menu">
                <Autocomplete.List>
                  {(one: Suggestion) => (
                    <Autocomplete.Item
                      key={one.value}
                      value={one}
                      data-value={one.value}
                      className="menu-item"
                    >
                      {one.text ?? one.value}
                    </Autocomplete.Item>
                  )}
                </Autocomplete.List>
              </Autocomplete.Popup>
            </Autocomplete.Positioner>
          </Autocomplete.Portal>
        </Autocomplete.Root>
      )}
    </Field>
  )
}

function isLike({ value, text = '' }: Suggestion, query: string): boolean {
  return `${value} ${text}`.toLowerCase().includes(query.toLowerCase())
}
