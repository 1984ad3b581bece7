/**
 * A file as an answer. Invariants: it has its length and its digest, so a part of it never looks complete;
 * its operation learns how the sending has ended, also where the client has left before.
 */
import { finished } from 'node:stream/promises'
import type { HttpBindings } from '@hono/node-server'
import { auditHeader, printDigest, takenAtHeader } from '../../operations/store/backup-headers.ts'
import type { BackupDownload } from '../../operations/store/backup-download.ts'

/** Headers of the answer, beside its type. */
export function headersOfDownload({
  bytes,
  sha256,
  takenAt,
  isClean,
}: BackupDownload): Readonly<Record<string, string>> {
  return {
    'content-length': String(bytes),
    'content-disposition': 'attachment; filename="turnpike.db"',
    'repr-digest': printDigest(sha256),
    [takenAtHeader]: takenAt,
    [auditHeader]: isClean ? 'passed' : 'failed',
  }
}

/** Returns the body of the answer, and ends the download when the answer has ended. */
export function sendDownload(
  download: BackupDownload,
  outgoing: HttpBindings['outgoing'],
  onFault: (error: unknown) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const end = async (): Promise<void> => {
    const isSent = await finished(outgoing).then(
      () => true,
      () => false,
    )
    await download.end({ isSent })
  }
  end().catch(onFault)
  let leftBytes = download.bytes
  return new ReadableStream({
    async pull(controller) {
      try {
        const piece = await download.read()
        if (piece !== undefined) controller.enqueue(piece)
        leftBytes -= piece?.length ?? 0
        // A client that has all bytes closes the connection: the answer has to have ended by then.
        if (piece === undefined || leftBytes === 0) controller.close()
      } catch (error) {
        // The client has left, and the file is closed.
        if (outgoing.destroyed) return controller.error(error)
        onFault(error)
        outgoing.destroy()
      }
    },
  })
}
