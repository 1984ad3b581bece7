/**
 * Saved contexts: names of servers with their addresses and admin tokens, in one file of the operator. The
 * invariant: only its owner can read the file, and nothing prints a token.
 */
import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { processEnvironment } from '../settings/read.ts'

const fileShape = z.object({
  /** The name of the current one; null = commands work on the store. */
  current: z.string().nullable(),
  contexts: z.record(z.string(), z.object({ server: z.string(), token: z.string() })),
})

export type Contexts = z.output<typeof fileShape>

const none: Contexts = { current: null, contexts: {} }

/** Returns the path of the file; undefined for a user without a home, such as a service. */
function findPath(): string | undefined {
  const { XDG_CONFIG_HOME: folder, HOME: home } = processEnvironment()
  const root = folder || (home === undefined ? undefined : join(home, '.config'))
  return root === undefined ? undefined : join(root, 'turnpike', 'contexts.json')
}

/** Reads the file; there are none where it does not exist. Throws where others can read it. */
export function readContexts(): Contexts {
  const path = findPath()
  const found = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })
  if (path === undefined || found === undefined) return none
  if ((found.mode & 0o077) !== 0)
    throw new InvalidArgumentError(
      `Other users can read the tokens in ${path}. Run: chmod 600 ${path}`,
    )
  const parsed = fileShape.safeParse(parseJson(readFileSync(path, 'utf8')))
  if (parsed.success) return parsed.data
  throw new InvalidArgumentError(`${path} is damaged. Remove it, and add your contexts again.`)
}

/** Returns a context by its name. Throws where there is none. */
export function findContext({ contexts }: Contexts, name: string): Contexts['contexts'][string] {
  const found = Object.hasOwn(contexts, name) ? contexts[name] : undefined
  if (found !== undefined) return found
  throw new InvalidArgumentError(
    `There is no context ${name}. turnpike context list shows those there are.`,
  )
}

/** Replaces the file as a whole, so that a crash leaves the old one or the new one. Returns its path. */
export function writeContexts(contexts: Contexts): string {
  const path = findPath()
  if (path === undefined)
    throw new InvalidArgumentError('Set HOME or XDG_CONFIG_HOME: contexts are saved there.')
  const draft = `${path}.${process.pid}.draft`
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  writeFileSync(draft, `${JSON.stringify(contexts, undefined, 2)}\n`, { mode: 0o600 })
  // The mode above is less where a draft of this name was left behind.
  chmodSync(draft, 0o600)
  renameSync(draft, path)
  return path
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
