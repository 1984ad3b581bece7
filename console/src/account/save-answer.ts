/**
 * Saves the body of an answer as a file. The parts go into blobs as they come, which browsers keep on disk,
 * so that a long statement does not fill the memory of the page. A body that breaks off leaves no file.
 */
import { Problem } from '../problem.ts'

const partBytes = 4_194_304

export async function saveAnswer(
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
    throw new Problem(0, { detail: 'The gateway broke off the statement. Try again.' })
  }
}
