/** A real disk of a few megabytes, which a test fills and frees. Needs the right to mount (root). */
import { execFileSync } from 'node:child_process'
import { closeSync, openSync, rmSync, rmdirSync, writeSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface SmallDisk {
  readonly folder: string
  /** Takes all the room that there is. */
  fill(): void
  free(): void
  close(): void
}

export function mountSmallDisk(megabytes: number): SmallDisk {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-disk-'))
  const options = `size=${megabytes}m,mode=1777`
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'turnpike-test', folder])
  const filler = join(folder, 'filler')
  return {
    folder,
    fill() {
      const file = openSync(filler, 'w')
      for (const bytes of [1_048_576, 4_096]) writeUntilFull(file, Buffer.alloc(bytes))
      closeSync(file)
    },
    free: () => rmSync(filler),
    close() {
      // What still has a file open there keeps the disk until it has closed it.
      execFileSync('umount', ['--lazy', folder])
      rmdirSync(folder)
    },
  }
}

function writeUntilFull(file: number, piece: Buffer): void {
  for (;;) {
    try {
      writeSync(file, piece)
    } catch (error) {
      if (error instanceof Error && 'code' in error && error.code === 'ENOSPC') return
      throw error
    }
  }
}
