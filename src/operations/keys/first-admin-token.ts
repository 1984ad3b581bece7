/**
 * The admin token of a gateway that starts: that of the settings, or the first one of a new store. Invariant:
 * a first token exists only where an operator can read it, on the terminal or in a separate file; else the
 * next start would not make another one.
 */
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { resolve } from 'node:path'
import { hashSecret } from '../../access/key.ts'
import { findKeyBySecretHash, listKeys, revokeKey } from '../../access/key-store.ts'
import type { Secret } from '../../base/secret.ts'
import type { Queryable } from '../../storage/database.ts'
import { parseStoreLocation } from '../../storage/location.ts'
import {
  attempt,
  invalidField,
  valueOf,
  type OperationContext,
  type Outcome,
} from '../operation.ts'
import type { NewKey } from './key-view.ts'
import { addKey, ownerKey } from './keys.ts'

/** `saved` where output is kept by others, so that the token is in a file. */
export type FirstAdminToken =
  | { readonly kind: 'shown'; readonly secret: string }
  | { readonly kind: 'saved'; readonly path: string }

export interface AdminTokenOptions {
  /** That of the settings. */
  readonly given: Secret | undefined
  readonly isTerminal: boolean
  /** The `store` setting. */
  readonly store: string
  /** The file for a first token cannot be made, so that there is no token. */
  readonly onUnsaved: (unsaved: { path: string; reason: unknown }) => void
}

/**
 * Adopts the admin token of the settings, or creates the first one of a store. The last step of a start, so
 * that a failed one revokes no token and shows none.
 */
export async function settleAdminToken(
  context: OperationContext,
  options: AdminTokenOptions,
): Promise<FirstAdminToken | undefined> {
  if (options.given !== undefined) {
    valueOf(await adoptAdminToken(context, options.given))
    return undefined
  }
  if (await hasAdminToken(context.database)) return undefined
  if (!options.isTerminal) return saveFirstAdminToken(context, options)
  const made = await createFirstAdminToken(context)
  return made && { kind: 'shown', secret: made.secret }
}

/** Creates the token only when there is a file for it. */
async function saveFirstAdminToken(
  context: OperationContext,
  { store, onUnsaved }: AdminTokenOptions,
): Promise<FirstAdminToken | undefined> {
  const path = tokenPath(store)
  const draftPath = `${path}.${process.pid}.draft`
  let file: number
  try {
    file = openDraft(draftPath)
  } catch (error) {
    onUnsaved({ path, reason: error instanceof Error && 'code' in error ? error.code : undefined })
    return undefined
  }
  try {
    const made = await createFirstAdminToken(context)
    if (made === undefined) return undefined
    const bytes = Buffer.from(`${made.secret}\n`)
    writeSync(file, bytes, 0, bytes.length, 0)
    ftruncateSync(file, bytes.length)
    fsyncSync(file)
    renameSync(draftPath, path)
    return { kind: 'saved', path }
  } finally {
    closeSync(file)
    rmSync(draftPath, { force: true })
  }
}

/** More bytes than a secret has. */
const draftBytes = 256

/** Opens a file with room for the secret: on a full disk a file can be made, and nothing written. */
function openDraft(path: string): number {
  const file = openSync(path, 'wx', 0o600)
  try {
    writeSync(file, Buffer.alloc(draftBytes))
    fsyncSync(file)
    return file
  } catch (error) {
    closeSync(file)
    rmSync(path, { force: true })
    throw error
  }
}

/** Beside a SQLite store; else in the working folder, under the name of the database. */
function tokenPath(store: string): string {
  const location = parseStoreLocation(store)
  const name =
    location.kind === 'sqlite' ? location.path : resolve(encodeURIComponent(location.database))
  return `${name}.admin-token`
}

/** Whether the store has, or has had, an admin token. */
async function hasAdminToken(queryable: Queryable): Promise<boolean> {
  const owner = { kind: 'admin', accountId: undefined } as const
  return (await listKeys(queryable, owner, { afterId: '', countMax: 1 })).length > 0
}

/** The name of the token that the `admin_token` setting gives. */
const settingTokenName = 'admin_token setting'

/**
 * Makes the token of the settings valid and revokes the one of an earlier start. Idempotent, so that
 * every start can call it.
 */
export function adoptAdminToken(context: OperationContext, token: Secret): Promise<Outcome<void>> {
  const secret = token.reveal()
  return attempt(() =>
    context.database.transact(async (transaction) => {
      const admins = await listKeys(transaction, { kind: 'admin', accountId: undefined })
      const existing = await findKeyBySecretHash(transaction, hashSecret(secret))
      for (const earlier of admins) {
        const isOther = earlier.name === settingTokenName && earlier.id !== existing?.id
        if (isOther && earlier.revokedAtMs === undefined)
          await revokeKey(transaction, { id: earlier.id, atMs: context.clock.now() })
      }
      if (existing === undefined) {
        const draft = { ...ownerKey, name: settingTokenName }
        await addKey(context, transaction, draft, secret)
      } else if (existing.revokedAtMs !== undefined)
        throw invalidField('admin_token', 'this token has been revoked; choose a new one')
    }),
  )
}

/** Creates the first admin token of a store. Undefined where the store has had one before. */
export function createFirstAdminToken(context: OperationContext): Promise<NewKey | undefined> {
  return context.database.transact(async (transaction) => {
    const admins = await listKeys(transaction, { kind: 'admin', accountId: undefined })
    if (admins.length > 0) return undefined
    return addKey(context, transaction, { ...ownerKey, name: 'first' })
  })
}
