/** Text to be copied, and secrets that are shown once. */
import { Check, Copy } from 'lucide-react'
import { useState, type ReactNode } from 'react'
import { Button, IconButton } from './button.tsx'
import { Notice } from './card.tsx'
import './copy.css'

const doneMs = 2_000

function useCopy(text: string): readonly [isDone: boolean, copy: () => void] {
  const [isDone, setIsDone] = useState(false)
  const copy = async (): Promise<void> => {
    await copyText(text)
    setIsDone(true)
    setTimeout(() => setIsDone(false), doneMs)
  }
  return [isDone, () => void copy()]
}

/** For a text in a line, such as an id. */
export function CopyIcon({ text, label }: { text: string; label: string }) {
  const [isDone, copy] = useCopy(text)
  return (
    <IconButton label={isDone ? 'Copied' : label} onClick={copy}>
      {isDone ? <Check aria-hidden /> : <Copy aria-hidden />}
    </IconButton>
  )
}

export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [isDone, copy] = useCopy(text)
  return (
    <Button onClick={copy}>
      {isDone ? <Check aria-hidden /> : <Copy aria-hidden />}
      <span aria-live="polite">{isDone ? 'Copied' : label}</span>
    </Button>
  )
}

/** Browsers offer the clipboard only over https and on loopback; elsewhere the old way still works. */
async function copyText(text: string): Promise<void> {
  if (window.isSecureContext) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

/** A secret directly after it was made; the gateway does not keep it. */
export function SecretOnce({ secret, children }: { secret: string; children?: ReactNode }) {
  return (
    <div className="stack">
      <Notice tone="warn">Copy it now. It is not shown again.</Notice>
      <div className="secret">
        <code className="break">{secret}</code>
        <CopyButton text={secret} />
      </div>
      {children}
    </div>
  )
}

/** Lines for a terminal or an editor. */
export function Snippet({ text, label }: { text: string; label: string }) {
  return (
    <div className="snippet">
      {/* Keyboards must be able to scroll it. */}
      <pre tabIndex={0} aria-label={label}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} />
    </div>
  )
}
