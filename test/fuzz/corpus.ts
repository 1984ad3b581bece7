/** The kept inputs of each target, one a file, and what was found and is not kept yet. */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'

export interface Seed {
  /** Says what the input is, or which fault it has found. */
  readonly name: string
  readonly bytes: Buffer
}

export function readCorpus(target: string): readonly Seed[] {
  const folder = join(import.meta.dirname, 'corpus', target)
  return readdirSync(folder)
    .toSorted()
    .map((name) => ({ name, bytes: readFileSync(join(folder, name)) }))
}

/** Writes an input that breaks a promise. Returns the command that keeps it. */
export function writeFound(target: string, bytes: Buffer): string {
  const folder = join(import.meta.dirname, 'found', target)
  mkdirSync(folder, { recursive: true })
  const name = createHash('sha256').update(bytes).digest('hex').slice(0, 12)
  writeFileSync(join(folder, name), bytes)
  const path = relative(process.cwd(), join(folder, name))
  return `mv ${path} test/fuzz/corpus/${target}/NAME-OF-THE-FAULT`
}
