/** A text that filters a list: it is handed on when the person has paused. */
import { useEffect, useRef, useState } from 'react'
import { withoutSecrets } from '../secret.ts'
import { TextField } from './field.tsx'

interface SearchFieldProps {
  readonly label: string
  /** The text in the address. */
  readonly value: string
  readonly onChange: (text: string) => void
  readonly placeholder?: string
  /** Takes a text that is no filter, such as a secret: true empties the field at once. */
  readonly take?: (text: string) => boolean
}

const pauseMs = 250

export function SearchField({ label, value, onChange, placeholder, take }: SearchFieldProps) {
  const [text, setText] = useState(value)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const handed = useRef(value)
  useEffect(() => {
    // The address has changed by another way, such as the browser's way back.
    if (value !== handed.current) setText(value)
    handed.current = value
  }, [value])
  useEffect(() => () => clearTimeout(timer.current), [])
  const change = (typed: string): void => {
    clearTimeout(timer.current)
    if (take?.(typed) === true) {
      setText('')
      return
    }
    const shown = withoutSecrets(typed)
    setText(shown)
    timer.current = setTimeout(() => {
      handed.current = shown.trim()
      onChange(handed.current)
    }, pauseMs)
  }
  return (
    <TextField
      label={label}
      type="search"
      placeholder={placeholder}
      value={text}
      onChange={change}
    />
  )
}
