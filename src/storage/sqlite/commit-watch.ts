/**
 * Tells whether a SQLite store may have been changed, by any process, without asking SQLite: each commit
 * writes into the log beside the file, and the file system notes when. The inode of an open file is in
 * memory, so a look waits on no disk.
 */
import { statSync } from 'node:fs'

/** Returns a function that is false only where nothing was committed since it was called before. */
export function watchCommits(path: string): () => boolean {
  const log = `${path}-wal`
  let writtenAt: bigint | undefined
  let isSure = false
  return () => {
    const nowWrittenAt = statSync(log, { bigint: true, throwIfNoEntry: false })?.mtimeNs
    const isSame = nowWrittenAt !== undefined && nowWrittenAt === writtenAt
    writtenAt = nowWrittenAt
    // A second commit within the same few milliseconds may have the same time: one look more finds it.
    const hasChanged = !isSame || !isSure
    isSure = isSame
    return hasChanged
  }
}
