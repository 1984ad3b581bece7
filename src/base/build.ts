/**
 * Which program this is: its version, and the commit that it was made from. A packed release has the
 * commit in build.json; a checkout reads it from git. A program that knows neither shows its version alone.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface Build {
  readonly version: string
  /** The first digits of the commit's hash. */
  readonly commit: string | null
  /** The day of the commit. */
  readonly date: string | null
}

const programRoot = join(import.meta.dirname, '../..')
const gitTimeoutMs = 2_000

let ownBuild: Build | undefined

/** Returns the build of the running program. */
export function thisBuild(): Build {
  return (ownBuild ??= readBuild(programRoot))
}

/** Reads the build of the program in a folder. */
export function readBuild(root: string): Build {
  const { version = '0.0.0' } = readTexts(join(root, 'package.json'))
  return { version, ...(bakedCommit(root) ?? gitCommit(root) ?? { commit: null, date: null }) }
}

/** Formats a build for people: `0.1.0 (abc1234, 2026-11-23)`. */
export function formatBuild({ version, commit, date }: Build): string {
  return commit === null || date === null ? version : `${version} (${commit}, ${date})`
}

type Commit = Pick<Build, 'commit' | 'date'>

function bakedCommit(root: string): Commit | undefined {
  const path = join(root, 'build.json')
  if (!existsSync(path)) return undefined
  const { commit, date } = readTexts(path)
  return commit === undefined || date === undefined ? undefined : { commit, date }
}

/** Only where the program is the top of a checkout: a folder above may belong to another project. */
function gitCommit(root: string): Commit | undefined {
  const folder = join(root, '.git')
  if (!existsSync(folder)) return undefined
  try {
    const words = ['--git-dir', folder, 'log', '-1', '--no-show-signature', '--format=%h %cs']
    const said = execFileSync('git', words, {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: gitTimeoutMs,
    })
    const [, commit, date] = /^([0-9a-f]+) (\d{4}-\d\d-\d\d)$/m.exec(said) ?? []
    return commit === undefined || date === undefined ? undefined : { commit, date }
  } catch {
    // There is no git, or the checkout belongs to another user: the version alone is right, too.
    return undefined
  }
}

/** Reads the fields of a JSON file that are text. */
function readTexts(path: string): Readonly<Record<string, string>> {
  const parsed: unknown = JSON.parse(readFileSync(path, 'utf8'))
  if (typeof parsed !== 'object' || parsed === null) return {}
  return Object.fromEntries(Object.entries(parsed).filter(([, value]) => typeof value === 'string'))
}
