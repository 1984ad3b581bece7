/** One store for the targets that need one; it is removed with the process. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Secret } from '../../src/base/secret.ts'
import { contextOn } from '../../src/operations/context.ts'
import type { OperationContext } from '../../src/operations/operation.ts'
import { migrate } from '../../src/storage/migrate.ts'
import { openStore } from '../../src/storage/open.ts'

const masterKey = new Secret('0123456789abcdef'.repeat(4))

let opened: Promise<OperationContext> | undefined
let close: (() => Promise<void>) | undefined

export function fuzzContext(): Promise<OperationContext> {
  opened ??= open()
  return opened
}

/** Closes the store where one is open. */
export async function closeFuzzStore(): Promise<void> {
  await close?.()
  opened = close = undefined
}

async function open(): Promise<OperationContext> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-fuzz-'))
  const database = await openStore(`sqlite:${join(folder, 'turnpike.db')}`)
  close = async () => {
    await database.close()
    rmSync(folder, { recursive: true })
  }
  await migrate(database)
  return contextOn(database, {
    actor: 'cli:fuzz',
    masterKey: () => masterKey,
    environment: () => 'set',
  })
}
