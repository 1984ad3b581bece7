/**
 * Where PostgreSQL's programs are and as whom they may run. The server refuses to run as root, so
 * under root its programs run as the account that Debian's package makes, or as the user nobody.
 */
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { chown, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** The oldest major version that Turnpike runs on. */
const versionMin = 15

const debianFolder = '/usr/lib/postgresql'

/** The folder with `initdb`, `postgres` and the others, of the newest version there is. */
export function findPostgresPrograms(): string {
  const versions = existsSync(debianFolder) ? readdirSync(debianFolder).map(Number) : []
  const folders = [
    ...versions
      .filter((version) => version >= versionMin)
      .sort((one, other) => other - one)
      .map((version) => join(debianFolder, String(version), 'bin')),
    ...(process.env['PATH'] ?? '').split(':'),
  ]
  const found = folders.find((folder) =>
    ['initdb', 'postgres', 'psql'].every((name) => existsSync(join(folder, name))),
  )
  if (found === undefined)
    throw new Error(`PostgreSQL ${versionMin} or newer is not installed; npm test installs it`)
  return found
}

export interface UnixAccount {
  readonly uid: number
  readonly gid: number
}

/** As whom servers run; undefined where that is simply who runs the tests. */
export function unprivilegedAccount(): UnixAccount | undefined {
  if (process.getuid?.() !== 0) return undefined
  const lines = readFileSync('/etc/passwd', 'utf8').split('\n')
  for (const name of ['postgres', 'nobody']) {
    const fields = lines.map((line) => line.split(':')).find(([first]) => first === name)
    if (fields !== undefined) return { uid: Number(fields[2]), gid: Number(fields[3]) }
  }
  throw new Error('there is neither a user postgres nor a user nobody to run PostgreSQL as')
}

/** English messages, and no settings of the user who runs the tests. */
export const postgresEnvironment = { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' }

/** Runs one of the programs to its end; resolves with what it wrote to stdout. */
export async function runPostgresProgram(
  name: string,
  programArguments: readonly string[],
): Promise<string> {
  const { stdout } = await promisify(execFile)(
    join(findPostgresPrograms(), name),
    [...programArguments],
    { ...unprivilegedAccount(), cwd: '/', env: postgresEnvironment, maxBuffer: 64 * 1024 * 1024 },
  )
  return stdout
}

/**
 * Makes the files of a new server. The tests of one `npm test` share the work of initdb: the first server's
 * folder is kept in TURNPIKE_TEST_FOLDER as it is before its first start, and copied.
 */
export async function makeDataFolder(data: string): Promise<void> {
  const shared = process.env['TURNPIKE_TEST_FOLDER']
  if (shared === undefined) return initialise(data)
  const kept = join(shared, 'postgres-data')
  if (!existsSync(kept)) {
    const made = await mkdtemp(`${kept}-`)
    const account = unprivilegedAccount()
    if (account !== undefined) await chown(made, account.uid, account.gid)
    await initialise(made)
    // Of several processes that make it at the same time the first one wins.
    await rename(made, kept).catch(() => rm(made, { recursive: true }))
  }
  await promisify(execFile)('cp', ['-a', kept, data])
}

async function initialise(data: string): Promise<void> {
  await runPostgresProgram('initdb', [
    `--pgdata=${data}`,
    '--username=postgres',
    '--auth-local=trust',
    '--auth-host=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-instructions',
    // The new files need not survive a power cut before the test begins; the server itself syncs.
    '--no-sync',
  ])
}
