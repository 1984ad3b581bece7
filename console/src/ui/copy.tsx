/** Text to be copied, and secrets that are shown once. */
import { Check, Copy, Download } from 'lucide-react'
import { createContext, useContext, useState, type ReactNode } from 'react'
import { t } from '../messages/t.ts'
import { Button, IconButton } from './button.tsx'
import { Notice } from './card.tsx'
import { saveFile } from './csv.ts'
import { useHoldOpen } from './dialog.tsx'

const doneMs = 2_000

/** Learns that a text was copied. */
const KeptContext = createContext<(() => void) | null>(null)

function useCopy(text: string): readonly [isDone: boolean, copy: () => void] {
  const [isDone, setIsDone] = useState(false)
  const keep = useContext(KeptContext)
  const copy = async (): Promise<void> => {
    await copyText(text)
    keep?.()
    setIsDone(true)
    setTimeout(() => setIsDone(false), doneMs)
  }
  return [isDone, () => void copy()]
}

/** For a text in a line, such as an id. */
function CopyIcon({ text, label }: { text: string; label: string }) {
  const [isDone, copy] = useCopy(text)
  return (
    <IconButton label={isDone ? t('ui.copy.done') : label} onClick={copy}>
      {isDone ? <Check aria-hidden /> : <Copy aria-hidden />}
    </IconButton>
  )
}

/** An id in full, to be copied. */
export function CopyId({ text, label }: { text: string; label: string }) {
  return (
    <>
      <code className="break">{text}</code> <CopyIcon text={text} label={label} />
    </>
  )
}

export function CopyButton({ text, label = t('ui.copy.copy') }: { text: string; label?: string }) {
  const [isDone, copy] = useCopy(text)
  return (
    <Button onClick={copy}>
      {isDone ? <Check aria-hidden /> : <Copy aria-hidden />}
      <span aria-live="polite">{isDone ? t('ui.copy.done') : label}</span>
    </Button>
  )
}

/** Browsers offer the clipboard only over https and on loopback; elsewhere the old way still works. */
async function copyText(text: string): Promise<void> {
  if (window.isSecureContext && (await isWritten(text))) return
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

async function isWritten(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    // A policy of the browser or of the company forbids it.
    return false
  }
}

interface SecretProps {
  /** Several have a line each. */
  readonly secret: string
  /** What the file has that a person may save. */
  readonly file: { readonly name: string; readonly text: string }
  readonly onDone: () => void
  readonly children?: ReactNode
}

/**
 * A secret directly after it was made; the gateway does not keep it. Its dialog closes only by *Done*, once
 * the secret was copied or saved.
 */
export function SecretOnce({ secret, file, onDone, children }: SecretProps) {
  const [isKept, setIsKept] = useState(false)
  const keep = (): void => setIsKept(true)
  useHoldOpen()
  const download = (): void => {
    saveFile(file.name, file.text, 'text/plain')
    keep()
  }
  return (
    <KeptContext value={keep}>
      <div className="stack" onCopy={keep}>
        <Notice tone="warn">{t('ui.copy.once')}</Notice>
        <div className="row row-between secret">
          <code className="break lines">{secret}</code>
          <CopyButton text={secret} />
        </div>
        {children}
        <footer className="dialog-foot">
          <Button onClick={download}>
            <Download aria-hidden />{' '}
            {file.name.endsWith('.env') ? t('ui.copy.download') : t('ui.copy.downloadCsv')}
          </Button>
          <Button look="primary" disabled={!isKept} onClick={onDone}>
            {t('ui.copy.finish')}
          </Button>
        </footer>
      </div>
    </KeptContext>
  )
}

/** Secrets as variables, in a file. */
export function variablesFile(variables: string): SecretProps['file'] {
  return { name: 'turnpike.env', text: `${variables}\n` }
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
