/** Saves answers of the gateway as files, exactly as it writes them, with their progress. */
import { useMutation } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { t } from '../messages/t.ts'
import { Problem } from '../problem.ts'
import { Button } from '../ui/button.tsx'
import { Notice } from '../ui/card.tsx'
import { describeFailure } from '../ui/states.tsx'
import { ask } from './read.ts'

export interface SavedFile {
  /** Of its button. */
  readonly label: string
  readonly name: string
  /** What is asked for, below `/v1/usage`. */
  readonly path: string
  readonly query: Readonly<Record<string, string | number>>
}

/** A button for each file. */
export function Save({ files }: { files: readonly SavedFile[] }) {
  const [bytes, setBytes] = useState(0)
  const running = useRef<AbortController>(undefined)
  useEffect(() => () => running.current?.abort(), [])
  const saving = useMutation({
    async mutationFn({ name, path, query }: SavedFile) {
      const controller = new AbortController()
      running.current = controller
      setBytes(0)
      try {
        const answer = await ask(path, query, controller)
        await saveAnswer(answer, name, setBytes)
        return t('account.savedAs', { name })
      } catch (error) {
        if (controller.signal.aborted) return ''
        throw error
      }
    },
  })
  const read =
    bytes === 0
      ? t('account.reading')
      : t('account.bytesRead', { size: (bytes / 1_000_000).toFixed(1) })
  return (
    <>
      <span role="status" className="soft">
        {saving.isPending ? read : saving.data}
      </span>
      {saving.isPending && (
        <Button onClick={() => running.current?.abort()}>{t('account.stop')}</Button>
      )}
      {saving.error !== null && (
        <Notice tone="bad">
          {describeFailure(saving.error).title} {t('account.nothingSaved')}
        </Notice>
      )}
      {!saving.isPending &&
        files.map((file) => (
          <Button key={file.label} onClick={() => saving.mutate(file)}>
            <Download aria-hidden /> {file.label}
          </Button>
        ))}
    </>
  )
}

/** For a file name on every system. */
export function plainName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 60)
}

const partBytes = 4_194_304

/**
 * Saves the body of an answer as a file. The parts go into blobs as they come, which browsers keep on disk,
 * so that a long answer does not fill the memory of the page. A body that breaks off leaves no file.
 */
async function saveAnswer(
  answer: Response,
  name: string,
  onProgress: (bytes: number) => void,
): Promise<void> {
  const type = answer.headers.get('content-type') ?? 'application/octet-stream'
  const blob = new Blob(await readParts(answer, onProgress), { type })
  const address = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
  URL.revokeObjectURL(address)
}

async function readParts(answer: Response, onProgress: (bytes: number) => void): Promise<Blob[]> {
  const reader = answer.body?.getReader()
  const parts: Blob[] = []
  let waiting: Uint8Array<ArrayBuffer>[] = []
  let waitingBytes = 0
  let bytes = 0
  for (let next = await readNext(reader); next !== undefined; next = await readNext(reader)) {
    waiting.push(next)
    waitingBytes += next.length
    bytes += next.length
    if (waitingBytes < partBytes) continue
    parts.push(new Blob(waiting))
    waiting = []
    waitingBytes = 0
    onProgress(bytes)
  }
  return [...parts, new Blob(waiting)]
}

async function readNext(
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>> | undefined,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return (await reader?.read())?.value
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw new Problem(0, { detail: t('account.brokenOff') })
  }
}
